"""Parses the options of `qten-gen`. The commands `explain`, `inspect`, `stubs` and `adopt` have their own modules."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from enum import Enum
from typing import Literal, NamedTuple, NoReturn, TextIO

from ..project.config import Config
from ..project.settings_table import DOCUMENTS, OUTPUT_FORMATS
from .misuse import near_option

_DESCRIPTION = """\
Write typed Python for the TensorClass and Module declarations below the given
paths: model_qten.py and model_qten.pyi beside model.py.

  path                 files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project

commands; for the options of one, qten-gen COMMAND --help:
  init                 set up a project: settings, hooks, tool configuration
  doctor               check the environment and the settings of the project
  explain [CODE]       explain a diagnostic such as QG101, or list them all
  show TARGET          show a declaration and the code generated for it
  inspect TARGET       show the parameters, memory and shapes of a model without
                       allocating it
  adopt [PATH ...]     convert existing classes to Modules and TensorClasses
  stubs [MODULE ...]   write typed stubs for installed libraries such as
                       torch.nn
  lsp                  start the language server: diagnostics, hover, fixes

To generate for a folder with the name of a command, write ./explain.
"""

_EPILOG = """\
exit status: 0 success, 1 errors found or files out of date, 2 wrong usage,
101 a bug in qten-gen, 130 interrupted
"""


class Color(Enum):
    """When to use colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"

    def enabled(self, stream: TextIO) -> bool:
        """Whether to colour what is written to a stream.

        The option takes precedence over NO_COLOR, and NO_COLOR over FORCE_COLOR. Without any of them, terminals get colours.
        """
        if self is not Color.AUTO:
            return self is Color.ALWAYS
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
            return True
        return stream.isatty() and os.environ.get("TERM") != "dumb"


class Options(NamedTuple):
    """The options of a command line."""

    paths: tuple[str, ...]
    mode: Literal["write", "check", "diff"] = "write"
    output_format: str | None = None
    color: Color = Color.AUTO
    quiet: bool = False
    verbose: bool = False
    fix: bool = False
    stdin_filename: str | None = None
    """The file that the text on standard input is meant for, with the path `-`."""
    watch: bool = False


class UsageError(Exception):
    """A command line with a mistake; the text says what is wrong."""


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, and leaves the rest to its caller."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.removeprefix("argument ").replace("(choose from ", "(one of "))


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help text of the same width everywhere."""

    def __init__(self, prog: str) -> None:
        # Without a width, argparse imports shutil to ask the terminal, and with it every compression module.
        super().__init__(prog, max_help_position=25, width=80)


def parse(arguments: Sequence[str], out: TextIO) -> Options | None:
    """Parse a command line. For `--help` and `--version`, write the text to `out` and return None.

    Raises:
        UsageError: An option is unknown or has a wrong value.
    """
    parser = _parser()
    values, unknown = parser.parse_known_args(arguments)
    if values.help:
        out.write(parser.format_help())
        return None
    if values.version:
        from .. import __version__

        out.write(f"qten-gen {__version__}\n")
        return None
    if unknown:
        raise UsageError(f"unknown option {unknown[0]}{suggestion(unknown[0], parser)}")
    if "" in values.paths:
        raise UsageError("an empty path was given")
    if ("-" in values.paths) != (values.stdin_filename is not None) or (len(values.paths) > 1 and "-" in values.paths):
        raise UsageError("the path - requires --stdin-filename FILE, and cannot be combined with other paths")
    if values.fix and values.stdin_filename is not None:
        raise UsageError("--fix cannot write to standard input")
    if values.watch and values.stdin_filename is not None:
        raise UsageError("--watch cannot be combined with standard input")
    if values.watch and values.output_format in DOCUMENTS:
        raise UsageError(
            f"--watch cannot be combined with --output-format {values.output_format}, which is a single document"
        )
    mode: Literal["write", "check", "diff"] = "check" if values.check else "diff" if values.diff else "write"
    return Options(
        tuple(values.paths),
        mode,
        values.output_format,
        Color(values.color),
        values.quiet,
        values.verbose,
        values.fix,
        values.stdin_filename,
        values.watch,
    )


def output_format(options: Options, config: Config) -> str:
    """The format of diagnostics: that of the option, of the settings, or of the surroundings."""
    default = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full"
    return options.output_format or config.output_format or default


def needs_reasons(options: Options, config: Config) -> bool:
    """Whether to find out why outputs are out of date, which takes some time where they are."""
    form = output_format(options, config)
    return options.verbose or lists_stale_files(form, options)


def lists_stale_files(form: str, options: Options) -> bool:
    """Whether a format lists the outputs that are out of date. Most do not if the run writes them."""
    return form == "json" or (form in ("github", *DOCUMENTS) and options.mode != "write")


def _parser() -> Parser:
    """The parser of everything but the commands above. Help and version are plain flags, which `parse` answers."""
    parser = Parser(
        prog="qten-gen",
        usage="qten-gen [options] [path ...]\n       qten-gen COMMAND ...",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", nargs="*", help=argparse.SUPPRESS)
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--check", action="store_true", help="write nothing; list the files that are out of date")
    modes.add_argument("--diff", action="store_true", help="write nothing; print the changes as a unified diff")
    modes.add_argument("--fix", action="store_true", help="also fix sources where only one fix is possible")
    modes.add_argument("--watch", action="store_true", help="run again whenever a source or the settings change")
    add("--output-format", choices=OUTPUT_FORMATS, metavar="FORMAT", help=f"{', '.join(OUTPUT_FORMATS)} (full)")
    add("--stdin-filename", metavar="FILE", help="read FILE from standard input, with the path -")
    whens = [item.value for item in Color]
    add("--color", choices=whens, default="auto", metavar="WHEN", help="auto, always or never (auto)")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    volume.add_argument("-v", "--verbose", action="store_true", help="also list the files written and removed, and why")
    add("-V", "--version", action="store_true", help="print the version and exit")
    add("-h", "--help", action="store_true", help="print this text and exit")
    return parser


def parsed(parser: Parser, arguments: Sequence[str], out: TextIO) -> argparse.Namespace | None:
    """Parse the command line of a subcommand. For `--help`, write the text to `out` and return None.

    Raises:
        UsageError: An option is unknown.
    """
    values, unknown = parser.parse_known_args(arguments)
    if values.help:
        out.write(parser.format_help())
        return None
    if unknown:
        raise UsageError(f"unknown option {unknown[0]}{suggestion(unknown[0], parser)}")
    return values


def suggestion(option: str, parser: argparse.ArgumentParser) -> str:
    """The end of a message about an unknown option: the nearest one, if there is one."""
    return near_option(option, re.findall(r"--[a-z-]+", parser.format_help()))
