"""The build hook for hatchling, which finds it by its entry point.

[tool.hatch.build.hooks.qten-gen]
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from . import BuildError, check


class QtenGenHook(BuildHookInterface):  # type: ignore[type-arg] # not a generic class in every version that hatchling has
    """Checks the generated files before a wheel or a source distribution is built."""

    PLUGIN_NAME = "qten-gen"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build. An editable installation needs no generated files."""
        if version != "editable":
            try:
                check(self.root)
            except BuildError as error:
                self.app.abort(str(error))


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:  # type: ignore[type-arg] # as above
    """The hook, for hatchling's plugin manager."""
    return QtenGenHook
