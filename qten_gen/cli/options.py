"""The options of the commands. `parser` reads them with argparse, which a run over plain paths does not load."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from typing import Literal, NamedTuple, TextIO

from ..project.config import Config, source_paths
from . import COMMANDS


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


class GenerateOptions(NamedTuple):
    """The options of `qten-gen` without a command."""

    paths: tuple[str, ...]
    mode: Literal["write", "check", "diff"] = "write"
    output_format: str | None = None
    color: Color = Color.AUTO
    quiet: bool = False
    verbose: bool = False
    fix: bool = False
    watch: bool = False
    baseline: str | None = None
    """The file with the warnings that are not reported."""
    write_baseline: str | None = None


class InitOptions:
    """The options of `qten-gen init`."""

    check: bool
    diff: bool


class CheckOptions:
    """The options of `qten-gen check`."""

    paths: list[str]
    output_format: str | None
    color: Color
    quiet: bool
    baseline: str | None
    write_baseline: str | None


class ExplainOptions:
    """The options of `qten-gen explain`."""

    code: str | None


class ShowOptions:
    """The options of `qten-gen show`."""

    target: str


class InspectOptions:
    """The options of `qten-gen inspect`."""

    target: str
    config: list[str]
    dtype: str | None
    unfold: bool
    json: bool
    color: Color


class LockOptions:
    """The options of `qten-gen lock`."""

    targets: list[str]
    check: bool
    accept: bool
    load: str | None
    """The checkpoint that is held against a lock."""
    quiet: bool


class AdoptOptions:
    """The options of `qten-gen adopt`."""

    paths: list[str]
    level: str
    write: bool
    diff: bool
    json: bool
    dataclasses: bool
    color: Color
    quiet: bool
    verbose: bool


class StubsOptions:
    """The options of `qten-gen stubs`."""

    modules: list[str]
    folder: str | None
    exact_none: bool
    check: bool
    quiet: bool


class LspOptions:
    """The options of `qten-gen lsp`: none that matters."""


_PLAIN = {
    "--check": "check",
    "--diff": "diff",
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
}


def plain(arguments: Sequence[str]) -> GenerateOptions | None:
    """The options of a command line of paths and the commonest options; None for one that the parser has to read.

    >>> plain(["--check", "src"]).mode, plain(["--chek", "src"])
    ('check', None)
    """
    paths = tuple(item for item in arguments if item not in _PLAIN)
    flags = {_PLAIN[item] for item in arguments if item in _PLAIN}
    if (arguments[:1] and arguments[0] in COMMANDS) or flags >= {"quiet", "verbose"} or flags >= {"check", "diff"}:
        return None
    if any(item.startswith("-") or not item for item in paths):
        return None
    mode: Literal["check", "diff", "write"] = "check" if "check" in flags else "diff" if "diff" in flags else "write"
    return GenerateOptions(paths, mode, quiet="quiet" in flags, verbose="verbose" in flags)


def given_paths(paths: Sequence[str], config: Config) -> list[str]:
    """The paths of a command line or, without any, those of the settings, the folder of the project or this folder."""
    return list(paths) or source_paths(config) or [config.root or "."]


def output_format(options: GenerateOptions | CheckOptions, config: Config) -> str:
    """The format of diagnostics: that of the option, of the settings, or of the surroundings."""
    default = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full"
    return options.output_format or config.output_format or default


def needs_reasons(options: GenerateOptions, config: Config) -> bool:
    """Whether to find out why outputs are out of date, which takes some time where they are."""
    form = output_format(options, config)
    return options.verbose or lists_stale_files(form, options)


def lists_stale_files(form: str, options: GenerateOptions) -> bool:
    """Whether a format lists the outputs that are out of date. Most do not if the run writes them."""
    return form == "json" or (form == "github" and options.mode != "write")
