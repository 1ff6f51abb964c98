"""The build hook for hatchling, which finds it by its entry point.

[tool.hatch.build.hooks.qten-gen]
mode = "check"          # or "generate"
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from . import OUTPUTS, BuildError, Mode, prepare


class QtenGenHook(BuildHookInterface):  # type: ignore[type-arg] # not a generic class in every version that hatchling has
    """Checks the generated files before a wheel or a source distribution is built; `mode = "generate"` writes them."""

    PLUGIN_NAME = "qten-gen"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build. An editable installation needs no generated files."""
        given = self.config.get("mode", "check")
        modes: dict[object, Mode] = {"check": "check", "generate": "generate"}
        if given not in modes:
            self.app.abort(f"mode in [tool.hatch.build.hooks.qten-gen] must be check or generate, got {given!r}")
        if version != "editable" or given == "generate":
            try:
                prepare(self.root, modes[given])
            except BuildError as error:
                self.app.abort(str(error))
        if given == "generate":
            # Files that git ignores are left out otherwise.
            build_data["artifacts"].extend(OUTPUTS)


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:  # type: ignore[type-arg] # as above
    """The hook, for hatchling's plugin manager."""
    return QtenGenHook
