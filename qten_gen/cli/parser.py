"""Parses command lines that have more than paths and the commonest options: one parser, with a subparser for each command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from .. import __version__
from ..project.settings_table import OUTPUT_FORMATS
from . import COMMANDS
from .help_texts import DESCRIPTIONS, EPILOGS
from .misuse import UsageError, near_option
from .options import (
    AdoptOptions,
    CheckOptions,
    Color,
    ExplainOptions,
    GenerateOptions,
    InitOptions,
    InspectOptions,
    LockOptions,
    LspOptions,
    ShowOptions,
    StubsOptions,
)

CommandOptions = (
    InitOptions
    | CheckOptions
    | ExplainOptions
    | ShowOptions
    | InspectOptions
    | LockOptions
    | AdoptOptions
    | StubsOptions
    | LspOptions
)


class Shown(Exception):
    """A command line that asks for a text, such as `--help`, which is the argument."""


def parse_command(arguments: Sequence[str]) -> CommandOptions:
    """The options of a command line that begins with a command.

    Raises:
        UsageError: It has a mistake.
        Shown: It asks for the help.
    """
    options = _COMMANDS[arguments[0]].options()
    assert not isinstance(options, argparse.Namespace)
    _parse(arguments, options)
    return options


def parse(arguments: Sequence[str]) -> GenerateOptions:
    """The options of a command line without a command.

    Raises:
        UsageError: It has a mistake.
        Shown: It asks for the help or the version.
    """
    values = argparse.Namespace()
    own = _parse(["generate", *arguments], values)
    options = GenerateOptions(
        tuple(values.paths),
        "check" if values.check else "diff" if values.diff else "write",
        values.output_format,
        values.color,
        values.quiet,
        values.verbose,
        values.fix,
        values.watch,
        values.baseline,
        values.write_baseline,
    )
    problem = _conflict(options)
    if problem is not None:
        own.error(problem)
    return options


def _conflict(options: GenerateOptions) -> str | None:
    """The message about options that cannot be combined."""
    if options.watch and options.write_baseline is not None:
        return "--watch cannot be combined with --write-baseline"
    if options.watch and options.output_format == "json":
        return "--watch cannot be combined with --output-format json, which is a single document"
    return None


_EXPECTED = "expected one target, for example pkg.model:Net"


class Parser(argparse.ArgumentParser):
    """A parser that raises what it would print."""

    def error(self, message: str) -> NoReturn:
        told = message.removeprefix("argument ").replace("(choose from ", "(one of ")
        told = told.replace("the following arguments are required: TARGET", _EXPECTED)
        usage = (self.usage or "").splitlines()[0]
        raise UsageError(told, f"usage: {usage}; for more, {self.prog} --help\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help text of the same width everywhere."""

    def __init__(self, prog: str) -> None:
        # Without a width, argparse imports shutil to ask the terminal, and with it every compression module.
        super().__init__(prog, max_help_position=25, width=80)


