"""Hooks for build backends, which refuse to build a project whose generated files are out of date.

The work of all of them is here; nothing in this file knows a build backend.
"""

from __future__ import annotations

import io
import os

from ..cli.command import main


class BuildError(Exception):
    """Generated files are out of date. The message is what the command printed."""


def check(root: str) -> None:
    """Check the generated files of the project in a folder.

    Raises:
        BuildError: They are out of date, or there are errors.
    """
    out = io.StringIO()
    before = os.getcwd()
    os.chdir(root)
    try:
        status = main(["--color=never", "--output-format=full", "--check"], out, out)
    finally:
        os.chdir(before)
    if status:
        raise BuildError(f"qten-gen refuses to build:\n{out.getvalue().rstrip()}")
