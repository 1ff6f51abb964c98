"""The record for a mistake in a declaration, which is used from detection to output, and the error raised at run time.

A rule creates a `Diagnostic` with its kind, a message and a place in the syntax tree. The stage that knows the file adds the
path, and `read.positions.locate` adds the span with the source line. Then the record is complete: `report`, which prints it, and
the cache need nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ..common.records import field, record
from . import NO_PATH, NodePath
from .field_parts import FIELD_STEP

Severity = Literal["error", "warning"]


class Kind(NamedTuple):
    """A kind of diagnostic: its stable code, a readable name, and the severity."""

    code: str
    name: str
    severity: Severity = "error"
    can_be_wrong: bool = False
    """True if the error is about what the class does rather than what it declares, so that the author may know better."""

    @property
    def is_suppressible(self) -> bool:
        """True if a comment in its line can suppress the diagnostic. Then nothing keeps the file from being generated."""
        return self.severity == "warning" or self.can_be_wrong


# Kinds that stages before or after the rules report. Each is documented in `rules`, like any other.
SYNTAX_ERROR = Kind("QG001", "syntax-error")
UNDECODABLE_FILE = Kind("QG002", "undecodable-file")
FOREIGN_OUTPUT = Kind("QG003", "foreign-output")
UNKNOWN_SETTING = Kind("QG004", "unknown-setting")
INVALID_MODULE_NAME = Kind("QG005", "invalid-module-name")
IMPLICIT_NAMESPACE_PACKAGE = Kind("QG006", "implicit-namespace-package", "warning")
UNRESOLVED_IMPORT = Kind("QG007", "unresolved-import")
DYNAMIC_DECLARATION = Kind("QG008", "dynamic-declaration")
UNUSED_SUPPRESSION = Kind("QG009", "unused-suppression", "warning")
INVALID_SUPPRESSION = Kind("QG010", "invalid-suppression", "warning")
UNRESOLVED_BASE = Kind("QG101", "unresolved-base")
INCONSISTENT_BASES = Kind("QG102", "inconsistent-bases")
MISPLACED_SPECIFIER = Kind("QG111", "misplaced-specifier")
UNKNOWN_TYPE = Kind("QG207", "unknown-type")

UNUSABLE_SETTINGS = Kind("", "")
"""Settings that cannot be read, or that name folders which do not exist. It has no code and no page, only its message."""


class Span(NamedTuple):
    """Where a diagnostic is in its file. Lines and columns count from 1, `end_column` is exclusive; 0 means not known.

    `text` is its first line as it was when the diagnostic was located, or None if that line is not known.
    """

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    text: str | None = None


UNLOCATED = Span()


@record(frozen=True, slots=True)
class Fix:
    """A way to mend a mistake: `text` in place of a node, of a part of a string literal, or behind a node.

    It may be only likely: `is_sure` says.
    """

    text: str
    place: NodePath = field(default=NO_PATH, repr=False)
    within: tuple[int, int] | None = None
    """As in `Diagnostic`."""
    is_behind: bool = False
    """True if the text is inserted behind the node, in place of replacing it."""
    is_sure: bool = True
    """True if nothing else can be meant. An editor makes all such changes at once, and offers others one by one."""
    span: Span = UNLOCATED
    """Where it is, once the place is located."""


@record(frozen=True, slots=True)
class Diagnostic:
    """A mistake, and how to fix it.

    Attributes:
        kind: Its code, name and severity.
        message: What is wrong, in the words of the declaration.
        place: The node of the syntax tree with the mistake; the whole file by default.
        help: How to fix it.
        notes: Further explanations.
        within: An offset and a length inside the string literal at `place`, for a mistake inside a dimension expression.
        path: The file, as messages show it; empty until a stage adds it.
        span: The lines and columns, once the place is located.
        fix: How to mend it, if there is exactly one way, or one that is likely.
    """

    kind: Kind
    message: str
    place: NodePath = field(default=NO_PATH, repr=False)
    help: str = ""
    notes: tuple[str, ...] = ()
    within: tuple[int, int] | None = None
    path: str = ""
    span: Span = UNLOCATED
    fix: Fix | None = None

    @property
    def code(self) -> str:
        """The stable code of its kind."""
        return self.kind.code

    @property
    def is_error(self) -> bool:
        """True if the diagnostic is an error. Nothing is generated for a file with one."""
        return self.kind.severity == "error"

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The sort key of the output: by file, then by position."""
        return (self.path, self.span.line, self.span.column, self.kind.code, self.message)


def diagnostic_at(kind: Kind, path: str, message: str, *, line: int, column: int, help: str = "") -> Diagnostic:
    """A diagnostic for one character of a file.

    >>> diagnostic_at(SYNTAX_ERROR, "model.py", "invalid syntax", line=3, column=5).span
    Span(line=3, column=5, end_line=3, end_column=6, text=None)
    """
    return Diagnostic(kind, message, help=help, path=path, span=Span(line, column, line, column + 1))


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Located diagnostics in the order of the output, without duplicates."""
    first: dict[tuple[object, ...], Diagnostic] = {}
    for item in diagnostics:
        first.setdefault(item.order, item)
    return tuple(sorted(first.values(), key=lambda item: item.order))


class DeclarationError(TypeError):
    """A class statement declares something that cannot be generated. The message lists every finding."""

    def __init__(self, message: str, findings: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)

    @classmethod
    def of(cls, subject: str, findings: Iterable[Diagnostic]) -> DeclarationError:
        """The error for the class `subject`, with the same texts as on the command line, and the fields where they hold.

        >>> unknown = Diagnostic(Kind("QG104", "unknown-flag"), "no flag 'frozn'", help="write frozen")
        >>> print(DeclarationError.of("Batch", [unknown]))
        Batch cannot be generated
          error QG104 [unknown-flag]: no flag 'frozn'
            help: write frozen
        """
        found = tuple(findings)
        lines = [f"{subject} cannot be generated"]
        for item in found:
            field = f"{item.place.steps[1]}: " if item.place.steps[:1] == (FIELD_STEP,) else ""
            lines.append(f"  {field}{item.kind.severity} {item.kind.code} [{item.kind.name}]: {item.message}")
            if item.help:
                lines.append(f"    help: {item.help}")
            lines.extend(f"    note: {note}" for note in item.notes)
        return cls("\n".join(lines), found)
