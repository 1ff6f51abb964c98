"""Dataclasses that are quick to define and to make.

A frozen dataclass has six methods compiled for it, and importing `dataclasses` loads all that inspects Python's own code. For the
eighty records of the generator, that was a fifth of an edit. Here the methods are shared, and the constructor is compiled when a
record is first made. Checkers see `dataclasses`, so they refuse to assign to a field of a frozen one. At run time, nothing has to
prevent that. The functions of `dataclasses` take these classes, too.
"""

from __future__ import annotations

from operator import attrgetter

__all__ = ["MISSING", "as_dict", "field", "fields", "is_record", "record", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import MISSING, field, fields, replace
    from dataclasses import dataclass as record
    from typing import Any, TypeGuard

    from _typeshed import DataclassInstance
else:

    class MISSING:
        """Stands for the default of a field that has none."""

    def field(
        *,
        default: object = MISSING,
        default_factory: object = MISSING,
        compare: bool = True,
        repr: bool = True,
        kw_only: bool = False,
    ) -> _Field:
        """Like `dataclasses.field`."""
        return _Field(default, default_factory, compare, repr, kw_only)

    def fields(of: object) -> tuple[_Field, ...]:
        """Like `dataclasses.fields`, for a record or a class of records."""
        return of.__record__

    def replace(value: object, /, **changes: object) -> object:
        """Like `dataclasses.replace`."""
        return value.__class__(**{**as_dict(value), **changes})

    def record(*, slots: bool, frozen: bool = False) -> Callable[[type], type]:
        """A decorator like `dataclasses.dataclass`, for classes with slots whose only base may be another record."""
        assert slots

        def decorated(cls: type) -> type:
            own = {name: _field_of(cls, name) for name in cls.__annotations__}
            found = (*getattr(cls, "__record__", ()), *own.values())
            positional = tuple([each.name for each in found if not each.kw_only])
            left_out = {*own, "__dict__", "__weakref__"}
            body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
            described = {"__record__": found, "__match_args__": positional, "__dataclass_fields__": _DataclassFields()}
            made = {**_methods(found), **body, **described, "__qualname__": cls.__qualname__, "__slots__": (*own,)}
            return type(cls.__name__, cls.__bases__, made)

        return decorated

    class _DataclassFields:
        """The fields as `dataclasses` has them, made when something asks for them."""

        def __get__(self, _: object, cls: type) -> dict[str, object]:
            import dataclasses

            found = []
            for each in fields(cls):
                given = {name: getattr(each, name) for name in each.__slots__ if getattr(each, name) is not MISSING}
                found.append((given.pop("name"), given.pop("type"), dataclasses.field(**given)))
            cls.__dataclass_fields__ = dataclasses.make_dataclass(cls.__name__, found).__dataclass_fields__
            return cls.__dataclass_fields__


class _Field:
    """A field of a record."""

    __slots__ = ("compare", "default", "default_factory", "kw_only", "name", "repr", "type")

    def __init__(self, default: object, default_factory: object, compare: bool, repr: bool, kw_only: bool) -> None:
        self.name = self.type = ""
        self.kw_only = kw_only
        self.default = default
        self.default_factory = default_factory
        self.compare = compare
        self.repr = repr


def is_record(value: object) -> TypeGuard[DataclassInstance]:
    """True if an object is a record, not a class of records.

    >>> is_record(record)
    False
    """
    return hasattr(value.__class__, "__record__")


def as_dict(value: DataclassInstance) -> dict[str, Any]:
    """The attributes of a record by name. Unlike `dataclasses.asdict`, it leaves records among them what they are."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _field_of(cls: type, name: str) -> _Field:
    given = cls.__dict__.get(name, MISSING)
    found = given if isinstance(given, _Field) else _Field(given, MISSING, compare=True, repr=True, kw_only=False)
    found.name, found.type = name, cls.__annotations__[name]
    return found


def _methods(found: tuple[_Field, ...]) -> dict[str, Callable[..., object]]:
    """The methods of a record, which differ from class to class only in the fields."""
    compared = [each.name for each in found if each.compare]
    shown = [each.name for each in found if each.repr]
    values: Callable[[object], object] = attrgetter(*compared) if compared else lambda _: ()

    def __init__(self: object, *given: object, **named: object) -> None:
        made = _constructor(found)
        self.__class__.__init__ = made  # type: ignore[method-assign] # from now on
        made(self, *given, **named)

    def __eq__(self: object, other: object) -> object:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(values(self))

    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return {"__init__": __init__, "__eq__": __eq__, "__hash__": __hash__, "__repr__": __repr__}


def _constructor(found: tuple[_Field, ...]) -> Callable[..., None]:
    """The `__init__` that assigns its arguments, or else what the fields have as defaults."""
    namespace: dict[str, object] = {"MISSING": MISSING}
    parameters, lines = ["self"], []
    for each in sorted(found, key=lambda each: each.kw_only):
        name, given = each.name, each.name
        if each.kw_only and "*" not in parameters:
            parameters.append("*")
        if each.default_factory is not MISSING:
            namespace[f"default_{name}"] = each.default_factory
            given = f"default_{name}() if {name} is MISSING else {name}"
            parameters.append(f"{name}=MISSING")
        elif each.default is not MISSING:
            namespace[f"default_{name}"] = each.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"\n self.{name} = {given}")
    exec(f"def __init__({', '.join(parameters)}):{''.join(lines) or ' pass'}", namespace)
    made: Callable[..., None] = namespace["__init__"]  # type: ignore[assignment] # the text says what it is
    return made
