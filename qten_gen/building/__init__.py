"""Hooks for build backends: they check the generated files of a project before it is built, or write them.

The work of all of them is here; nothing in this file knows a build backend.
"""

from __future__ import annotations

import io
import os
from typing import Literal

from ..cli.command import main

Mode = Literal["check", "generate"]

OUTPUTS = ("*_qten.py", "*_qten.pyi")


class BuildError(Exception):
    """Generated files are out of date or cannot be written. The message is what the command printed."""


def prepare(root: str, mode: Mode) -> None:
    """Check the generated files of the project in a folder, or write them.

    Raises:
        BuildError: they are out of date, or there are errors.
    """
    out = io.StringIO()
    before = os.getcwd()
    os.chdir(root)
    try:
        status = main(["--color=never", "--output-format=full", *(["--check"] if mode == "check" else [])], out, out)
    finally:
        os.chdir(before)
    if status:
        raise BuildError(f"qten-gen refuses to build:\n{out.getvalue().rstrip()}")
