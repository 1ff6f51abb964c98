"""Files with the settings of a model, held against the schema of its constructor. Nothing of the user's is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...common.suggestions import did_you_mean
from ..inspect.documents import DocumentError as DocumentError
from ..inspect.documents import Expression, value_at

_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


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
            problem = _problem(value, known[name])
            if problem is not None:
                yield f"{place}: {name}: expected {problem}, got {value!r}"
    for name in schema["required"]:
        if name not in given:
            yield f"{place}: {name!r} is missing, and has no default"


def _problem(value: object, schema: Mapping[str, Any]) -> str | None:
    """The expected value in place of one that does not fit a schema."""
    if "anyOf" in schema:
        found = [_problem(value, each) for each in schema["anyOf"]]
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
