"""The type of declared classes: the tables that the metaclass fills in for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .fields import Default

if TYPE_CHECKING:
    from .generator import Declaration


if TYPE_CHECKING:
    from abc import ABCMeta as _ProtocolMeta
else:
    _ProtocolMeta = type(Protocol)


class DeclaredClass(_ProtocolMeta):
    """Ground of the metaclasses. Whether a class is a TensorClass or Module is `isinstance(cls, DeclaredClass)`.

    It derives from the metaclass of protocols, which is one of ABCs, so that `class Base(Module, ABC)` works and
    `class Batch(TensorClass, HasTokens)` for a protocol `HasTokens`; instance checks are those of `type`.
    """

    _declaration: Declaration
    """What the class declares, inherited fields in place. The roots, TensorClass and Module, have none."""
    _defaults: dict[str, Default]
    """Defaults of constructor arguments, inherited ones included."""
    _specifiers: dict[str, object]
    """Records of the field specifiers, inherited ones included."""
    _nests = False
    """Whether its classes can be the type of a field that holds tensors."""

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls, subclass)


def declared_bases(bases: tuple[type, ...]) -> tuple[DeclaredClass, ...]:
    """The bases that are declared classes or roots, in their order."""
    return tuple(base for base in bases if isinstance(base, DeclaredClass))
