"""The dataclass protocol: what `dataclasses.fields`, `asdict` and `replace` look for."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..declaring.fields import Default


def dataclass_fields(
    annotations: Mapping[str, object], defaults: Mapping[str, Default], keyword_only: Collection[str]
) -> dict[str, dataclasses.Field[object]]:
    """A `__dataclass_fields__` for `dataclasses.fields`, `asdict` and `replace`.

    `batch_size`, `device` and `names` are in it as pseudo-fields of the kind `InitVar`: `replace` passes them on to the
    constructor, and the other functions leave them out.
    """
    made = {name: _field(name, type_, defaults.get(name), name in keyword_only) for name, type_ in annotations.items()}
    for name in ("batch_size", "device", "names"):
        made[name] = _field(name, dataclasses.InitVar[object], None, True)
        made[name].default = None
        _set_kind(made[name], "_FIELD_INITVAR")
    return made


class DataclassParams(NamedTuple):
    """A `__dataclass_params__`, which `pprint` and others read: no method of a TensorClass was written by `dataclass`."""

    frozen: bool
    init: bool = False
    repr: bool = False
    eq: bool = False
    order: bool = False
    unsafe_hash: bool = False
    match_args: bool = False
    kw_only: bool = False
    slots: bool = False
    weakref_slot: bool = False


def _field(name: str, type_: object, default: Default | None, is_keyword_only: bool) -> dataclasses.Field[object]:
    """The `dataclasses.Field` for one field; `dataclasses.field` itself leaves out name, type and kind."""
    made: dataclasses.Field[object]
    if default is None:
        made = dataclasses.field()
    elif default.is_factory:
        made = dataclasses.field(default_factory=default.value)  # type: ignore[call-overload] # a factory is callable
    else:
        made = dataclasses.field()
        made.default = default.value
    made.name = name
    made.type = type_
    made.kw_only = is_keyword_only
    _set_kind(made, "_FIELD")
    return made


def _set_kind(made: dataclasses.Field[object], kind: str) -> None:
    """`dataclasses` tells real fields from pseudo-fields by a private attribute, which only its decorator sets."""
    setattr(made, "_field_type", getattr(dataclasses, kind))  # noqa: B010 # the attribute is not in the typeshed
