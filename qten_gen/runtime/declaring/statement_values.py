"""The objects that a class statement gives its fields, which a declaration has as text only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, NamedTuple

from ...common import language
from ...common.fingerprint_rows import recorded_call
from .declared_class import declared_bases
from .fields import Const, Default, Field

if TYPE_CHECKING:
    from .kept_facts import Summary
    from .statement import Body


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
    """The values of a statement, and those of its declared bases for the fields that it has from them.

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
