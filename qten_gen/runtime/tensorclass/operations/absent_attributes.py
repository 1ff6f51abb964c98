"""What a class or an object says of an attribute that it does not have: what to use instead, where tensordict has it.

Each such name is a descriptor that raises AttributeError, on a base behind TensorClass. A `__getattr__` would be shorter, but
Python then looks every attribute up in the slow way, also those that exist: twice the time for a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Never

from .tensordict_alternatives import INSTEAD


class Absent:
    """An attribute of tensordict's that is not here. A field, or a member of a class of the user's, may be called so."""

    __slots__ = ("advice", "name")

    def __init__(self, name: str, advice: str) -> None:
        self.name = name
        self.advice = advice

    def __get__(self, instance: object, owner: type) -> Never:
        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}; {self.advice}")


def present(cls: type, names: Iterable[str]) -> list[str]:
    """The names that do not stand for something absent, for `dir`."""
    return [name for name in names if name not in INSTEAD or not isinstance(_found(cls, name), Absent)]


def _found(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


class WithAdvice:
    """The base that has the names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return present(type(self), super().__dir__())


for _name, _advice in INSTEAD.items():
    setattr(WithAdvice, _name, Absent(_name, _advice))
