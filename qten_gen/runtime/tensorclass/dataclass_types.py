"""TensorClasses made from dataclasses, and the question whether something is one."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from typing import Any, TypeGuard, cast

from ..declaring.fields import Field
from .metaclass import TensorClassMeta
from .tensorclass import TensorClass


def is_tensorclass(value: object) -> TypeGuard[TensorClass | type[TensorClass]]:
    """True if a class is a TensorClass, or a value an object of one. Anything may be passed.

    Type checkers know the value as one where the result is true.

    Examples:
        >>> from qten_gen import TensorClass
        >>> is_tensorclass(TensorClass), is_tensorclass(dict), is_tensorclass(3)
        (True, False, False)
    """
    return issubclass(value if isinstance(value, type) else type(value), TensorClass)


def from_dataclass(cls: type, *, name: str | None = None, **flags: bool) -> type[TensorClass]:
    """A TensorClass with the fields and methods of a dataclass. Its annotations decide what the fields hold.

    It is built in memory, and checkers know none of its fields: a class statement is better where you can write one. Use it as
    a decorator, or give the class the name that you assign it to, so that pickle finds it.

    >>> @dataclasses.dataclass
    ... class Plain:
    ...     tokens: Tensor
    >>> Frozen = from_dataclass(Plain, name="Frozen", frozen=True)
    >>> Frozen(torch.arange(2), batch_size=2)[0].tokens
    tensor(0)

    Args:
        cls: The dataclass. `TensorClass.from_dataclass` converts its instances.
        name: The name of the new class; by default, the name of the dataclass.
        flags: The flags of a class statement, such as `frozen=True`.

    Raises:
        TypeError: `cls` is not a dataclass, or one of its fields is another dataclass, or no argument of its constructor.
        DeclarationError: a field is one that a class statement refuses too.
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls) or issubclass(cls, TensorClass):
        raise TypeError(f"from_dataclass: expected a dataclass, got {cls!r}")
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = dataclasses.fields(cls)
    for each in fields:
        _refuse(cls, each, hints[each.name])
    own = {key: value for key, value in vars(cls).items() if key[:2] != "__" or key in ("__doc__", "__post_init__")}
    namespace: dict[str, Any] = {
        **{key: value for key, value in own.items() if not isinstance(value, types.MemberDescriptorType)},
        **{each.name: _field(each) for each in fields},
        "__module__": sys._getframe(1).f_globals["__name__"] if name else cls.__module__,
        "__qualname__": name or cls.__qualname__,
        "__annotations__": {each.name: hints[each.name] for each in fields},
    }
    make: Any = TensorClassMeta  # its signature is that of class statements, which say their flags one by one
    return cast("type[TensorClass]", make(name or cls.__name__, (TensorClass,), namespace, **flags))


def _refuse(cls: type, field: dataclasses.Field[Any], hint: object) -> None:
    """Refuse a field that holds a dataclass, which may hold tensors, or that is not an argument of the constructor."""
    where = f"from_dataclass: {cls.__name__}.{field.name}"
    if not field.init:
        raise TypeError(f"{where}: a field with init=False cannot be one of a TensorClass; compute it in __post_init__")
    for member in (hint, *typing.get_args(hint)):
        if isinstance(member, type) and dataclasses.is_dataclass(member) and not issubclass(member, TensorClass):
            raise TypeError(
                f"{where}: {member.__name__} is a dataclass, and would be stored as a Python value; convert it first, and "
                "annotate the field with the TensorClass"
            )


def _field(field: dataclasses.Field[Any]) -> Field:
    factory = None if field.default_factory is dataclasses.MISSING else field.default_factory
    return Field(field.default, factory, bool(field.kw_only))
