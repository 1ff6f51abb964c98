"""What a class or an object says of an attribute that it does not have: what to use instead, where tensordict has it.

Python asks here when it has found nothing, so attributes that exist cost nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..metaclass import TensorClassMeta
    from ..tensorclass import TensorClass


def of_object(self: TensorClass, name: str) -> object:
    """`__getattr__` of objects.

    Raises:
        AttributeError: always, as there is no such attribute; or what the attribute itself raised.
    """
    # Protocols ask for private and special names, and often.
    if not name.startswith("_") and not _defined(type(self), name):
        _advise(type(self), name)
    return object.__getattribute__(self, name)


def of_class(cls: TensorClassMeta, name: str) -> object:
    """`__getattr__` of classes.

    Raises:
        AttributeError: always.
    """
    if not name.startswith("_"):
        _advise(cls, name)
    return type.__getattribute__(cls, name)


def _defined(cls: type, name: str) -> bool:
    """Whether it is there after all, as a property that has raised AttributeError."""
    return any(name in vars(base) for base in cls.__mro__)


def _advise(cls: type, name: str) -> None:
    from .instead import INSTEAD

    if name in INSTEAD:
        raise AttributeError(f"{cls.__name__} has no attribute {name!r}; {INSTEAD[name]}")
