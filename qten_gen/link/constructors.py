"""Finds what the constructor of a class takes: its own, or the one that it inherits."""

from __future__ import annotations

from collections.abc import Callable

from ..model import ClassSource, language
from ..model.constructed import DECIDING, ConstructedClass

Find = Callable[[str], ConstructedClass | None]

_HARMLESS = frozenset(
    {"builtins.object", "typing.Generic", "typing_extensions.Generic", "abc.ABC", language.MODULE}
    | {"torch.nn.Module", "torch.nn.modules.module.Module"}
)
"""Bases that leave the constructors of their subclasses alone."""


def parameters_of(name: str, find: Find) -> str | None:
    """The parameters of the constructor of a class; None where something else may decide what a call takes."""
    waiting, seen = [name], set(_HARMLESS)
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            found = find(current)
            if found is None or not found.is_plain:
                return None
            waiting += found.bases
    return _nearest(name, find)


def _nearest(name: str, find: Find) -> str | None:
    """The parameters of the nearest `__init__`, up to where a class has several bases."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        found = find(name)
        if found is None or found.parameters is not None:
            return found and found.parameters
        if len(found.bases) != 1:
            return None
        name = found.bases[0]
    return None


def constructed(cls: ClassSource, bases: tuple[str, ...]) -> ConstructedClass:
    """What a class statement of the run says about a call of the class."""
    own = [method for method in cls.methods if method.name == "__init__"]
    bound = {*cls.attributes, *(method.name for method in cls.methods)}
    plain = not cls.decorators and not cls.unpacked and not DECIDING & bound
    plain = plain and all(keyword != "metaclass" for keyword, _ in cls.keywords)
    plain = plain and len(own) < 2 and "__init__" not in cls.attributes and not any(item.decorators for item in own)
    return ConstructedClass(bases, own[0].signature.parameters if own else None, plain)
