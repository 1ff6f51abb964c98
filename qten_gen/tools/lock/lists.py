"""Lists of names in files, such as the targets of an adapter or a sharding plan, held against a lock. It imports none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...common.name_patterns import PatternError, advice, compiled, with_one_choice
from ..inspect.documents import DocumentError as DocumentError
from ..inspect.documents import Expression, value_at
from .folded_lines import unfolded
from .lines import Lock

_REGULAR_EXPRESSION = re.compile(r"[\\()\[\]|^$+?]")
_NO_NAMES = frozenset({"all-linear"})
"""Words of peft that stand in place of names."""


def misspelt(place: str, root: str, lock: Lock) -> Iterator[str]:
    """The problem with a list, an entry that matches nothing each; `place` is `configs/lora.yaml:target_modules`.

    An entry is a pattern over the end of a name: `q_proj` and `layers.*.q_proj` are found in `model.layers.0.q_proj.weight`. One
    that no pattern can be is a regular expression, which has to be found in a name.

    Raises:
        DocumentError: The file or the key cannot be read.
    """
    names = _names(lock)
    for entry in entries(place, root):
        if entry in _NO_NAMES:
            continue
        problem = _problem(entry, names)
        if problem is not None:
            yield f"{place}: {entry!r} {problem}"


def entries(place: str, root: str) -> list[str]:
    """The names in a list, or the keys of a table.

    Raises:
        DocumentError: The file or the key cannot be read.
    """
    found = value_at(place, root)
    names = [found] if isinstance(found, str) else list(found) if isinstance(found, list | dict) else []
    names = [name for name in names if not isinstance(name, Expression)]
    if not names or not all(isinstance(name, str) for name in names):
        raise DocumentError(f"{place}: expected a list of names, a table with names as keys, or one name")
    return names


def _problem(entry: str, names: list[str]) -> str | None:
    """Why an entry matches nothing."""
    if _REGULAR_EXPRESSION.search(entry):
        try:
            found = any(map(re.compile(entry).search, names))
        except re.error as error:
            return f"is not a regular expression: {error}"
        return None if found else "is a regular expression that is found in no name"
    pattern = f"**.{entry.strip('.')}"
    try:
        for each in [pattern, *with_one_choice(pattern)]:
            if not any(map(compiled(each).fullmatch, names)):
                return f"matches nothing: {advice(each, names)}"
    except PatternError as error:
        return str(error)
    return None


def _names(lock: Lock) -> list[str]:
    """The names of the tensors, and those of the modules around them."""
    found: dict[str, None] = {}
    for line in unfolded(lock.lines):
        segments = line.name.split(".")
        found.update((".".join(segments[:count]), None) for count in range(1, len(segments) + 1))
    return list(found)
