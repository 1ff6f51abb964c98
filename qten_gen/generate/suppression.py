"""Leaves out the diagnostics that comments suppress, and reports comments that suppress nothing or name the wrong code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ..common.suggestions import did_you_mean
from ..model.diagnostics import INVALID_SUPPRESSION, UNUSED_SUPPRESSION, Diagnostic, Kind, Span
from ..read.positions import locate
from ..read.suppressions import MARK, Suppression, suppressions
from ..read.syntax import decode
from ..rules import PLAIN_RULES, RAISED_ELSEWHERE, RULES

_KINDS: dict[str, Kind] = {key: rule.kind for rule in RULES for key in (rule.kind.code, rule.kind.name)}
_OF_FILES = frozenset(rule.kind.code for rule in RAISED_ELSEWHERE)
"""Diagnostics of a whole file, and of its comments."""

_OF_PLAIN_CLASSES = frozenset(rule.kind.code for rule in PLAIN_RULES)
"""Diagnostics of `qten-gen check`, which alone can tell whether a comment suppresses one."""

_EXAMPLE = "write # qten-gen: ignore[QG210] reason, with the codes of the diagnostics"


def unsuppressed(found: Sequence[Diagnostic], path: str, data: bytes) -> tuple[Diagnostic, ...]:
    """The diagnostics of a file after its comments, and those about the comments themselves."""
    comments = _comments(data)
    if not comments:
        return tuple(found)
    located = locate(found, {path: data})
    used: set[tuple[Suppression, str]] = set()
    kept = []
    for item in located:
        by = _suppressing(item, comments) if item.path == path else None
        if by is None:
            kept.append(item)
        else:
            used.add(by)
    return (*kept, *(item for comment in comments for item in _wrong(comment, used, path)))


def accepted(findings: Sequence[Diagnostic], text: str, name: str) -> list[Diagnostic]:
    """The findings of a class statement, which have no place, that no comment in the text of the class suppresses.

    Args:
        findings: The findings in the class statement.
        text: The text of the file.
        name: The name of the class, wherever in the file it stands.
    """
    try:
        tree = ast.parse(text if MARK in text else "")
    except (SyntaxError, ValueError, RecursionError):
        return list(findings)
    codes = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            comments = (each for each in suppressions(text) if first <= each.line <= (node.end_lineno or 0))
            words = {word for comment in comments for word, _ in _names(comment)}
            codes |= {_KINDS[word].code for word in words if can_be_suppressed(word)}
    return [item for item in findings if item.code not in codes or not item.kind.is_suppressible]


def _comments(data: bytes) -> tuple[Suppression, ...]:
    if MARK.encode() not in data:
        return ()
    text = decode(data, "")
    return suppressions(text) if isinstance(text, str) else ()


def _suppressing(item: Diagnostic, comments: Iterable[Suppression]) -> tuple[Suppression, str] | None:
    """The comment that suppresses a diagnostic, and the code as written there."""
    if not item.kind.is_suppressible:
        return None
    for comment in comments:
        if comment.covers(item.span.line, item.span.end_line):
            for name, _ in _names(comment):
                if can_be_suppressed(name) and _KINDS[name].code == item.code:
                    return comment, name
    return None


def _names(comment: Suppression) -> tuple[tuple[str, int], ...]:
    return comment.codes if comment.word == "ignore" else ()


def can_be_suppressed(name: str) -> bool:
    """True if a comment can suppress a diagnostic."""
    return name in _KINDS and _KINDS[name].is_suppressible and _KINDS[name].code not in _OF_FILES


def _wrong(comment: Suppression, used: set[tuple[Suppression, str]], path: str) -> Iterator[Diagnostic]:
    """The diagnostics about a comment."""
    if comment.word != "ignore" or not comment.codes:
        what = f"unknown comment {comment.word!r}" if comment.word != "ignore" else "the comment names no code"
        span = Span(comment.line, comment.column, comment.line, comment.end)
        yield Diagnostic(INVALID_SUPPRESSION, what, help=_EXAMPLE, path=path, span=span)
        return
    for name, column in comment.codes:
        problem = _problem(name, (comment, name) in used)
        if problem is not None:
            span = Span(comment.line, column, comment.line, column + len(name))
            yield Diagnostic(problem[0], problem[1], help=problem[2], path=path, span=span)


def _problem(name: str, is_used: bool) -> tuple[Kind, str, str] | None:
    """The problem of a code in a comment: the kind, the message and the help."""
    if name not in _KINDS:
        choices = [rule.kind.name for rule in RULES] if name[:2] != "QG" else [rule.kind.code for rule in RULES]
        advice = did_you_mean(name, choices, "run qten-gen explain for a list")
        return INVALID_SUPPRESSION, f"unknown diagnostic {name}", advice
    kind = _KINDS[name]
    if not can_be_suppressed(name):
        if kind.severity == "warning":
            help = "use per-file-ignores or severity in [tool.qten-gen]"
            return INVALID_SUPPRESSION, f"{kind.code} does not belong to a line, so a comment cannot suppress it", help
        help = "fix what it reports, and remove the comment"
        return INVALID_SUPPRESSION, f"{kind.code} cannot be suppressed, because the class cannot be generated", help
    if not is_used and kind.code not in _OF_PLAIN_CLASSES:
        help = "remove the comment, or move it to the line of the diagnostic"
        return UNUSED_SUPPRESSION, f"{kind.code} [{kind.name}] is not reported here", help
    return None
