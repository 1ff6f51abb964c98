"""Sizes that names and expressions mean for one module: `width`, `width//heads`, `{self.config.width}`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

from ...model import DimError, dim_names
from ...read.dimensions import parse

Sizes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """The value of a name."""

    value: int | Sizes
    """A size, or the sizes of a name for several dimensions."""
    source: str
    """Where it is from: `config of blocks.0`, `dimension 1 of x`."""


class UnknownSize(Exception):
    """An expression whose value is not known; the text says why."""


def config_sizes(module: nn.Module, path: str) -> dict[str, Binding]:
    """The integers among the config fields of a module, by name.

    Those of a declared module are its fields. Those of another are the parameters of its constructor that it keeps under
    their names.
    """
    names = getattr(type(module), "_config", None) or _constructor_names(type(module))
    found = {name: vars(module).get(name, getattr(type(module), name, None)) for name in names}
    source = f"the config of {path or 'the model'}"
    return {
        name: Binding(value, source)
        for name, value in found.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


def _constructor_names(kind: type[nn.Module]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return ()


def evaluate(text: str, names: Mapping[str, Binding], module: nn.Module | None = None) -> int:
    """The value of an expression; `{self.width}` in braces, as jaxtyping writes it, reads an attribute of the module.

    Raises:
        UnknownSize: it cannot be parsed, or a name in it has no size.
    """
    dim = parse(_without_attributes(text, module).replace("{", "(").replace("}", ")"))
    if isinstance(dim, DimError):
        raise UnknownSize(f"{text!r} cannot be read: {dim.problem}")
    sizes = {name: names[name].value for name in dim_names(dim) if name in names}
    for name in sorted(dim_names(dim)):
        if not isinstance(sizes.get(name), int):
            raise UnknownSize(f"{name} of {text!r} has no size here")
    try:
        found = eval(dim.text, {}, sizes)
    except (ArithmeticError, TypeError) as error:
        raise UnknownSize(f"{text!r} cannot be computed: {error}") from None
    if not isinstance(found, int):
        raise UnknownSize(f"{text!r} is {found}, not an integer")
    return found


def names_in(text: str) -> frozenset[str]:
    """The names that an expression mentions, attributes in braces left out."""
    dim = parse(_SELF.sub("0", text).replace("{", "(").replace("}", ")"))
    return frozenset() if isinstance(dim, DimError) else dim_names(dim)


_SELF = re.compile(r"\bself((?:\.[^\W\d]\w*)+)")


def _without_attributes(text: str, module: nn.Module | None) -> str:
    """The expression with the values of `self.width` in it."""

    def read(match: re.Match[str]) -> str:
        found: object = module
        for name in match[1].split(".")[1:]:
            found = getattr(found, name, None)
        if isinstance(found, bool) or not isinstance(found, int):
            raise UnknownSize(f"{match[0]} of {text!r} is not an int here")
        return f"({found})"

    return _SELF.sub(read, text)
