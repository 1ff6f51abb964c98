"""The lines that a field of a TensorClass has in its generated class, one for each primitive of the template.

What a line says depends on the field's kind alone, so there is one function for each kind.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..common.naming import storage
from ..model import FieldDecl, FieldKind, TensorClassDecl, declares
from . import layout, spelling
from .names import Builtins, NestedNames, qualified_name

_REPEAT = ("_repeat",)
_FEATURES = ("_features",)
_PLAIN = {f"builtins.{name}": name for name in ("bool", "bytes", "complex", "float", "int", "str")}
"""Annotations whose values need no check: comparing with one type is faster than looking for it in a set."""


class PrimitiveCode(NamedTuple):
    """The code for one field in the generated class: an expression for each primitive, if not a statement.

    An empty string leaves the field out.
    """

    fit_if: str
    """The condition under which the constructor hands a value to the runtime for conversion or refusal."""
    fit: str
    """The expression that the constructor stores then."""
    set: str
    """The expression that the setter of an unlocked object stores for `value`; empty where the runtime's property checks it."""
    map: str
    """The expression that `_map` stores: `fn` of each tensor."""
    map_with: str
    """The expression that `_map_with` stores: `fn` of each tensor and the argument, for objects of the same batch size."""
    rearrange: str
    """The expression that `_rearrange` stores: the same for an object of another batch size."""
    zip: str
    """The expression that `_zip` stores: `fn` of each tensor and of the same one of another object."""
    put: str
    """The statement of `_index_put`, which writes another object's value at an index."""
    join: str
    """The expression that `_join` stores: `fn` of the tensors of several objects."""
    pieces: str
    """The iterable that `_split` goes through: one value for each part."""
    leaf: str
    """The expression for its tensors in the list that `_leaves` returns."""
    leaf_if: str
    """The statement that adds the leaves of a value that may be None."""
    item: str
    """Its key and value in the dict that `_to_dict` returns."""
    match: str
    """The statement that refuses another object's value where both have to be alike."""
    imports: tuple[str, ...] = ()
    """The names of `names.IMPORTS` that these lines use."""


class StoredField(NamedTuple):
    """A field as the template sets it out."""

    name: str
    storage: str
    """The private attribute that holds its value."""
    type: str
    """Its annotation, in the constructor and in its property."""
    doc: str
    """The docstring of its property."""
    property: str
    """The assignment of its property, where the runtime has one for its kind; empty where it is written out."""
    own: bool
    """True if the class declares it itself, and so has its property."""
    static: bool
    """True if it stands among the static values of `_field_values`."""
    plain: bool
    """True if it is one tensor that carries the batch."""
    stored: str
    """The expression that `_fill` puts into the slot."""
    lines: PrimitiveCode


class _FieldCode(NamedTuple):
    """A field in the code of its class: the names there, and the expressions that several kinds of field share."""

    field: FieldDecl
    storage: str
    """The private attribute that holds it."""
    nested: str
    """The global that holds the class of a nested field."""
    builtins: Builtins
    n: str
    """The constructor's variable for the number of batch dimensions."""
    guard: str | None
    """The constructor's condition on the shape where an annotation says one; None for others."""

    @property
    def of_self(self) -> str:
        """The value of this object."""
        return f"self.{self.storage}"

    @property
    def of_other(self) -> str:
        """The value of another object."""
        return f"other.{self.storage}"

    @property
    def of_items(self) -> str:
        """The values of several objects."""
        return f"[item.{self.storage} for item in items]"

    def none_or(self, expression: str, name: str = "") -> str:
        """An expression for values that are not None; None stays None. `name` is what may be None, if not `of_self`."""
        return (
            f"None if {name or f'self.{self.storage}'} is None else {expression}" if self.field.optional else expression
        )

    @property
    def given(self) -> str:
        """The condition that an argument of the constructor is not None: `True` where it cannot be."""
        return f"{self.field.name} is not None" if self.field.optional else "True"

    def given_and(self, condition: str) -> str:
        """A condition on an argument of the constructor that is false where the argument is None."""
        return f"{self.field.name} is not None and ({condition})" if self.field.optional else condition

    def not_a_tensor_or(self, wrong_shape: str) -> str:
        """The condition under which a value cannot be stored as it is; an annotation's own guard goes before `wrong_shape`."""
        asked = wrong_shape if self.guard is None else self.guard
        middle = f" or {asked}" if asked else ""
        return f"{self.builtins.name('type')}({self.field.name}) is not _Tensor{middle} or device is not None"

    def call(self, function: str, arguments: str) -> str:
        """A call of the runtime's kernel, with the object and the name of the field."""
        return f'_rt.{function}(self, "{self.field.name}", {arguments})'

    def feature(self, function: str, arguments: str) -> str:
        """The same for a function that few kinds of field need; its lines import `_FEATURES`."""
        return f'_features.{function}(self, "{self.field.name}", {arguments})'


