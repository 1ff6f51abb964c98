"""What a class or an object says of an attribute that it does not have: what to use instead, where tensordict or Tensor has it.

Each such name is a descriptor that raises AttributeError, on a base behind TensorClass. A `__getattr__` would be shorter, but
Python then looks every attribute up in the slow way, also those that exist: twice the time for a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Never

from ..core.late_functions import import_all
from .tensordict_alternatives import INSTEAD

_OF_TENSORS = {
    "grad_fn": "ask the tensors: batch.x.grad_fn",
    "is_leaf": "ask the tensors: batch.x.is_leaf",
    "register_hook": "call it of the tensors: batch.x.register_hook(...)",
    "retain_grad": "call it of the tensors: batch.x.retain_grad()",
}
"""Advice for attributes of a Tensor that tensordict does not have either, and that functions of torch read."""

_WRITTEN = {
    "_is_param": "a parameter is a tensor: nn.Parameter(batch.x)",
    "persistent": "a buffer is a tensor: nn.Buffer(batch.x)",
}
"""Advice for what `nn.Parameter(batch)` and `nn.Buffer(batch)` assign to what they are given."""


class Absent:
    """An attribute of another library's that is not here. A field, or a member of a class of the user's, may be called so."""

    __slots__ = ("advice", "name")

    def __init__(self, name: str, advice: str) -> None:
        self.name = name
        self.advice = advice

    def __get__(self, instance: object, owner: type) -> Never:
        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}; {self.advice}")


class AbsentWhenWritten(Absent):
    """One that is assigned to."""

    __slots__ = ()

    def __set__(self, instance: object, value: object) -> Never:
        raise AttributeError(f"{type(instance).__name__} has no attribute {self.name!r}; {self.advice}")


def present(cls: type, names: Iterable[str]) -> list[str]:
    """The names that do not stand for something absent, for `dir`, after which tools ask for signatures and documentation."""
    for base in cls.__mro__:
        import_all(base)
    return [name for name in names if name not in _ADVICE or not isinstance(_found(cls, name), Absent)]


def _found(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


class WithAdvice:
    """The base that has the names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return present(type(self), super().__dir__())


_ADVICE = {**INSTEAD, **_OF_TENSORS, **_WRITTEN}

for _name, _advice in _ADVICE.items():
    setattr(WithAdvice, _name, (AbsentWhenWritten if _name in _WRITTEN else Absent)(_name, _advice))
