"""The functions that a generated `__init__` calls beside registration: defaults, children, choices and checks."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache, partial
from operator import is_not
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

from ...common.suggestions import did_you_mean
from ..declaring.children import Submodule
from ..declaring.statement import value_at
from .initialisation import at_least
from .module_base import ModuleBase

if TYPE_CHECKING:
    from torch.types import Device


M = TypeVar("M", bound=nn.Module)


def from_declaration(owner: type[ModuleBase], path: str) -> Any:  # an initialiser, a class, a dtype or an argument
    """The object that `owner`'s declaration gives to a specifier, where generated code cannot spell it out.

        _rt.from_declaration(Attention, "scale.initializer")    # of scale = buffer(..., initializer=uniform_)
        _rt.from_declaration(Attention, "norm.kwargs.eps")      # of norm = submodule(..., eps=EPSILON)

    Other paths are `"norm.cls"`, `"norm.args.0"`, `"scale.dtype"` and, for a child among the arguments of another,
    `"norm.args.0.cls"`. What is mutable among the arguments of a submodule is copied, so that no two children share it.
    """
    found = recorded(owner, path)
    return anew(found) if isinstance(owner._specifiers[path.partition(".")[0]], Submodule) else found


def recorded(owner: type[ModuleBase], path: str) -> Any:  # whatever the declaration gives
    """The very object at a path in `owner`'s declaration: `"norm.cls"`."""
    return value_at(owner._specifiers, path)


_CONTAINERS = (bytearray, deque, dict, list, set)


def anew(value: Any) -> Any:  # of the type that it takes
    """A value with new containers in place of those in it, at any depth; what they hold besides is the same objects.

    So it is what the expression in the declaration would give if each constructor evaluated it: `[1, 2]` is a new list.
    """
    kind = type(value)
    if kind is list:
        return [anew(item) for item in value]
    if kind is dict:
        return {key: anew(held) for key, held in value.items()}
    if kind is tuple:
        items = tuple(anew(item) for item in value)
        return items if any(map(is_not, items, value)) else value
    if kind is partial:
        args, keywords = anew(value.args), anew(value.keywords)
        changed = args is not value.args or any(map(is_not, keywords.values(), value.keywords.values()))
        return partial(value.func, *args, **keywords) if changed else value
    # A subclass, whose constructor may take anything, is not taken apart.
    return copy(value) if isinstance(value, _CONTAINERS) else value


def construct(
    cls: Callable[..., M], *args: Any, device: Device = None, dtype: torch.dtype | None = None, **keywords: Any
) -> M:
    """`cls(*args, device=device, dtype=dtype, **keywords)`, for a class that may take neither `device` nor `dtype`.

    What its constructor takes of the two is passed on. A module that does not take both is moved afterwards.

    Raises:
        TypeError: it gives something other than a module.
    """
    is_placed = device is not None or dtype is not None
    given = {"device": device, "dtype": dtype}
    takes = _takes(cls) if is_placed else ()
    with at_least(dtype):
        module = cls(*args, **keywords, **{name: given[name] for name in takes})
    if not isinstance(module, nn.Module):
        raise TypeError(f"{torch.typename(module)} is not a Module subclass")
    return module.to(device=device, dtype=dtype) if is_placed and len(takes) < 2 else module


@lru_cache(maxsize=256)
def _takes(cls: Callable[..., nn.Module]) -> tuple[str, ...]:
    """Which of `device` and `dtype` the constructor names."""
    try:
        parameters = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in ("device", "dtype") if name in parameters)


_LONGEST = 200


def failed_check(module: nn.Module, condition: str, /, **values: object) -> ValueError:
    """The error that a generated constructor raises: which class, what it expects, and what it got.

        raise _features.failed_check(self, "dim % heads == 0", dim=dim, heads=heads)

    `condition` mentions attributes of the values too, `config.heads`: it is their values that the message gives.
    """
    return ValueError(f"{type(module).__name__}: expected {condition}, got {mentioned(condition, values)}")


def mentioned(expression: str, values: Mapping[str, object]) -> str:
    """The values that an expression mentions, with attributes, each once and in order: `dim = 10, config.heads = 4`."""
    import ast  # only for the message of an error

    found: dict[str, object] = {}

    def collect(node: ast.AST) -> None:
        if isinstance(node, ast.Attribute | ast.Name):
            root, *names = ast.unparse(node).split(".")
            # `len` in `len(dims)` is no value of the constructor.
            if root in values and all(map(str.isidentifier, names)):
                path, value = root, values[root]
                for name in names:
                    if not hasattr(value, name):
                        break  # the error says so: here is what lacks it
                    path, value = f"{path}.{name}", getattr(value, name)
                found[path] = value
                return
        for child in ast.iter_child_nodes(node):
            collect(child)

    collect(ast.parse(expression, mode="eval"))
    return ", ".join(f"{path} = {shown(value)}" for path, value in found.items())


def shown(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def chosen(owner: type[ModuleBase], path: str, given: object, expression: str) -> Any:  # a class, or any other value
    """The option of the choice at `path` in the declaration, which `expression` decides: `chosen(Net, "act.cls", act, "act")`.

    Raises:
        ValueError: the choice has no option for `given`.
        TypeError: its options are no dict.
    """
    options, where = recorded(owner, path).options, f"{owner.__name__}.{path.partition('.')[0]}"
    if not isinstance(options, Mapping):
        raise TypeError(f"{where}: expected the options of a choice as a dict, got {options!r}")
    try:
        if given in options:
            return anew(options[given])
    except TypeError:
        pass  # a value that cannot be a key
    *others, last = map(repr, options)
    known = f"{', '.join(others)} or {last}" if others else last
    names = [key for key in options if isinstance(key, str)]
    hint = did_you_mean(given, names, "") if isinstance(given, str) else ""
    raise ValueError(f"{where}: {expression} is {given!r}; expected {known}{f'; {hint}' if hint else ''}")