def stored_field(
    field: FieldDecl,
    declaration: TensorClassDecl,
    names: NestedNames,
    builtins: Builtins,
    n: str,
    guard: str | None,
    variables: Collection[str] = (),
) -> StoredField:
    """A field of a declaration.

    `names` has the globals that hold the classes of nested fields, `builtins` and `n` are how the text writes these names, and
    `guard` is what the constructor asks of the shape, None where no annotation says one.
    """
    nested = names[qualified_name(field)] if field.nested is not None else ""
    code = _FieldCode(field, storage(field.name), nested, builtins, n, guard)
    lines = _lines(code, declaration.checks == "on")
    return StoredField(
        name=field.name,
        storage=code.storage,
        type=spelling.field_type(field, declaration.module, names, builtins, variables),
        doc=layout.docstring(spelling.field_doc(field), 8),
        property=_property(code, "frozen_property" if declaration.frozen else "" if lines.set else "tensor_property"),
        own=declares(declaration, field),
        static=field.kind.is_static,
        plain=field.kind in (FieldKind.TENSOR, FieldKind.NUMBER)
        and not (field.optional or field.unbatched or field.container),
        stored=f"_rt.frozen_view({field.name})"
        if declaration.frozen and field.kind in (FieldKind.NESTED, FieldKind.RAGGED)
        else field.name,
        lines=lines,
    )


def _property(code: _FieldCode, kind: str) -> str:
    """The assignment of a property that the runtime has."""
    name, doc = code.field.name, layout.doc_argument(spelling.field_doc(code.field), 4)
    arguments = [f'"{name}"', f"lambda self: self.{code.storage}", doc]
    return layout.bracketed(f"{name} = _rt.{kind}(", arguments, ")", 4) if kind else ""


def _lines(code: _FieldCode, checks: bool) -> PrimitiveCode:
    """The lines of a field, as its kind has them. With `checks` its annotation is one that values have to fit."""
    match code.field.kind:
        case FieldKind.NESTED:
            return _nested(code)
        case FieldKind.RAGGED:
            return _ragged(code, checks)
        case FieldKind.STATIC:
            return _static(code)
        case FieldKind.PER_ITEM:
            return _per_item(code)
        case FieldKind.TENSOR | FieldKind.NUMBER:
            if code.field.container is not None:
                return _tensors(code)
            return _unbatched(code) if code.field.unbatched else _tensor(code)


def _tensor(code: _FieldCode) -> PrimitiveCode:
    """A tensor that carries the batch, or a number that becomes one."""
    name, of_self = code.field.name, code.of_self
    check, kind = ("number", f', "{code.field.cast}"') if code.field.kind is FieldKind.NUMBER else ("tensor", "")
    if code.guard is not None:
        fit, set_ = _shaped(code)
    else:
        fit = code.call(check, f"{name}, batch_size, device{kind}")
        set_ = code.call(check, f"value, self._batch_size, self._device{kind}")
    given, optional = f"value.{code.storage}", code.field.optional
    return PrimitiveCode(
        fit_if=code.given_and(code.not_a_tensor_or(f"{name}.shape[:{code.n}] != batch_size")),
        fit=fit,
        set=code.none_or(set_, "value") if optional or kind or code.guard is not None else "",
        map=code.none_or(f"fn({of_self})"),
        map_with=code.none_or(f"fn({of_self}, argument)"),
        rearrange=code.none_or(f"fn({of_self}, argument)"),
        zip=code.call("zip_optional", f"fn, {of_self}, {code.of_other}")
        if optional
        else f"fn({of_self}, {code.of_other})",
        put=code.call("put_optional", f"{of_self}, index, {given}") if optional else f"{of_self}[index] = {given}",
        join=code.call("join_optional", f"fn, {code.of_items}") if optional else f"fn({code.of_items})",
        pieces=f"_rt.part_optional(fn, {of_self}, argument, batch_sizes)" if optional else f"fn({of_self}, argument)",
        leaf=of_self,
        leaf_if=f"leaves.append({of_self})" if optional else "",
        item=f'"{name}": {of_self}',
        match=code.call("match_optional", f"{of_self}, {code.of_other}") if optional else "",
        imports=() if code.guard is None else _FEATURES,
    )


