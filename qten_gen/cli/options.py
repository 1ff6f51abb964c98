"""The options of command lines. `parser` reads them with argparse, which a run over plain paths does not load."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from typing import Literal, TextIO


class UsageError(Exception):
    """A command line with a mistake."""

    def __init__(self, problem: str, usage: str = "") -> None:
        super().__init__(problem)
        self.usage = usage
        """The line that says how the command is called; empty where that would not help."""


class Color(Enum):
    """When to use colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"

    def enabled(self, stream: TextIO) -> bool:
        """True if what is written to a stream gets colours.

        The option takes precedence over NO_COLOR, and NO_COLOR over FORCE_COLOR. Without any of them, terminals get colours.
        """
        if self is not Color.AUTO:
            return self is Color.ALWAYS
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
            return True
        return stream.isatty() and os.environ.get("TERM") != "dumb"


class Options:
    """The options of a command line. Each command has some of them, as `parser` says; the values here are the defaults."""

    paths: Sequence[str] = ()
    target: str
    targets: Sequence[str]
    modules: Sequence[str] = ()
    code: str | None
    check: bool = False
    diff: bool = False
    watch: bool = False
    write: bool
    accept: bool
    output_format: str | None = None
    baseline: str | None = None
    """The file with the warnings that are not reported."""
    write_baseline: str | None = None
    color: Color = Color.AUTO
    json: bool
    quiet: bool = False
    verbose: bool = False
    config: Sequence[str]
    """The arguments of a model's constructor: `["depth=4", "dim=64"]`."""
    dtype: str | None
    unfold: bool
    load: str | None
    """The checkpoint that is held against a lock."""
    level: str
    dataclasses: bool
    folder: str | None = None
    exact_none: bool = False

    @property
    def mode(self) -> Literal["write", "check", "diff"]:
        """What a run does: it writes, or it lists or shows what it would write."""
        return "check" if self.check else "diff" if self.diff else "write"


def output_format(options: Options) -> str:
    """The format of diagnostics, by the option or the surroundings."""
    return options.output_format or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "full")
