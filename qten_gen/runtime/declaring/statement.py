"""A class statement that runs, for the reader here and for the generator's: names, namespace, flags, ancestors and values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING
from dataclasses import Field as DataclassField
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...common import language
from ...common.class_body import class_annotations
from ...common.fingerprint_rows import DATACLASS_FIELD_DEFAULTS, RecordedCall, recorded_call
from .class_scope import Scope
from .declared_class import DeclaredClass, declared_bases
from .fields import Const, Default, Field

if TYPE_CHECKING:
    from .declared_class import Summary


class Body(NamedTuple):
    """A class statement that runs."""

    name: str
    bases: tuple[type, ...]
    namespace: Mapping[str, object]
    """The bindings of the body, without its checks."""
    annotations: Mapping[str, object]
    flags: frozenset[str]
    """The class flags that are on, unknown ones included."""
    options: Mapping[str, object]
    """Other keywords of TensorClass or Module: `{"checks": "off"}`."""
    passed: Mapping[str, object]
    """The keywords for the `__init_subclass__` of a base: `{"tag": "x"}`."""
    checks: tuple[RecordedCall, ...]
    scope: Scope
    is_declared_later: Callable[[str], bool]
    """Tells whether a qualified name that means nothing yet is a TensorClass, as the generated class says."""

    @classmethod
    def of(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: Mapping[str, object],
        keywords: Mapping[str, object],
        known: tuple[Collection[str], Collection[str]],
        scope: Scope,
        is_declared_later: Callable[[str], bool],
    ) -> Body:
        """The record of a class statement with this namespace. `known` are the flags and the options of its root class.

        Raises:
            TypeError: a flag is not a bool.
        """
        kept = _with_own_fields({name: value for name, value in namespace.items() if name != language.CHECKS})
        flags, options = ({name: keywords[name] for name in keywords if name in kind} for kind in known)
        return cls(
            name,
            bases,
            kept,
            class_annotations(namespace),
            _flags(namespace, flags),
            options,
            {name: value for name, value in keywords.items() if name not in flags and name not in options},
            tuple(getattr(namespace.get(language.CHECKS), "calls", ())),
            scope,
            is_declared_later,
        )

    @property
    def module(self) -> str:
        """The `__module__` of the class."""
        return str(self.namespace["__module__"])

    @property
    def qualname(self) -> str:
        """Its name with the classes and functions around it."""
        return str(self.namespace["__qualname__"])

    @property
    def qualified(self) -> str:
        """Module and qualified name of the class."""
        return f"{self.module}.{self.qualname}"


def is_nestable(value: object) -> bool:
    """Return whether an annotation names a class whose objects fields can hold: a TensorClass, but not the root itself."""
    return isinstance(value, DeclaredClass) and type(value)._nests and hasattr(value, "_declared_as")


def _flags(namespace: Mapping[str, object], flags: Mapping[str, object]) -> frozenset[str]:
    """The class flags that are on, from `TensorClass["frozen"]` and `frozen=True`; unknown ones are kept for the rules.

    Raises:
        TypeError: a flag is not a bool.
    """
    for name, on in flags.items():
        if not isinstance(on, bool):
            raise TypeError(f"the flag {name!r} must be a bool, got {on!r}")
    given = dict(flags)
    for base in cast("tuple[object, ...]", namespace.get("__orig_bases__", ())):
        given.update(dict.fromkeys(getattr(base, "flags", ()), True))
    return frozenset(flag for flag, on in given.items() if on or flag not in language.FLAGS)


def mixins_of(bases: tuple[type, ...]) -> tuple[tuple[type, bool], ...]:
    """The ancestors that are neither declared nor of a library that declarations build on, nearest first."""
    found: dict[type, bool] = {}
    is_first = True
    for base in bases:
        is_first = is_first and not isinstance(base, DeclaredClass)
        for ancestor in base.__mro__:
            if not isinstance(ancestor, DeclaredClass) and ancestor.__module__.partition(".")[0] not in _LIBRARIES:
                found.setdefault(ancestor, is_first)
    # A generated class is an ordinary class of a module of the user's.
    return tuple((cls, first) for cls, first in found.items() if "_fingerprint" not in vars(cls))


_LIBRARIES = ("abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages whose classes are no mixins."""


def parents_of(bases: tuple[type, ...]) -> tuple[tuple[str, Summary], ...]:
    """The declared ancestors of a class that is not made yet, each with its qualified name, in the order of its MRO."""
    return tuple((qualified(parent), parent._declared_as) for parent in ancestors_of(bases))


def ancestors_of(bases: tuple[type, ...]) -> tuple[DeclaredClass, ...]:
    declared = declared_bases(bases)
    # All declared ancestors come from the declared bases, so that one base has them in their order.
    ancestors = declared[0].__mro__ if len(declared) == 1 else _order(bases)
    return tuple(cast("DeclaredClass", ancestor) for ancestor in ancestors if "_declared_as" in vars(ancestor))


