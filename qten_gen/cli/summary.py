"""Writes the summary, the last line that a run prints."""

from collections import Counter

from ..run.run import Outcome

_DONE = {"stale": "written", "missing": "written", "orphan": "removed"}
_CHECKED = {"stale": "stale", "missing": "missing", "orphan": "orphaned"}
_PROPOSED = {"stale": "to write", "missing": "to write", "orphan": "to remove"}


def summary(outcome: Outcome, mode: str, seconds: float) -> str:
    """The summary without a newline: `12 files up to date, 2 written, 1 removed in 0.21s`.

    `mode` is `write`, `check` or `diff`. Counts of zero are left out.
    """
    return f"{said(outcome, mode)} in {seconds:.2f}s"


def said(outcome: Outcome, mode: str) -> str:
    """The summary without the time."""
    return "; ".join(part for part in (_errors(outcome), _files(outcome, mode), _warnings(outcome)) if part)


def _errors(outcome: Outcome) -> str:
    """`3 errors in 2 files, 1 file held back`. A file that is held back has no error itself."""
    found = [item for item in outcome.diagnostics if item.is_error]
    parts = []
    if found:
        files = len({item.path for item in found})
        parts.append(f"{count(len(found), 'error')} in {count(files, 'file')}")
    if outcome.blocked:
        parts.append(f"{count(len(outcome.blocked), 'file')} held back")
    if outcome.crashes:
        parts.append(count(len(outcome.crashes), "internal error"))
    if outcome.failures:
        parts.append(f"{count(len(outcome.failures), 'path')} failed")
    return ", ".join(parts)


def _warnings(outcome: Outcome) -> str:
    found = sum(not item.is_error for item in outcome.diagnostics)
    return count(found, "warning") if found else ""


def _files(outcome: Outcome, mode: str) -> str:
    """`12 files up to date, 2 written`. Only the first count has the noun."""
    words = {"write": _DONE, "check": _CHECKED, "diff": _PROPOSED}[mode]
    figures = Counter({"up to date": outcome.up_to_date})
    for change in outcome.changes:
        figures[words[change.kind]] += 1
    shown = [(word, figures[word]) for word in dict.fromkeys(["up to date", *words.values()]) if figures[word]]
    if shown:
        (first, number), *rest = shown
        return ", ".join([f"{count(number, 'file')} {first}", *(f"{number} {word}" for word, number in rest)])
    if outcome.diagnostics or outcome.failures or outcome.crashes:
        return "nothing written" if mode == "write" else ""
    if outcome.sources == 0:
        return "no Python files found"
    return f"no declarations in {count(outcome.sources, 'Python file')}"


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
