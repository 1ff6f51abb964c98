"""The names that TensorClass has from the start: the operations, whose table is loaded when one is first used, and absent ones.

The table and what it stands on are a fifth of what a program with a TensorClass would load, and most programs use few of them.

A name of tensordict that is not here says what to use instead. It is a descriptor that raises AttributeError, on a base
behind TensorClass. A `__getattr__` would be shorter, but Python then looks every attribute up in the slow way, also those that
exist: twice the time for a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Never

from ....common.operation_names import CLASS_METHODS, METHODS, OF_TENSORDICT
from ..core import late


def bind(cls: type) -> None:
    """Give TensorClass the operations."""
    for name in METHODS:
        late.Late(cls, name, "operations.torch_functions")
    for name in (*CLASS_METHODS, "__torch_function__"):
        late.Late(cls, name, "operations.torch_functions", on_class=True)
    cls.__hash__ = None  # type: ignore[assignment] # as a class statement with `__eq__` has it


class Absent:
    """An attribute of another library that is missing here. A field, or a member of a user class, may have its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Never:
        from .tensordict_alternatives import INSTEAD

        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}; {INSTEAD[self.name]}")


def present(cls: type, names: Iterable[str]) -> list[str]:
    """The names that do not stand for something absent, for `dir`, after which tools ask for signatures and documentation."""
    late.put_all_in_place()
    return [name for name in names if not isinstance(_found(cls, name), Absent)]


def _found(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


class WithAdvice:
    """The base that has the names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return present(type(self), super().__dir__())


for _name in OF_TENSORDICT:
    setattr(WithAdvice, _name, Absent(_name))
