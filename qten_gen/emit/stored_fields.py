"""The lines that a field of a TensorClass has in its generated class, one for each primitive of the template.

What a line says depends on the field's kind alone, so there is one function for each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..model import FieldDecl, FieldKind, TensorClassDecl, declares, storage
from . import layout, spelling
from .nested_names import NestedNames, qualified_name


@dataclass(frozen=True, slots=True)
class Lines:
    """The line of a field in each primitive. An empty string leaves the field out."""

    fits: str
    """The condition under which the constructor hands a value to the runtime for conversion or refusal."""
    fit: str
    set: str
    """What the setter stores for `value`, of an object that is not locked."""
    map: str
    map_with: str
    rearrange: str
    zip: str
    put: str
    join: str
    pieces: str
    """What gives one piece for each part."""
    leaf: str
    leaf_if: str
    """The statement that adds the leaves of a value that may be None."""
    requires_grad: str
    """Whether a tensor of it requires a gradient."""
    item: str
    match: str
    """The statement that refuses another object's value where both have to be alike."""
    set_checked: str = ""
    """The same for the usual kind of field, where one call also refuses to change a locked object."""


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field as the template sets it out."""

    name: str
    storage: str
    type: str
    doc: str
    own: bool
    static: bool
    """Whether it stands among the static values of `_field_values`."""
    plain: bool
    """Whether it is one tensor that carries the batch."""
    stored: str
    """What `_fill` puts into the slot."""
    lines: Lines


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How the text of one class writes a field and what stands around it."""

    field: FieldDecl
    at: str
    """The private attribute that holds it."""
    nested: str
    """The global that holds the class of a nested field."""
    isinstance: str
    len: str
    n: str
    """The constructor's variable for the number of batch dimensions."""
    guard: str | None
    """What the constructor asks of the shape where an annotation says one; None for others."""

    @property
    def mine(self) -> str:
        return f"self.{self.at}"

    @property
    def column(self) -> str:
        return f"[item.{self.at} for item in items]"

    def or_none(self, name: str) -> Callable[[str], str]:
        """Guards an expression by `None if name is None` where the field may be None."""
        guard = f"None if {name} is None else " if self.field.optional else ""
        return lambda expression: f"{guard}{expression}"

    def and_not_none(self, condition: str) -> str:
        """A condition on what the field holds that is false where it holds None."""
        return f"({self.mine} is not None and {condition})" if self.field.optional else condition

    def unless_none(self, condition: str, name: str = "") -> str:
        """A condition that holds for values that are not None only."""
        return f"{name or self.field.name} is not None and ({condition})" if self.field.optional else condition

    def unlike_tensor(self, guard: str) -> str:
        """The condition under which a value is no tensor to store as it is; `guard` asks for its shape if no annotation does."""
        asked = guard if self.guard is None else self.guard
        middle = f" or {asked}" if asked else ""
        return f"not {self.isinstance}({self.field.name}, _Tensor){middle} or device is not None"

    def call(self, function: str, arguments: str) -> str:
        """A call of the runtime, which is told whose field it is."""
        return f'_rt.{function}(self, "{self.field.name}", {arguments})'


def stored_field(
    field: FieldDecl,
    declaration: TensorClassDecl,
    names: NestedNames,
    builtin: Mapping[str, str],
    n: str,
    guard: str | None,
) -> StoredField:
    """A field of a declaration. `builtin` and `n` are how the text writes these names, `guard` is for the shape."""
    nested = names[qualified_name(field)] if field.kind is FieldKind.NESTED else ""
    at = _Spelling(field, storage(field.name), nested, builtin["isinstance"], builtin["len"], n, guard)
    return StoredField(
        name=field.name,
        storage=at.at,
        type=spelling.field_type(field, names),
        doc=layout.docstring(spelling.field_doc(field), 8),
        own=declares(declaration, field),
        static=field.kind in (FieldKind.STATIC, FieldKind.PER_ITEM),
        plain=field.kind in (FieldKind.TENSOR, FieldKind.NUMBER)
        and not (field.optional or field.unbatched or field.container),
        stored=f"_rt.frozen_view({field.name})" if nested and declaration.frozen else field.name,
        lines=_lines(at),
    )


