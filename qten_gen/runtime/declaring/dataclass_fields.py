"""Takes `dataclasses.field(...)` in a declaration for `field(...)`."""

from __future__ import annotations

from dataclasses import MISSING
from dataclasses import Field as DataclassField

from ...common.specifier_records import DATACLASS_FIELD_DEFAULTS
from .fields import Field


def with_own_fields(namespace: dict[str, object]) -> dict[str, object]:
    """A class namespace in which `dataclasses.field(...)` is `field(...)`."""
    given = {name: value for name, value in namespace.items() if type(value) is DataclassField}
    return {**namespace, **{name: _own_field(value) for name, value in given.items()}} if given else namespace


def _own_field(given: DataclassField[object]) -> Field:
    """The record of a `dataclasses.field(...)`."""
    factory = None if given.default_factory is MISSING else given.default_factory
    unknown = [
        (name, value)
        for name, usual in DATACLASS_FIELD_DEFAULTS.items()
        if name and (value := getattr(given, name)) != usual and (usual is not None or value is False or value)
    ]
    return Field(given.default, factory, given.kw_only is True, tuple(unknown))
