"""The report of an adoption, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from .adopting import Outcome
from .adoption import Adoption, Level

_BOLD, _YELLOW = "1", "33"
VERSION = 1
"""That of the JSON document. It is raised when a key is removed or changes its meaning, but not for a new key."""

_STAYING = {Level.BASE: "stays", Level.ANNOTATE: "is not annotated"}
"""The verb for a class for which a level can do nothing."""

_MOST = 12
"""How many reasons the summary lists."""


def lines_of(outcome: Outcome, verbose: bool, color: bool) -> Iterator[str]:
    """A line for each class that changes or stays; with `verbose`, for every class."""
    for each in outcome.adoptions:
        where = f"{each.found.path}:{each.found.line}:"
        name = _painted(each.found.name, _BOLD, color)
        if each.done:
            yield f"{where} {name}: {'; '.join(line for _, line in each.done)}"
        elif each.is_adopted and not each.stays and verbose:
            yield f"{where} {name} is adopted already"
        for level, reason in each.stays:
            code = f" [{reason.code}]" if reason.code else ""
            yield f"{where} {name} {_painted(_STAYING[level], _YELLOW, color)}: {reason.text}{code}"
            if reason.help:
                yield f"    help: {reason.help}"
        yield from (f"    note: {note}" for note in each.notes)


def _painted(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text


def summary(outcome: Outcome, written: bool, seconds: float) -> Iterator[str]:
    """How many classes there are, what became of them, and how often each reason to stay occurs."""
    reasons = Counter(reason.text for each in outcome.adoptions if (reason := each.why_it_stays) is not None)
    for text, number in reasons.most_common(_MOST):
        yield f"{number:5} {'stays' if number == 1 else 'stay'}: {text}"
    if len(reasons) > _MOST:
        yield f"{sum(number for _, number in reasons.most_common()[_MOST:]):5} stay for {len(reasons) - _MOST} other reasons"
    counts = Counter(_state(each) for each in outcome.adoptions)
    words = {
        "changed": "adopted" if written else "to adopt",
        "further": "taken further" if written else "to take further",
    }
    words |= {"already": "adopted already", "stays": "stay" if counts["stays"] != 1 else "stays", "other": "left out"}
    shown = [f"{counts[state]} {word}" for state, word in words.items() if counts[state]]
    files = f"{outcome.files} file{'' if outcome.files == 1 else 's'}"
    number = len(outcome.adoptions)
    classes = f"{number} class{'' if number == 1 else 'es'}"
    yield f"{classes} in {files}: {', '.join(shown) or 'nothing to do'} in {seconds:.2f}s"


def _state(each: Adoption) -> str:
    """The state of a class, for the counts."""
    if each.is_adopted and not each.found.is_adopted:
        return "changed"
    if each.is_adopted:
        return "further" if each.done else "already"
    reason = each.why_it_stays
    return "stays" if reason is None or reason.is_open else "other"


def as_json(outcome: Outcome, written: bool) -> str:
    """The report as a JSON document."""
    classes = [
        {
            "path": each.found.path,
            "line": each.found.line,
            "class": each.found.qualified,
            "kind": each.found.kind.value,
            "adopted_before": each.found.is_adopted,
            "adopted": each.is_adopted,
            "done": [{"level": level.value, "text": line} for level, line in each.done],
            "stays": [
                {
                    "level": level.value,
                    "text": reason.text,
                    "line": each.found.line,
                    "help": reason.help,
                    "code": reason.code,
                }
                for level, reason in each.stays
            ],
            "notes": list(each.notes),
        }
        for each in outcome.adoptions
    ]
    document = {"version": VERSION, "written": written, "classes": classes}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
