"""Converts Python objects into values of the model."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import fields, is_dataclass
from types import BuiltinMethodType, FunctionType, MethodType, MethodWrapperType, SimpleNamespace

from ..common.fingerprint_rows import recorded_call
from ..common.python_text import literal_of, partial_of_torch, torch_name
from ..model import Choice, Partial, Value, language
from ..read.dimensions import parse


def contained(value: object) -> Iterator[str]:
    """The kind of each in a value, at any depth: `torch.nn.Module`, `torch.nn.Parameter`, `torch.Tensor`, `qten_gen.submodule`.

    It looks into containers, partials, dataclasses, the arguments of `const`, the objects of bound methods and the defaults of
    functions, where a tensor is a constant. What a function closes over, or looks up when it runs, is left out, and so are the
    attributes of other objects.
    """
    waiting, seen = [value], {id(value)}
    while waiting:
        found = waiting.pop()
        kind = _kind(found) or _specifier(found)
        if kind is not None:
            yield kind
            continue
        for item in _items(found):
            if id(item) not in seen:
                seen.add(id(item))
                waiting.append(item)


def is_tensor_or_module(value: object) -> bool:
    """True if a value is a tensor or a module itself."""
    return _kind(value) is not None


def _kind(value: object) -> str | None:
    """The torch class of a module, parameter or tensor; None for other objects. Torch is not imported to find out."""
    torch = sys.modules.get("torch")
    if torch is None or isinstance(value, type):
        return None
    kinds = {"torch.nn.Module": torch.nn.Module, "torch.nn.Parameter": torch.nn.Parameter, "torch.Tensor": torch.Tensor}
    return next((name for name, cls in kinds.items() if isinstance(value, cls)), None)


_ATTRS_FIELD = ("attr._make", "_CountingAttr")
"""The class of what `attrs.field` and `attr.ib` return."""


def _specifier(value: object) -> str | None:
    """The function that made a record: a specifier, or `attrs.field`, which is for classes of another library."""
    call = recorded_call(value)
    if (type(value).__module__, type(value).__qualname__) == _ATTRS_FIELD:
        return "attrs.field"
    return call.name if call is not None and call.name in language.SPECIFIERS else None


def _items(value: object) -> Iterator[object]:
    """The content of a container, a partial, a method, a function or a dataclass."""
    if isinstance(value, list | tuple | set | frozenset | deque | KeysView | ValuesView | ItemsView):
        yield from value
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from (key, held)
    elif isinstance(value, SimpleNamespace):
        yield from vars(value).values()
    elif isinstance(value, MethodType | BuiltinMethodType | MethodWrapperType):
        yield value.__self__
    elif isinstance(value, FunctionType):
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        yield from (given for given in defaults if _kind(given) != "torch.Tensor")
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name, None) for field in fields(value))
    # Of `const` the value, of `choice` the options.
    elif (call := recorded_call(value)) is not None and call.args:
        yield call.args[-1]


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
    partial = partial_of_torch(value)
    return Value(
        text=name or repr(value),
        torch_name=name,
        partial=None if partial is None else Partial(*partial),
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
