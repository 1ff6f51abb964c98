"""What an object holds, by field, without regard to properties that a user overrides; and objects made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from ..declaring import loading

if TYPE_CHECKING:
    from .tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")


def contents(self: TensorClass) -> dict[str, object]:
    """Every field and what is stored in it, in constructor order."""
    values, static = (iter(part) for part in self._contents())
    return {name: next(static) if name in self._static else next(values) for name in self._fields}


def tensor_and_nested(self: TensorClass | type[TensorClass]) -> tuple[str, ...]:
    """Names of the fields whose values the first part of `_contents` holds."""
    return tuple(name for name in self._fields if name not in self._static)


def new_like(self: T) -> T:
    """An object of the same class that is still to be filled."""
    return object.__new__(type(self))


def construct(cls: type[T], values: dict[str, object]) -> T:
    """An object constructed from values of its fields, `batch_size` and `device`, also where the class has its own `__init__`."""
    out = object.__new__(cls)
    init = next(vars(base)["__init__"] for base in cls.__mro__ if "_fingerprint" in vars(base))
    init(out, **values)
    return out


def nested_class(cls: type[TensorClass], name: str) -> type[TensorClass]:
    """The class of a nested field, as the generated code of the owner knows it."""
    return cast("type[TensorClass]", cls._map.__globals__[loading.bound_name(cls._nested[name])])
