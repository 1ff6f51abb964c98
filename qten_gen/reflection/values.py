"""Converts Python objects into values of the model, and checks whether the text in generated code still means an object."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING
from functools import partial

from ..common.literals import literal_of
from ..common.specifier_records import recorded_call
from ..model import Choice, Partial, Value, language
from ..read.dimensions import parse
from .contained_objects import contained, is_tensor_or_module

_TORCH_HOMES = ("torch", "torch.nn", "torch.nn.init", "torch.nn.functional")


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
    name = _torch_name(value)
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


def written_as(value: object, text: str) -> bool:
    """Whether `text`, as written in generated code, means this value.

    >>> written_as("train", "'train'")
    True
    """
    if text.startswith("functools.partial("):
        found = _partial(value)
        return found is not None and found.text == text
    if not text.startswith("torch."):
        return literal_of(value) == text
    resolved: object = sys.modules["torch"]
    for part in text.split(".")[1:]:
        resolved = getattr(resolved, part, MISSING)
    return resolved is value


def _partial(value: object) -> Partial | None:
    """The record of a `functools.partial` of a torch function with literal keywords; None for anything else."""
    if type(value) is not partial or value.args:
        return None
    name, keywords = _torch_name(value.func), [(key, literal_of(given)) for key, given in value.keywords.items()]
    written = tuple((key, given) for key, given in keywords if given is not None)
    return None if name is None or len(written) < len(keywords) else Partial(name, written)


def _torch_name(value: object) -> str | None:
    """The public name of a torch object in one of `_TORCH_HOMES`; None if it is in none of them."""
    plain = getattr(value, "__name__", None) or str(value).removeprefix("torch.")
    if not isinstance(plain, str) or not plain.isidentifier():
        return None
    for home in _TORCH_HOMES:
        if getattr(sys.modules.get(home), plain, None) is value:
            return f"{home}.{plain}"
    return None
