"""Lists and settings in files, of which none is imported.

A list of names, such as the targets of an adapter or a sharding plan, is held against a lock. Settings of a model are held
against the schema of its constructor: a key that the constructor does not take, or that lacks, is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...common.name_patterns import PatternError, advice, compiled, with_one_choice
from ...common.suggestions import did_you_mean
from ..inspect.documents import DocumentError as DocumentError
from ..inspect.documents import Expression, split, value_at
from .lines import Lock, unfolded

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


_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def path_of(place: str) -> str:
    """The file of a list or of settings at a place such as `configs/lora.yaml:target_modules`."""
    return split(place)[0]


def misfits(place: str, root: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """The problem with the settings at `configs/base.toml:model`: keys that nobody reads, that lack, or with a wrong value.

    Args:
        place: Where they are.
        root: The folder that the path is below.
        schema: That of the constructor, as `config_schema` makes it.

    Raises:
        DocumentError: The file or the key cannot be read.
    """
    given = value_at(place, root)
    if not isinstance(given, Mapping):
        raise DocumentError(f"{place}: expected a table of settings")
    known: Mapping[str, Any] = schema["properties"]
    for name, value in given.items():
        if name not in known:
            if not schema["additionalProperties"]:
                there = f"there are {', '.join(known)}" if known else "there are none"
                yield f"{place}: {name!r} is not an argument: {did_you_mean(str(name), known, there)}"
        elif not isinstance(value, Expression):
            problem = _unfit(value, known[name])
            if problem is not None:
                yield f"{place}: {name}: expected {problem}, got {value!r}"
    for name in schema["required"]:
        if name not in given:
            yield f"{place}: {name!r} is missing, and has no default"


def _unfit(value: object, schema: Mapping[str, Any]) -> str | None:
    """The expected value in place of one that does not fit a schema."""
    if "anyOf" in schema:
        found = [_unfit(value, each) for each in schema["anyOf"]]
        return None if None in found else " or ".join(filter(None, found))
    if "enum" in schema:
        return None if value in schema["enum"] else " or ".join(map(repr, schema["enum"]))
    kind = schema.get("type")
    if kind is None:
        return None
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return str(kind)
    if isinstance(value, int | float):
        return _out_of_range(value, schema)
    return None


def _out_of_range(value: float, schema: Mapping[str, Any]) -> str | None:
    fits = {
        "minimum": (">=", value >= schema.get("minimum", value)),
        "maximum": ("<=", value <= schema.get("maximum", value)),
        "exclusiveMinimum": (">", "exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"]),
        "exclusiveMaximum": ("<", "exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"]),
        "multipleOf": ("a multiple of", value % schema.get("multipleOf", 1) == 0 or "multipleOf" not in schema),
    }
    return next((f"{word} {schema[key]}" for key, (word, holds) in fits.items() if not holds), None)
