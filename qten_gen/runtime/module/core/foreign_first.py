"""Classes with a base from another library before a declared one: `class Embedding(nn.Embedding, Base)`.

The layer's `super().__init__()` continues behind it, so it would reach the constructor that is generated for `Base`. That one
knows nothing of the layer: it would want the arguments of `Base`, or initialise parameters that do not exist yet. The constructor
that is wanted is the one of the class itself, which runs already.
"""

from __future__ import annotations

from torch import nn

from ..module_base import ModuleBase


class PlainConstruction:
    """Stands behind the base from the library, whose `super().__init__()` passes the generated constructors by."""

    def __init__(self, *args: object, **keywords: object) -> None:
        order = type(self).__mro__
        behind = order[order.index(PlainConstruction) + 1 :]
        init = next(vars(base)["__init__"] for base in behind if "__init__" in vars(base) and not _is_generated(base))
        init(self, *args, **keywords)


def separated(bases: tuple[type, ...]) -> tuple[type, ...]:
    """The bases, with `PlainConstruction` where a generated constructor stands behind a class of another library."""
    declared = next(index for index, base in enumerate(bases) if issubclass(base, ModuleBase))
    is_behind = any(map(_is_foreign, bases[:declared])) and _has_generated_init(bases[declared])
    if not is_behind or any(issubclass(base, PlainConstruction) for base in bases):
        return bases
    return (*bases[:declared], PlainConstruction, *bases[declared:])


def _has_generated_init(base: type) -> bool:
    """Whether a class is constructed by generated code, and not by an `__init__` of its own."""
    return next((_is_generated(each) for each in base.__mro__ if "__init__" in vars(each)), False)


def _is_generated(base: type) -> bool:
    return "_fingerprint" in vars(base)


def _is_foreign(base: type) -> bool:
    return issubclass(base, nn.Module) and not issubclass(base, ModuleBase) and base is not nn.Module
