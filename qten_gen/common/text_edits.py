"""Edits of a text, and the one function that makes them: for `adopt`, for `--fix` and for the quick fixes of editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .records import record


@record(frozen=True, slots=True)
class Edit:
    """A part of a text, from `start` up to but without `end`, is replaced. Both count characters; equal ones insert."""

    start: int
    end: int
    text: str


def edited(content: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Insertions at one place keep their order.

    Raises:
        ValueError: Two edits overlap.

    >>> edited("class A(nn.Module): pass", [Edit(8, 17, "Module")])
    'class A(Module): pass'
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:
            raise ValueError(f"edits overlap at character {edit.start}")
        parts += [content[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, content[done:]])


def disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits in the order of the text, of those that overlap only the first: for edits that were found independently.

    >>> [edit.text for edit in disjoint([Edit(4, 8, "late"), Edit(0, 5, "early"), Edit(5, 5, "behind")])]
    ['early', 'behind']
    """
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end, edit.text)):
        if edit.start >= done:
            yield edit
            done = edit.end