def qualified(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _order(bases: tuple[type, ...]) -> tuple[type, ...]:
    """The MRO that a class with these bases will have, itself left out."""
    # Worked out here: to make a class for its MRO would run the `__init_subclass__` of the bases.
    waiting = [*([*base.__mro__] for base in bases), [*bases]]
    order: list[type] = []
    while waiting := [ancestors for ancestors in waiting if ancestors]:
        later = {ancestor for ancestors in waiting for ancestor in ancestors[1:]}
        first = next((ancestors[0] for ancestors in waiting if ancestors[0] not in later), None)
        if first is None:
            # The bases cannot be combined, which a rule says in better words.
            return tuple(dict.fromkeys(ancestor for base in bases for ancestor in base.__mro__))
        order.append(first)
        waiting = [ancestors[ancestors[0] is first :] for ancestors in waiting]
    return tuple(order)


def _with_own_fields(namespace: dict[str, object]) -> dict[str, object]:
    """A class namespace in which `dataclasses.field(...)` is `field(...)`."""
    return {name: _own_field(value) if type(value) is DataclassField else value for name, value in namespace.items()}


def _own_field(given: DataclassField[object]) -> Field:
    """The record of a `dataclasses.field(...)`."""
    factory = None if given.default_factory is MISSING else given.default_factory
    unknown = [
        (name, value)
        for name, usual in DATACLASS_FIELD_DEFAULTS.items()
        # The metadata of a field that got none is an empty mapping; `hash=False` is not the usual None.
        if name and (value := getattr(given, name)) != usual and (usual is not None or value is False or value)
    ]
    return Field(given.default, factory, given.kw_only is True, tuple(unknown))


_KEPT = language.SPECIFIERS - {language.FIELD} | {language.VIRTUAL}
"""The specifiers whose records a class keeps."""


class Values(NamedTuple):
    """Defaults by field name, and specifier records by field name."""

    defaults: dict[str, Default]
    specifiers: dict[str, object]
    bare: tuple[str, ...] = ()
    """Fields given by `field()` without a default."""

    def get(self, key: str) -> object:
        """The value of `split`, `scale.initializer`, `norm.cls`, `norm.args.0` or `norm.kwargs.bias`; None if there is none."""
        if "." in key:
            return value_at(self.specifiers, key)
        default = self.defaults.get(key)
        return None if default is None else default.value


def value_at(specifiers: Mapping[str, object], path: str) -> Any:  # whatever the declaration gives
    """The object at a path in records of specifiers: `scale.initializer`, `norm.args.0`; None for nothing."""
    name, *steps = path.split(".")
    found = specifiers.get(name)
    for step in steps:
        found = _item(found, step)
    return found.value if isinstance(found, Const) else found


def values_of(body: Body, summary: Summary) -> Values:
    """The values of the fields that the statement itself declares."""
    defaults: dict[str, Default] = {}
    records: dict[str, object] = {}
    bare: list[str] = []
    for name in (f.name for f in summary.fields if f.owner == body.qualified):
        match body.namespace.get(name, MISSING):
            case value if value is MISSING:
                pass
            # `const(...)` only says that a value is not an expression.
            case Const(value=value) | Field(default_factory=None, default=Const(value=value)):
                defaults[name] = Default(value)
            case Field(default_factory=None, default=value) if value is MISSING:
                bare.append(name)
            case Field(default_factory=None, default=value):
                defaults[name] = Default(value)
            case Field(default_factory=factory):
                defaults[name] = Default(factory, is_factory=True)
            case value if (call := recorded_call(value)) is not None and call.name in _KEPT:
                records[name] = value
            case value:
                defaults[name] = Default(value)
    return Values(defaults, records, tuple(bare))


def with_inherited(values: Values, summary: Summary, bases: tuple[type, ...]) -> Values:
    """The values of a statement, and of its declared bases for the fields that it has from them.

    A field that is declared anew, without a default or as something else, keeps nothing of what a base gave it.
    """
    defaults: dict[str, Default] = {}
    specifiers: dict[str, object] = {}
    owners = {field.name: field.owner for field in summary.fields}
    for base in reversed(declared_bases(bases)):
        declared: Summary | None = getattr(base, "_declared_as", None)
        if declared is None:
            continue  # TensorClass or Module itself
        kept = {field.name for field in declared.fields if owners.get(field.name) == field.owner}
        defaults |= {name: value for name, value in base._defaults.items() if name in kept}
        specifiers |= {name: value for name, value in base._specifiers.items() if name in kept}
    return Values(defaults | values.defaults, specifiers | values.specifiers)


def _item(holder: object, name: str) -> object:
    if isinstance(holder, Mapping):
        return holder.get(name)
    # A record is a tuple too, and its parts have names.
    if isinstance(holder, tuple) and name.isdecimal():
        return holder[int(name)]
    found: object = getattr(holder, name, None)
    return found
