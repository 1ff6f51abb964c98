"""The commands for setuptools.

[tool.setuptools.cmdclass]
build_py = "qten_gen.building.with_setuptools.CheckGenerated"
sdist = "qten_gen.building.with_setuptools.CheckSource"
"""

from __future__ import annotations

import os

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import BaseError

from . import BuildError, check


class CheckGenerated(build_py):  # type: ignore[misc] # setuptools has no types
    """`build_py` that checks the generated files first. An editable installation needs none."""

    def run(self) -> None:
        """Check, and build."""
        if not self.editable_mode:
            _check()
        super().run()


class CheckSource(sdist):  # type: ignore[misc] # setuptools has no types
    """`sdist` that checks the generated files first, because a source distribution is made without `build_py`."""

    def run(self) -> None:
        """Check, and pack."""
        _check()
        super().run()


def _check() -> None:
    try:
        check(os.getcwd())
    except BuildError as error:
        raise BaseError(str(error)) from None
