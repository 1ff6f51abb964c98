"""What is told to a user about a declaration: findings, diagnostics, and the error of the in-memory path.

A *finding* is what a rule says about a declaration: a code, a message, the place. A *diagnostic* is a finding in a file, with a
line and a column once `read.positions.locate` has seen the file's text. How either is printed is decided in `report`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from . import NO_PATH, NodePath

Severity = Literal["error", "warning"]


class Kind(NamedTuple):
    """A kind of finding: its stable code, the name for people, and how much it weighs."""

    code: str
    name: str
    severity: Severity = "error"


# The kinds that no rule's `check` raises, but a stage before or after the rules. Each has its page in `rules` like any other.
SYNTAX_ERROR = Kind("QG001", "syntax-error")
UNDECODABLE_FILE = Kind("QG002", "undecodable-file")
FOREIGN_OUTPUT = Kind("QG003", "foreign-output")
UNKNOWN_SETTING = Kind("QG004", "unknown-setting")
UNIMPORTABLE_FILE = Kind("QG005", "unimportable-file")
UNKNOWN_ROOT = Kind("QG006", "unknown-root", "warning")
UNRESOLVED_BASE = Kind("QG101", "unresolved-base")
INCONSISTENT_BASES = Kind("QG102", "inconsistent-bases")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and how to mend it.

    `span` is an offset and a length inside the string literal at `place`, for a fault in the middle of a dimension expression.
    """

    message: str
    place: NodePath = NO_PATH
    help: str = ""
    notes: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    code: str = ""
    name: str = ""
    severity: Severity = "error"

    def of(self, kind: Kind) -> Finding:
        """The same finding with the code, name and severity of its kind."""
        return replace(self, code=kind.code, name=kind.name, severity=kind.severity)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding in a file. Lines and columns count from 1 and are 0 until the place is located; `end_column` is exclusive."""

    code: str
    name: str
    severity: Severity
    path: str
    message: str
    help: str = ""
    notes: tuple[str, ...] = ()
    place: NodePath = field(default=NO_PATH, repr=False)
    span: tuple[int, int] | None = None
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def is_error(self) -> bool:
        """Whether nothing may be written for the file."""
        return self.severity == "error"

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Key that sorts diagnostics as they are shown: by file, then by position."""
        return (self.path, self.line, self.column, self.code, self.message)


def diagnostic(kind: Kind, path: str, message: str, *, line: int = 0, column: int = 0, help: str = "") -> Diagnostic:
    """A diagnostic for a whole file, or for a known line and column.

    >>> diagnostic(FOREIGN_OUTPUT, "a_qten.py", "not written by qten-gen").code
    'QG003'
    """
    end = column + 1 if column else 0
    return Diagnostic(
        kind.code,
        kind.name,
        kind.severity,
        path,
        message,
        help,
        line=line,
        column=column,
        end_line=line,
        end_column=end,
    )


def in_file(finding: Finding, path: str) -> Diagnostic:
    """The diagnostic that a finding is in a file, not located yet."""
    return Diagnostic(
        finding.code,
        finding.name,
        finding.severity,
        path,
        finding.message,
        finding.help,
        finding.notes,
        finding.place,
        finding.span,
    )


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Located diagnostics as they are shown: sorted, each once."""
    first: dict[tuple[object, ...], Diagnostic] = {}
    for item in diagnostics:
        first.setdefault(item.order, item)
    return tuple(sorted(first.values(), key=lambda item: item.order))


class DeclarationError(TypeError):
    """A class statement declares something that cannot be generated. The message lists every finding."""

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)

    @classmethod
    def of(cls, subject: str, findings: Iterable[Finding]) -> DeclarationError:
        """The error for a class, named by `subject`, with the texts that the command line shows.

        >>> finding = Finding("no flag 'frozn'", help="write frozen").of(Kind("QG104", "unknown-flag"))
        >>> print(DeclarationError.of("Batch", [finding]))
        Batch cannot be generated
          error QG104 [unknown-flag]: no flag 'frozn'
            help: write frozen
        """
        found = tuple(findings)
        lines = [f"{subject} cannot be generated"]
        for finding in found:
            lines.append(f"  {finding.severity} {finding.code} [{finding.name}]: {finding.message}")
            if finding.help:
                lines.append(f"    help: {finding.help}")
            lines.extend(f"    note: {note}" for note in finding.notes)
        return cls("\n".join(lines), found)
