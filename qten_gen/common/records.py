"""Dataclasses that are quick to define and to make.

A frozen dataclass has six methods compiled for it, and importing `dataclasses` loads all that inspects Python's own code. For the
eighty records of the generator, that was a fifth of an edit. Here the methods are shared, and the constructor is compiled when a
record is first made. Checkers see `dataclasses`, so they refuse to assign to a field of a frozen one. At run time, nothing has to
prevent that. The functions of `dataclasses` take these classes, too.
"""

from __future__ import annotations

from operator import attrgetter

__all__ = ["MISSING", "field", "fields", "is_record", "record", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import MISSING, field, fields, replace
    from dataclasses import dataclass as record
    from typing import TypeGuard

    from _typeshed import DataclassInstance
else:

    class MISSING:
        """Stands for the default of a field that has none."""

    def field(
        *, default: object = MISSING, default_factory: object = MISSING, compare: bool = True, repr: bool = True
    ) -> _Field:
        """Like `dataclasses.field`."""
        return _Field(default, default_factory, compare, repr)

    def fields(of: object) -> tuple[_Field, ...]:
        """Like `dataclasses.fields`, for a record or a class of records."""
        return of.__record__

    def replace(value: object, /, **changes: object) -> object:
        """Like `dataclasses.replace`."""
        kept = {name: getattr(value, name) for name in value.__match_args__ if name not in changes}
        return value.__class__(**kept, **changes)

    def record(*, slots: bool, frozen: bool = False) -> Callable[[type], type]:
        """A decorator like `dataclasses.dataclass`, for classes with slots that have no base."""
        assert slots

        def decorated(cls: type) -> type:
            found = tuple([_field_of(cls, name) for name in cls.__annotations__])
            names = tuple([each.name for each in found])
            left_out = {*names, "__dict__", "__weakref__"}
            body = {name: value for name, value in cls.__dict__.items() if name not in left_out}
            described = {"__record__": found, "__match_args__": names, "__dataclass_fields__": _DataclassFields()}
            made = {**_methods(found), **body, **described, "__qualname__": cls.__qualname__, "__slots__": names}
            return type(cls.__name__, (), made)

        return decorated

    class _DataclassFields:
        """The fields as `dataclasses` has them, made when something asks for them."""

        def __get__(self, _: object, cls: type) -> dict[str, object]:
            import dataclasses

            found = []
            for each in fields(cls):
                known = {name: getattr(each, name) for name in ("default", "default_factory", "compare", "repr")}
                given = {name: value for name, value in known.items() if value is not MISSING}
                found.append((each.name, cls.__annotations__[each.name], dataclasses.field(**given)))
            cls.__dataclass_fields__ = dataclasses.make_dataclass(cls.__name__, found).__dataclass_fields__
            return cls.__dataclass_fields__


class _Field:
    """A field of a record."""

    __slots__ = ("compare", "default", "default_factory", "name", "repr")

    def __init__(self, default: object, default_factory: object, compare: bool, repr: bool) -> None:
        self.name = ""
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


def _field_of(cls: type, name: str) -> _Field:
    given = cls.__dict__.get(name, MISSING)
    found = given if isinstance(given, _Field) else _Field(given, MISSING, compare=True, repr=True)
    found.name = name
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
    for each in found:
        name, given = each.name, each.name
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