def _lines(at: _Spelling) -> Lines:
    match at.field.kind:
        case FieldKind.NESTED:
            return _nested(at)
        case FieldKind.STATIC:
            return _static(at)
        case FieldKind.PER_ITEM:
            return _per_item(at)
    if at.field.container is not None:
        return _tensors(at)
    return _unbatched(at) if at.field.unbatched else _tensor(at)


def _tensor(at: _Spelling) -> Lines:
    """A tensor that carries the batch, or a number that becomes one."""
    name, mine, or_none = at.field.name, at.mine, at.or_none(at.mine)
    check = "number" if at.field.kind is FieldKind.NUMBER else "tensor" if at.guard is None else "shaped"
    fitting = at.call(check, "value, self._batch_size, self._device")
    set_ = fitting if at.guard is None else at.call("fitting", f"value, {mine}")
    optional = at.field.optional
    return Lines(
        fits=at.unless_none(at.unlike_tensor(f"{name}.shape[:{at.n}] != batch_size")),
        fit=at.call(check, f"{name}, batch_size, device"),
        set=at.or_none("value")(set_),
        map=or_none(f"fn({mine})"),
        map_with=or_none(f"fn({mine}, argument)"),
        rearrange=or_none(f"fn({mine}, argument)"),
        zip=at.call("zip_optional", f"fn, {mine}, other.{at.at}") if optional else f"fn({mine}, other.{at.at})",
        put=at.call("put_optional", f"{mine}, index, value.{at.at}") if optional else f"{mine}[index] = value.{at.at}",
        join=at.call("join_optional", f"fn, {at.column}") if optional else f"fn({at.column})",
        pieces=f"_rt.part_optional(fn, {mine}, argument, batch_sizes)" if optional else f"fn({mine}, argument)",
        leaf=mine,
        leaf_if=f"leaves.append({mine})" if optional else "",
        requires_grad=at.and_not_none(f"{mine}.requires_grad"),
        item=f'"{name}": {mine}',
        match=at.call("match_optional", f"{mine}, other.{at.at}") if optional else "",
        set_checked="" if optional or check != "tensor" else at.call("checked_tensor", "value"),
    )


def _unbatched(at: _Spelling) -> Lines:
    """A tensor that the batch does not carry: of any shape, and the same for all items."""
    name, mine, or_none = at.field.name, at.mine, at.or_none(at.mine)
    optional, is_shaped = at.field.optional, at.guard is not None
    fit = at.call("shaped", f"{name}, batch_size, device") if is_shaped else at.call("unbatched", f"{name}, device")
    set_ = at.call("fitting", f"value, {mine}") if is_shaped else at.call("unbatched", "value, self._device")
    return Lines(
        fits=at.unless_none(at.unlike_tensor("")),
        fit=fit,
        set=at.or_none("value")(set_),
        map=or_none(f"fn({mine})"),
        map_with=or_none(f"fn({mine}, argument)"),
        rearrange=mine,
        zip=at.call("zip_optional", f"fn, {mine}, other.{at.at}") if optional else f"fn({mine}, other.{at.at})",
        put="",
        join=at.call("same_tensor", at.column),
        pieces=f"_repeat({mine})",
        leaf=mine,
        leaf_if=f"leaves.append({mine})" if optional else "",
        requires_grad=at.and_not_none(f"{mine}.requires_grad"),
        item=f'"{name}": {mine}',
        match=at.call("same_tensor", f"[{mine}, other.{at.at}]"),
    )


def _tensors(at: _Spelling) -> Lines:
    """A dict or a list of tensors, which carry the batch or do not."""
    name, mine, or_none, column = at.field.name, at.mine, at.or_none(at.mine), at.column
    is_dict, optional, unbatched = at.field.container == "dict", at.field.optional, at.field.unbatched
    check = f"tensor_{at.field.container}"

    def each(call: str) -> str:
        one = f"{{key: {call} for key, tensor in {mine}.items()}}" if is_dict else f"[{call} for tensor in {mine}]"
        return or_none(one)

    every = f"{mine}.values()" if is_dict else mine
    size, own_size = ("None", "None") if unbatched else ("batch_size", "self._batch_size")
    both = f"[{mine}, other.{at.at}]"
    return Lines(
        fits=f"{name} is not None" if optional else "True",
        fit=at.call(check, f"{name}, {size}, device"),
        set=at.or_none("value")(at.call(check, f"value, {own_size}, self._device")),
        map=each("fn(tensor)"),
        map_with=each("fn(tensor, argument)"),
        rearrange=mine if unbatched else each("fn(tensor, argument)"),
        zip=at.call("zip_tensors", f"fn, {mine}, other.{at.at}"),
        put="" if unbatched else at.call("put_tensors", f"{mine}, index, value.{at.at}"),
        requires_grad=at.and_not_none(f"any(tensor.requires_grad for tensor in {every})"),
        item=f'"{name}": {or_none(f"{{**{mine}}}" if is_dict else f"[*{mine}]")}',
        match=at.call("same_tensors", both) if unbatched else at.call("match_tensors", f"{mine}, other.{at.at}"),
        join=at.call("same_tensors", column) if unbatched else at.call("join_tensors", f"fn, {column}"),
        pieces=f"_repeat({mine})" if unbatched else f"_rt.part_tensors(fn, {mine}, argument, batch_sizes)",
        leaf=f"*{every}",
        leaf_if=f"leaves.extend({every})" if optional else "",
    )