def _shaped(code: _FieldCode) -> tuple[str, str]:
    """The expressions that the constructor and the setter store where an annotation says the shape."""
    return (
        code.feature("shaped", f"{code.field.name}, batch_size, device"),
        code.feature("fitting", f"value, {code.of_self}"),
    )


def _unbatched(code: _FieldCode) -> PrimitiveCode:
    """A tensor that the batch does not carry: of any shape, and the same for all items."""
    name, of_self = code.field.name, code.of_self
    optional = code.field.optional
    if code.guard is not None:
        fit, set_ = _shaped(code)
    else:
        fit, set_ = code.feature("unbatched", f"{name}, device"), code.feature("unbatched", "value, self._device")
    return PrimitiveCode(
        fit_if=code.given_and(code.not_a_tensor_or("")),
        fit=fit,
        set=code.none_or(set_, "value"),
        map=code.none_or(f"fn({of_self})"),
        map_with=code.none_or(f"fn({of_self}, argument)"),
        rearrange=of_self,
        zip=code.call("zip_optional", f"fn, {of_self}, {code.of_other}")
        if optional
        else f"fn({of_self}, {code.of_other})",
        put="",
        join=code.feature("same_tensor", code.of_items),
        pieces=f"_repeat({of_self})",
        leaf=of_self,
        leaf_if=f"leaves.append({of_self})" if optional else "",
        item=f'"{name}": {of_self}',
        match=code.feature("same_tensor", f"[{of_self}, {code.of_other}]"),
        imports=_REPEAT + _FEATURES,
    )


def _tensors(code: _FieldCode) -> PrimitiveCode:
    """A dict or a list of tensors, which carry the batch or do not."""
    name, of_self, of_items = code.field.name, code.of_self, code.of_items
    is_dict, optional, unbatched = code.field.container == "dict", code.field.optional, code.field.unbatched
    check = f"tensor_{code.field.container}"

    def each(call: str) -> str:
        one = (
            f"{{key: {call} for key, tensor in {of_self}.items()}}" if is_dict else f"[{call} for tensor in {of_self}]"
        )
        return code.none_or(one)

    every = f"{of_self}.values()" if is_dict else of_self
    size, own_size = ("None", "None") if unbatched else ("batch_size", "self._batch_size")
    both = f"[{of_self}, {code.of_other}]"
    return PrimitiveCode(
        fit_if=code.given,
        fit=code.feature(check, f"{name}, {size}, device"),
        set=code.none_or(code.feature(check, f"value, {own_size}, self._device"), "value"),
        map=each("fn(tensor)"),
        map_with=each("fn(tensor, argument)"),
        rearrange=of_self if unbatched else each("fn(tensor, argument)"),
        zip=code.feature("zip_tensors", f"fn, {of_self}, {code.of_other}"),
        put="" if unbatched else code.feature("put_tensors", f"{of_self}, index, value.{code.storage}"),
        item=f'"{name}": {code.none_or(f"{{**{of_self}}}" if is_dict else f"[*{of_self}]")}',
        match=code.feature("same_tensors", both)
        if unbatched
        else code.feature("match_tensors", f"{of_self}, {code.of_other}"),
        join=code.feature("same_tensors", of_items) if unbatched else code.feature("join_tensors", f"fn, {of_items}"),
        pieces=f"_repeat({of_self})" if unbatched else f"_features.part_tensors(fn, {of_self}, argument, batch_sizes)",
        leaf=f"*{every}",
        leaf_if=f"leaves.extend({every})" if optional else "",
        imports=_REPEAT + _FEATURES if unbatched else _FEATURES,
    )


def _nested(code: _FieldCode) -> PrimitiveCode:
    """Another TensorClass, whose batch size starts with this one's."""
    name = code.field.name
    wrong_type = f"not {code.builtins.name('isinstance')}({name}, {code.nested})"
    wrong_batch = f"{name}._batch_size[:{code.n}] != batch_size"
    return _of_objects(
        code,
        fit_if=code.given_and(f"{wrong_type} or {wrong_batch} or device is not None"),
        fit=code.call("nested", f"{code.nested}, {name}, batch_size, device"),
        set=code.none_or(code.call("nested", f"{code.nested}, value, self._batch_size, self._device"), "value"),
    )


