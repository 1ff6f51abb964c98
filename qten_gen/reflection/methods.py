"""Describes the functions and mixins of a class statement for the rules, as the reader of text does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType

from ..common.specifier_records import recorded_call
from ..model import MethodSource, Mixin, Signature, Value, language
from .read_class import is_field
from .statement import ClassStatement
from .values import value_of

_WRAPPERS: tuple[tuple[type, str, str], ...] = (
    (staticmethod, "builtins.staticmethod", "__func__"),
    (classmethod, "builtins.classmethod", "__func__"),
    (property, "builtins.property", "fget"),
    (cached_property, "functools.cached_property", "func"),
)
"""The descriptors that a decorator makes: the name of the decorator, and the attribute with what is decorated."""


def method_sources(statement: ClassStatement) -> tuple[MethodSource, ...]:
    """The functions of the body, with the names of their parameters, properties and virtual tensors among them."""
    return tuple(_methods(statement))


def assigned_values(statement: ClassStatement) -> tuple[tuple[str, Value], ...]:
    """The attributes of the class that are not fields, where they are None, types, or hold tensors or modules."""
    found = ((name, given) for name, given in statement.namespace.items() if not is_field(name, statement))
    plain = [
        (name, given) for name, given in found if recorded_call(given) is None and not isinstance(given, FunctionType)
    ]
    read = [(name, value_of(given)) for name, given in plain if not name.startswith("__")]
    return tuple(
        (name, value)
        for name, value in read
        # A ClassVar says that a type or None is meant.
        if value.contains or (name not in statement.annotations and (value.name or value.literal == "None"))
    )


def _methods(statement: ClassStatement) -> Iterator[MethodSource]:
    """Each function of the body inside the descriptors and records that its decorators made."""
    for name, value in statement.namespace.items():
        decorators: list[str] = []
        call = recorded_call(value)
        if call is not None and call.name == language.VIRTUAL:
            decorators.append(language.VIRTUAL)
            value = call.args[0]
        value = _unwrapped(value, decorators)
        if not isinstance(value, FunctionType):
            if decorators:
                yield MethodSource(name, Signature("*args, **kwargs", ""), tuple(decorators))
            continue
        if name in statement.annotations and value.__qualname__ != f"{statement.qualname}.{name}":
            continue  # the default of a field
        parameters = _parameters(value, skip_first="builtins.staticmethod" not in decorators)
        signature = Signature(parameters, "", is_async=inspect.iscoroutinefunction(value))
        yield MethodSource(name, signature, tuple(decorators))


def _unwrapped(value: object, decorators: list[str]) -> object:
    """The function inside the descriptors that decorators make, whose names are appended from the outside in."""
    for wrapper, decorator, attribute in _WRAPPERS:
        if isinstance(value, wrapper):
            decorators.append(decorator)
            return _unwrapped(getattr(value, attribute), decorators)
    return value


def _parameters(function: Callable[..., object], *, skip_first: bool = True) -> str:
    """The parameters as text, with `...` for defaults; any at all where Python does not say."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "*args, **kwargs"
    # `*args` takes the object too, and stays.
    if skip_first and found and found[0].kind in (found[0].POSITIONAL_ONLY, found[0].POSITIONAL_OR_KEYWORD):
        del found[0]
    plain = [
        one.replace(annotation=one.empty, default=one.default if one.default is one.empty else _DOTS) for one in found
    ]
    return str(inspect.Signature(plain))[1:-1]


class _Dots:
    """Stands for a default in the text of a signature."""

    def __repr__(self) -> str:
        return "..."


_DOTS = _Dots()


def mixins(statement: ClassStatement) -> tuple[Mixin, ...]:
    """The mixins of a class that is not created yet."""
    return tuple(_mixin(cls, is_first) for cls, is_first in statement.mixins)


def _mixin(cls: type, is_first: bool) -> Mixin:
    is_protocol = vars(cls).get("_is_protocol", False)
    abstract = {
        name for name, value in vars(cls).items() if is_protocol or getattr(value, "__isabstractmethod__", False)
    }
    return Mixin(cls.__name__, frozenset(vars(cls)), frozenset(abstract), is_first)
