"""Parses the options of `qten-gen stubs`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from .options import Formatter, Parser, UsageError, parsed

_DESCRIPTION = """\
Write stubs for modules of installed libraries, in which a call has the types
of `forward`. The sources of the libraries are read as text; nothing is
imported, and no library is changed.

  MODULE               torch.nn, timm, ...: packages with all modules in them;
                       by default, those that `stubs` lists in [tool.qten-gen]
                       of pyproject.toml
"""

_EPILOG = """\
exit status: 0 success, 1 stubs are out of date, 2 wrong usage or a module
that is not installed, 101 a bug in qten-gen, 130 interrupted
"""


class StubsOptions(NamedTuple):
    """The options of a command line."""

    modules: tuple[str, ...]
    folder: str | None = None
    exact_none: bool = False
    check: bool = False
    quiet: bool = False


def parse(arguments: Sequence[str], out: TextIO) -> StubsOptions | None:
    """Parse a command line. For `--help`, write the text to `out` and return None.

    Raises:
        UsageError: An option is unknown or has a wrong value.
    """
    values = parsed(_parser(), arguments, out)
    if values is None:
        return None
    if values.folder == "":
        raise UsageError("an empty folder was given")
    return StubsOptions(
        tuple(dict.fromkeys(values.modules)), values.folder, values.exact_none, values.check, values.quiet
    )


def _parser() -> Parser:
    """The parser. Help is a plain flag, which `parse` answers."""
    parser = Parser(
        prog="qten-gen stubs",
        usage="qten-gen stubs [options] [MODULE ...]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("modules", nargs="*", help=argparse.SUPPRESS)
    add("--folder", metavar="FOLDER", help="the folder for the stubs (typings, beside pyproject.toml)")
    add(
        "--exact-none",
        action="store_true",
        help="a bias that bias=False switches off is Parameter | None, to be checked before each use; otherwise \
Parameter | Any",
    )
    add("--check", action="store_true", help="write nothing; list the stubs that are out of date")
    add("-q", "--quiet", action="store_true", help="print errors only")
    add("-h", "--help", action="store_true", help="print this text and exit")
    return parser
