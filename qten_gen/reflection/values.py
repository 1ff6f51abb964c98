"""Converts Python objects into values of the model."""

from __future__ import annotations

from collections.abc import Mapping

from ..common.literals import literal_of
from ..common.specifier_records import recorded_call
from ..common.written_values import partial_of_torch, torch_name
from ..model import Choice, Partial, Value, language
from ..read.dimensions import parse
from .contained_objects import contained, is_tensor_or_module


def value_of(value: object) -> Value:
    """Convert an object into a value of the model. `const("zeros")` is the value of its argument."""
    call = recorded_call(value)
    if call is not None and call.name == language.CONST:
        return value_of(call.args[0])
    if call is not None and call.name == language.CHOICE:
        return _choice(value, *call.args)
    if call is not None:
        return Value(text=f"{call.name.rpartition('.')[2]}(...)", contains=(call.name,), is_callable=False)
    literal = literal_of(value)
    if literal is not None:
        return Value(text=literal, literal=literal)
    name = torch_name(value)
    kinds = tuple(dict.fromkeys(contained(value)))
    return Value(
        text=name or repr(value),
        torch_name=name,
        partial=_partial(value),
        name=f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else "",
        contains=kinds,
        is_container=bool(kinds) and not is_tensor_or_module(value),
        mutable=type(value).__hash__ is None,
        is_callable=callable(value),
    )


def _choice(value: object, selector: object, options: object = None) -> Value:
    """The record of a choice, as `read.values` makes it from the text."""
    kinds = tuple(dict.fromkeys(contained(value)))
    return Value(
        text=repr(value),
        contains=kinds,
        is_container=bool(kinds),
        choice=Choice(
            parse(selector) if isinstance(selector, str) else None,
            tuple((literal_of(key) or repr(key), value_of(option)) for key, option in options.items())
            if isinstance(options, Mapping)
            else None,
            options is None,
            selector if isinstance(selector, str) else "",
        ),
    )


def _partial(value: object) -> Partial | None:
    """The record of a `functools.partial` of a torch function with literal keywords; None for anything else."""
    found = partial_of_torch(value)
    return None if found is None else Partial(*found)