class _Show(argparse.Action):
    """An option that asks for a text: the help, or the constant that it has."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise Shown(self.const or parser.format_help())


def _parse(arguments: Sequence[str], options: object) -> Parser:
    """Read a command line into an object, and return the parser of its command."""
    parser = Parser(add_help=False)
    own = add_command(parser.add_subparsers(parser_class=Parser), arguments[0])
    unknown = parser.parse_known_args(list(arguments), options)[1]
    if unknown and unknown[0].startswith("-"):
        own.error(f"unknown option {unknown[0]}{near_option(unknown[0], re.findall('--[a-z-]+', own.format_help()))}")
    if unknown:
        own.error(f"unexpected argument {unknown[0]}")
    return own


def add_command(commands: argparse._SubParsersAction[Parser], command: str) -> Parser:
    """Add the parser of a command to those of the others; `generate` is for a command line without a command."""
    prog = "qten-gen" if command == "generate" else f"qten-gen {command}"
    own = commands.add_parser(
        command,
        prog=prog,
        usage=f"{prog} {_COMMANDS[command].usage}".rstrip(),
        help=DESCRIPTIONS[command],  # without one, shtab leaves the command out
        description=DESCRIPTIONS[command],
        epilog=EPILOGS.get(command),
        formatter_class=_Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    add_arguments(own, command)
    return own


def add_arguments(parser: Parser, command: str) -> None:
    """Add the arguments and options of a command to a parser."""
    _COMMANDS[command].add_arguments(parser)
    parser.add_argument("-h", "--help", action=_Show, nargs=0, help="print this text and exit")


def path(text: str) -> str:
    """The type of arguments that are paths."""
    if not text:
        raise UsageError("an empty path was given")
    return text


def _color(text: str) -> Color:
    if text not in (known := [item.value for item in Color]):
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (one of {', '.join(map(repr, known))})")
    return Color(text)


def _add_color(parser: Parser) -> None:
    parser.add_argument("--color", type=_color, default="auto", metavar="WHEN", help="auto, always or never (auto)")


def _add_format(parser: Parser) -> None:
    formats = ", ".join(OUTPUT_FORMATS)
    parser.add_argument("--output-format", choices=OUTPUT_FORMATS, metavar="FORMAT", help=f"{formats} (full)")


def _add_baseline(parser: Parser) -> None:
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--baseline", type=path, metavar="FILE", help="report no warnings that FILE lists")
    files.add_argument("--write-baseline", type=path, metavar="FILE", help="write the warnings of today into FILE")


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON document")


def _add_volume(parser: Parser, quiet: str, verbose: str) -> None:
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help=quiet)
    volume.add_argument("-v", "--verbose", action="store_true", help=verbose)


def _generate(parser: Parser) -> None:
    """The options of `qten-gen` without a command."""
    add = parser.add_argument
    add("paths", nargs="*", type=path, help=argparse.SUPPRESS)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="write nothing; list the files that are out of date")
    modes.add_argument("--diff", action="store_true", help="write nothing; print the changes as a unified diff")
    modes.add_argument("--fix", action="store_true", help="also fix sources where only one fix is possible")
    modes.add_argument("--watch", action="store_true", help="run again whenever a source or the settings change")
    _add_format(parser)
    _add_baseline(parser)
    _add_color(parser)
    _add_volume(parser, "print errors only", "also list the files written and removed, and why")
    version = f"qten-gen {__version__}\n"
    add("-V", "--version", action=_Show, nargs=0, const=version, help="print the version and exit")


def _init(parser: Parser) -> None:
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="write nothing; list what is missing, and exit with 1")
    modes.add_argument("--diff", action="store_true", help="the same as a unified diff")


def _check(parser: Parser) -> None:
    parser.add_argument("paths", nargs="*", type=path, help=argparse.SUPPRESS)
    _add_format(parser)
    _add_baseline(parser)
    _add_color(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print the summary only")


def _explain(parser: Parser) -> None:
    parser.add_argument("code", nargs="?", help=argparse.SUPPRESS)


def _show(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=argparse.SUPPRESS)


def _inspect(parser: Parser) -> None:
    """Add the options of `inspect`."""
    add = parser.add_argument
    add("target", metavar="TARGET", help=argparse.SUPPRESS)
    values = "arguments of the constructor"
    add("--config", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=values)
    add("--dtype", metavar="DTYPE", help="cast the model, as model.to(dtype) does")
    add("--unfold", action="store_true", help="show equal layers one by one")
    _add_json(parser)
    _add_color(parser)


def _lock(parser: Parser) -> None:
    """Add the options of `lock`."""
    add = parser.add_argument
    add("targets", nargs="*", help=argparse.SUPPRESS)
    add("--check", action="store_true", help="write nothing; list what has changed, and exit with 1 if anything has")
    add("--accept", action="store_true", help="write changes although no class has a higher version")
    add("--load", metavar="FILE", help="hold a checkpoint against the lock: its header alone, and nothing is imported")
    add("-q", "--quiet", action="store_true", help="print nothing about locks that are up to date")


def _adopt(parser: Parser) -> None:
    """Add the options of `adopt`."""
    add = parser.add_argument
    add("paths", nargs="*", type=path, help=argparse.SUPPRESS)
    levels = ("base", "annotate")
    add("--level", choices=levels, default="annotate", metavar="LEVEL", help="base or annotate; see below (annotate)")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--write", action="store_true", help="change the sources")
    modes.add_argument("--diff", action="store_true", help="print the changes as a unified diff")
    add("--dataclasses", action="store_true", help="also adopt dataclasses with tensor fields")
    _add_json(parser)
    _add_color(parser)
    _add_volume(parser, "print the summary only", "also list the classes that are already adopted")


def _stubs(parser: Parser) -> None:
    add = parser.add_argument
    add("modules", nargs="*", help=argparse.SUPPRESS)
    add("--folder", type=path, metavar="FOLDER", help="the folder for the stubs (typings, beside pyproject.toml)")
    exact = "a bias that bias=False switches off is Parameter | None, to be checked before each use; otherwise Parameter | Any"
    add("--exact-none", action="store_true", help=exact)
    add("--check", action="store_true", help="write nothing; list the stubs that are out of date")
    add("-q", "--quiet", action="store_true", help="print errors only")


def _lsp(parser: Parser) -> None:
    parser.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)  # editors add it; there is no other way


class _Command(NamedTuple):
    """The arguments of a command: the function that adds them, the record that they are read into, and its usage."""

    add_arguments: Callable[[Parser], None]
    options: type[CommandOptions | argparse.Namespace]
    usage: str


_COMMANDS = {
    "generate": _Command(_generate, argparse.Namespace, "[options] [path ...]\n       qten-gen COMMAND ..."),
    "init": _Command(_init, InitOptions, "[--check | --diff]"),
    "check": _Command(_check, CheckOptions, "[options] [PATH ...]"),
    "explain": _Command(_explain, ExplainOptions, "[CODE]"),
    "show": _Command(_show, ShowOptions, "TARGET"),
    "inspect": _Command(_inspect, InspectOptions, "[options] TARGET"),
    "lock": _Command(_lock, LockOptions, "[options] [TARGET ...]"),
    "adopt": _Command(_adopt, AdoptOptions, "[options] [PATH ...]"),
    "stubs": _Command(_stubs, StubsOptions, "[options] [MODULE ...]"),
    "lsp": _Command(_lsp, LspOptions, ""),
}
assert tuple(_COMMANDS) == ("generate", *COMMANDS)
