"""Parses the options of `qten-gen adopt`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from ..tools.adopt.adoption import Level
from .options import Color, Formatter, Parser, UsageError, parsed

_DESCRIPTION = """\
Convert the nn.Modules and tensorclasses below the given paths to classes of
qten_gen. Without --write, nothing is changed: the report says how each class
would change, or why it cannot be converted. The sources are read as text; only
--verify imports your code.

  PATH                 files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project
"""

_EPILOG = """\
levels: base changes the bases of classes; annotate also annotates in the class
body what __init__ registers; declare also replaces an __init__ that only
registers by declared fields

exit status: 0 success, 1 more unconverted classes than --max-unadopted allows,
a file that cannot be parsed, or a difference found by --verify, 2 wrong usage,
101 a bug in qten-gen, 130 interrupted
"""


class AdoptOptions(NamedTuple):
    """The options of a command line."""

    paths: tuple[str, ...]
    level: Level = Level.BASE
    write: bool = False
    diff: bool = False
    json: bool = False
    dataclasses: bool = False
    max_unadopted: int | None = None
    verify: str | None = None
    """The class that is built before and after, `pkg.model:Encoder`."""
    config: tuple[str, ...] = ()
    """Its constructor arguments: `("depth=4", "dim=64")`."""
    config_json: str | None = None
    """The same as a JSON object, or the path of a JSON file."""
    inputs: tuple[str, ...] | None = None
    """The inputs to run forward with; None for no run."""
    against: str | None = None
    """The revision of git with the old code."""
    old: str | None = None
    """The folder with the old code."""
    color: Color = Color.AUTO
    quiet: bool = False
    verbose: bool = False


def parse(arguments: Sequence[str], out: TextIO) -> AdoptOptions | None:
    """Parse a command line. For `--help`, write the text to `out` and return None.

    Raises:
        UsageError: An option is unknown or has a wrong value.
    """
    values = parsed(_parser(), arguments, out)
    if values is None:
        return None
    if "" in values.paths:
        raise UsageError("an empty path was given")
    if values.max_unadopted is not None and values.max_unadopted < 0:
        raise UsageError("--max-unadopted must be an integer of at least 0")
    if values.verify is None:
        for name in ("config", "config_json", "run", "against", "old"):
            if getattr(values, name):
                raise UsageError(f"--{name.replace('_', '-')} requires --verify")
    elif values.against is not None and values.old is not None:
        raise UsageError("--against and --old cannot be combined; give a revision or a folder")
    return AdoptOptions(
        tuple(values.paths),
        Level(values.level),
        values.write,
        values.diff,
        values.json,
        values.dataclasses,
        values.max_unadopted,
        values.verify,
        tuple(values.config),
        values.config_json,
        None if values.run is None else tuple(values.run),
        values.against,
        values.old,
        Color(values.color),
        values.quiet,
        values.verbose,
    )


def _parser() -> Parser:
    """The parser. Help is a plain flag, which `parse` answers."""
    parser = Parser(
        prog="qten-gen adopt",
        usage="qten-gen adopt [options] [PATH ...]\n       qten-gen adopt --verify PKG.MODEL:CLASS [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", nargs="*", help=argparse.SUPPRESS)
    add(
        "--level",
        choices=[level.value for level in Level],
        default="base",
        metavar="LEVEL",
        help="base, annotate or declare; see below (base)",
    )
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--write", action="store_true", help="change the sources")
    modes.add_argument("--diff", action="store_true", help="print the changes as a unified diff")
    modes.add_argument("--verify", metavar="CLASS", help="build a class from the old and the new code, and compare")
    add(
        "--config",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="for --verify, the arguments of the constructor, as for qten-gen inspect",
    )
    add("--config-json", metavar="JSON", help="the same as a JSON object, or the name of a JSON file")
    add(
        "--run",
        nargs="*",
        action="extend",
        metavar="INPUT",
        help="for --verify, inputs to run forward and backward on, such as 'x: Float[2, 16, 64]'",
    )
    add("--against", metavar="REVISION", help="for --verify, the git revision of the old code (HEAD)")
    add("--old", metavar="PATH", help="for --verify, the folder of the old code, instead of a revision")
    add("--dataclasses", action="store_true", help="also adopt dataclasses with tensor fields")
    add("--max-unadopted", type=int, metavar="N", help="exit with 1 if more than N classes are not converted")
    add("--json", action="store_true", help="print the report as a JSON document")
    whens = [item.value for item in Color]
    add("--color", choices=whens, default="auto", metavar="WHEN", help="auto, always or never (auto)")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="print the summary only")
    volume.add_argument("-v", "--verbose", action="store_true", help="also list the classes that are already adopted")
    add("-h", "--help", action="store_true", help="print this text and exit")
    return parser