def _of_objects(code: _FieldCode, fit_if: str, fit: str, set: str) -> PrimitiveCode:
    """The lines of a field whose value has primitives of its own; the rest says how it is stored."""
    name, of_self = code.field.name, code.of_self
    rest = f"{of_self}._batch_size[n:]"
    return PrimitiveCode(
        fit_if=fit_if,
        fit=fit,
        set=set,
        map=code.none_or(f"{of_self}._map(fn)"),
        # An owner without a device leaves each object its own.
        map_with=code.none_or(f"{of_self}._map_with(fn, argument, device or {of_self}._device)"),
        rearrange=code.none_or(f"{of_self}._rearrange(fn, argument, batch_size + {rest})"),
        zip=code.call("zip_nested", f"fn, {of_self}, {code.of_other}"),
        put=code.call("put_nested", f"{of_self}, index, value.{code.storage}"),
        join=code.call("join_nested", f"fn, {code.of_items}, batch_size"),
        pieces=f"_rt.part_nested(self, fn, {of_self}, argument, batch_sizes)",
        leaf=f"*{of_self}._leaves()",
        leaf_if=f"leaves.extend({of_self}._leaves())" if code.field.optional else "",
        item=f'"{name}": {code.none_or(f"{of_self}._to_dict()")}',
        match=code.call("match_nested", f"{of_self}, {code.of_other}"),
    )


def _ragged(code: _FieldCode, checks: bool) -> PrimitiveCode:
    """Items with different numbers of rows, which stand behind one another."""
    name, field, of_self = code.field.name, code.field, code.of_self
    shape = f', ("{field.dtype}", {layout.quoted_string(field.dims)})' if checks and field.dims is not None else ""

    def fitting(value: str, size: str, device: str) -> str:
        return code.feature("ragged", f"{code.nested or '_Tensor'}, {value}, {size}, {device}{shape}")

    objects = _of_objects(
        code,
        fit_if=code.given,
        fit=fitting(name, "batch_size", "device"),
        set=code.none_or(fitting("value", "self._batch_size", "self._device"), "value"),
    )
    return objects._replace(
        rearrange=code.feature("rearrange_ragged", f"fn, {of_self}, argument, batch_size"),
        zip=code.feature("zip_ragged", f"fn, {of_self}, {code.of_other}"),
        put=code.feature("put_ragged", f"{of_self}, index, value.{code.storage}"),
        join=code.feature("join_ragged", f"fn, {code.of_items}, batch_size"),
        pieces=code.feature("part_ragged", f"fn, {of_self}, argument, batch_sizes"),
        imports=_FEATURES,
    )


def _static(code: _FieldCode) -> PrimitiveCode:
    """A Python value that is the same for the whole batch."""
    name, of_self, cast = code.field.name, code.of_self, code.field.cast
    builtin = _PLAIN.get(code.field.type.name)
    wanted = "not in _rt.PLAIN" if builtin is None else f"is not {code.builtins.name(builtin)}"
    is_odd = f"{code.builtins.name('type')}({{}}) {wanted}".format
    return PrimitiveCode(
        fit_if=code.given if cast else is_odd(name),
        fit=code.call("cast_static", f'"{cast}", {name}') if cast else code.call("static", name),
        set=code.none_or(code.call("cast_static", f'"{cast}", value'), "value")
        if cast
        else f"{code.call('static', 'value')} if {is_odd('value')} else value",
        map=of_self,
        map_with=of_self,
        rearrange=of_self,
        zip=of_self,
        put="",
        join=code.call("same", code.of_items),
        pieces=f"_repeat({of_self})",
        leaf="",
        leaf_if="",
        item=f'"{name}": {of_self}',
        match=code.call("same", f"[{of_self}, {code.of_other}]"),
        imports=_REPEAT,
    )


def _per_item(code: _FieldCode) -> PrimitiveCode:
    """Python values, one for each item of the batch."""
    name, of_self = code.field.name, code.of_self
    return PrimitiveCode(
        fit_if=code.given,
        fit=code.feature("per_item", f"{name}, batch_size"),
        set=code.none_or(code.feature("per_item", "value, self._batch_size"), "value"),
        map=of_self,
        map_with=of_self,
        rearrange=code.none_or(code.feature("rearrange_items", f"fn, {of_self}, argument")),
        zip=of_self,
        put=f"{of_self} = {code.feature('put_items', f'{of_self}, index, value.{code.storage}')}",
        join=code.feature("join_items", f"fn, {code.of_items}"),
        pieces=code.feature("part_items", f"fn, {of_self}, argument, batch_sizes"),
        leaf="",
        leaf_if="",
        item=f'"{name}": {of_self}',
        match=code.call("match_optional", f"{of_self}, {code.of_other}") if code.field.optional else "",
        imports=_FEATURES,
    )
