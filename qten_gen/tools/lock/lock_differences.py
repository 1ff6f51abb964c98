"""Compares two locks: each difference has a class, which says what an old checkpoint does to the new model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...common.state_differences import LOADING, Change, Difference, shown
from .lock import TIE, UNSAVED, Line, Lock, unfolded

__all__ = ["LOADING", "OLD_OBJECTS", "Change", "Difference", "differences", "shown"]

OLD_OBJECTS: Mapping[Change, str] = {
    "added": "old files and data lack the field",
    "removed": "old files and data have a field that is not read",
    "renamed": "old files and data have the old name",
    "reshaped": "old values are refused, or mean something else",
    "recast": "old values are refused, or cast",
    "kind": "old values are stored in another way",
    "respelled": "old values fit; type checkers see another type",
}
"""The effect on objects of an old TensorClass, by class of the difference."""

_COMPARED: tuple[tuple[Change, str], ...] = (
    ("reshaped", "shape"),
    ("recast", "dtype"),
    ("kind", "kind"),
    ("respelled", "declared"),
)


def differences(old: Lock, new: Lock) -> list[Difference]:
    """All differences, one for each tensor and class, in the order of the new lock; removed tensors come last."""
    before = {line.name: line for line in unfolded(old.lines)}
    after = {line.name: line for line in unfolded(new.lines)}
    gone = [line for name, line in before.items() if name not in after]
    come = [line for name, line in after.items() if name not in before]
    renamed = _renamed(gone, come)
    found: list[Difference] = []
    for name, line in after.items():
        if name in before:
            found += _changed(before[name], line, before, after)
        elif name in renamed:
            found.append(Difference("renamed", name, renamed[name], "", line.is_saved))
        else:
            found.append(Difference("added", name, "", _described(line), line.is_saved))
    former = set(renamed.values())
    found += [
        Difference("removed", line.name, _described(line), "", line.is_saved)
        for line in gone
        if line.name not in former
    ]
    return found


def _described(line: Line) -> str:
    return f"= {line.tie}" if line.kind == TIE else f"{line.dtype} {line.shape} {line.kind}"


def _changed(old: Line, new: Line, before: Mapping[str, Line], after: Mapping[str, Line]) -> Iterator[Difference]:
    """The differences in a line that both locks have."""
    name = new.name
    if old.tie != new.tie:
        yield Difference("tied" if new.tie else "untied", name, old.tie, new.tie)
    elif old.tie:
        return  # the tensor itself has a line of its own
    old, new = before.get(old.tie, old), after.get(new.tie, new)
    needs = old.is_saved or new.is_saved
    for change, column in _COMPARED:
        was, now = str(getattr(old, column)), str(getattr(new, column))
        if was == now or (change == "respelled" and (old.shape != new.shape or old.name != new.name)):
            continue
        is_saving = change == "kind" and UNSAVED in (was, now)
        yield Difference("persistence" if is_saving else change, name, was, now, needs and change != "respelled")
    if old.keeps_dtype != new.keeps_dtype:
        yield Difference("kept" if new.keeps_dtype else "unkept", name, needs_version=False)


def _renamed(gone: Iterable[Line], come: Iterable[Line]) -> dict[str, str]:
    """The new names of renamed tensors, each with the old one.

    A tensor was renamed if exactly one removed and one added line agree in all else. Where several do, those count whose names
    differ in one segment, such as `qkv` and `in_proj` of `blocks.0.qkv.bias`, if they leave one for each.
    """
    found: dict[str, str] = {}
    by_content: dict[Line, tuple[list[str], list[str]]] = {}
    for side, lines in enumerate((gone, come)):
        for line in lines:
            by_content.setdefault(_content(line), ([], []))[side].append(line.name)
    for old, new in by_content.values():
        if len(old) == len(new) == 1:
            found[new[0]] = old[0]
            continue
        near = {name: [other for other in new if _differ_in_one(name, other)] for name in old}
        wanted = [other for others in near.values() for other in others]
        for name, others in near.items():
            if len(others) == 1 and wanted.count(others[0]) == 1:
                found[others[0]] = name
    return found


def _content(line: Line) -> Line:
    """The part of a line that has to be equal under an old name and under a new one."""
    return line._replace(name="", declared="", keeps_dtype=False)


def _differ_in_one(name: str, other: str) -> bool:
    """True for names with equal segments but one, which is no number: layers are not renamed one by one."""
    pairs = list(zip(name.split("."), other.split("."), strict=False))
    if name.count(".") != other.count("."):
        return False
    different = [pair for pair in pairs if pair[0] != pair[1]]
    return len(different) == 1 and not all(map(str.isdecimal, different[0]))