def _nested(at: _Spelling) -> Lines:
    """Another TensorClass, whose batch size starts with this one's."""
    name, mine, or_none = at.field.name, at.mine, at.or_none(at.mine)
    wrong = (
        f"not {at.isinstance}({name}, {at.nested}) or {name}._batch_size[:{at.n}] != batch_size or device is not None"
    )
    rest = f"{mine}._batch_size[n:]"
    return Lines(
        fits=at.unless_none(wrong),
        fit=at.call("nested", f"{at.nested}, {name}, batch_size, device"),
        set=at.or_none("value")(at.call("nested", f"{at.nested}, value, self._batch_size, self._device")),
        map=or_none(f"{mine}._map(fn)"),
        map_with=or_none(f"{mine}._map_with(fn, argument, device or {mine}._device)"),
        rearrange=or_none(f"{mine}._rearrange(fn, argument, batch_size + {rest})"),
        zip=at.call("zip_nested", f"fn, {mine}, other.{at.at}"),
        put=at.call("put_nested", f"{mine}, index, value.{at.at}"),
        join=at.call("join_nested", f"fn, {at.column}, batch_size"),
        pieces=f"_rt.part_nested(self, fn, {mine}, argument, batch_sizes)",
        leaf=f"*{mine}._leaves()",
        leaf_if=f"leaves.extend({mine}._leaves())" if at.field.optional else "",
        requires_grad=at.and_not_none(f"{mine}._requires_grad()"),
        item=f'"{name}": {or_none(f"{mine}._to_dict()")}',
        match=at.call("match_nested", f"{mine}, other.{at.at}"),
    )


def _static(at: _Spelling) -> Lines:
    """A Python value that is the same for the whole batch."""
    name, mine, cast = at.field.name, at.mine, at.field.cast
    return Lines(
        fits=("True" if not at.field.optional else f"{name} is not None") if cast else "",
        fit=at.call("cast", f'"{cast}", {name}') if cast else "",
        set=at.or_none("value")(at.call("cast", f'"{cast}", value')) if cast else "value",
        map=mine,
        map_with=mine,
        rearrange=mine,
        zip=mine,
        put="",
        join=at.call("same", at.column),
        pieces=f"_repeat({mine})",
        leaf="",
        leaf_if="",
        requires_grad="",
        item=f'"{name}": {mine}',
        match=at.call("same", f"[{mine}, other.{at.at}]"),
    )


def _per_item(at: _Spelling) -> Lines:
    """Python values, one for each item of the batch."""
    name, mine, or_none = at.field.name, at.mine, at.or_none(at.mine)
    return Lines(
        fits=f"{name} is not None" if at.field.optional else "True",
        fit=at.call("per_item", f"{name}, batch_size"),
        set=at.or_none("value")(at.call("per_item", "value, self._batch_size")),
        map=mine,
        map_with=mine,
        rearrange=or_none(at.call("rearrange_items", f"fn, {mine}, argument")),
        zip=mine,
        put=f"{mine} = {at.call('put_items', f'{mine}, index, value.{at.at}')}",
        join=at.call("join_items", f"fn, {at.column}"),
        pieces=at.call("part_items", f"fn, {mine}, argument, batch_sizes"),
        leaf="",
        leaf_if="",
        requires_grad="",
        item=f'"{name}": {mine}',
        match=at.call("match_optional", f"{mine}, other.{at.at}") if at.field.optional else "",
    )
