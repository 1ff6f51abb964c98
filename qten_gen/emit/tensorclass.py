"""The view of a TensorClass for the template of its generated class.

Every line that depends on a field's kind is made here, one function for each primitive of the template.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model import FieldDecl, FieldKind, TensorClassDecl, declares, fingerprint, storage
from . import layout, spelling
from .nested_names import NestedNames, nested_fields, qualified_name, reference

_BUILTINS = ("isinstance", "len", "property", "type")


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field with the line it has in each primitive. An empty string leaves the field out."""

    name: str
    storage: str
    type: str
    doc: str
    own: bool
    fits: str
    fit: str
    set: str
    map: str
    map_with: str
    rearrange: str
    zip: str
    put: str
    join: str
    pieces: str
    leaf: str
    leaf_if: str
    item: str
    static: bool


@dataclass(frozen=True, slots=True)
class TensorClassView:
    """What the template of a TensorClass sets out."""

    name: str
    doc: str
    attributes: tuple[str, ...]
    parameters: tuple[str, ...]
    defaults: tuple[str, ...]
    fields: tuple[StoredField, ...]
    n: str
    frozen: bool
    post_init: bool
    has_tensors: bool
    has_nested: bool
    leaves: str
    leaves_if: tuple[StoredField, ...]
    contents: str
    refill: tuple[str, ...]
    to_dict: str
    builtin: dict[str, str]
    """How the text writes `len`, `type`, `isinstance` and `property`, which a field may be called."""


def view(declaration: TensorClassDecl, names: NestedNames) -> TensorClassView:
    """The view of one declaration; `names` has the globals of the generated module that hold the classes of nested fields."""
    taken = {field.name for field in declaration.fields}
    builtin = {name: f"_builtins.{name}" if name in taken else name for name in _BUILTINS}
    n = next(name for name in ("n", "dims", "batch_dims", "n_") if name not in taken)
    fields = tuple(_field(field, declaration, names, builtin, n) for field in declaration.fields)
    carried, static = [f for f in fields if not f.static], [f for f in fields if f.static]
    always = [f.leaf for f in carried if not f.leaf_if]
    return TensorClassView(
        name=declaration.name,
        doc=layout.docstring(_class_doc(declaration, names), 4),
        attributes=_attributes(declaration, names),
        parameters=_parameters(declaration, names),
        defaults=tuple(f.name for f in declaration.fields if spelling.default_is_looked_up(f)),
        fields=fields,
        n=n,
        frozen=declaration.frozen,
        post_init=declaration.post_init,
        has_tensors=bool(carried),
        has_nested=any(nested_fields(declaration)),
        leaves=layout.bracketed("leaves = [" if len(always) < len(carried) else "return [", always, "]", 8),
        leaves_if=tuple(f for f in carried if f.leaf_if),
        contents=_contents([f.storage for f in carried], [f.storage for f in static]),
        refill=tuple(line for line in (_unpack(carried, "values"), _unpack(static, "static")) if line),
        to_dict=layout.bracketed("return {", [f.item for f in fields], "}", 8),
        builtin=builtin,
    )


def _field(
    field: FieldDecl, declaration: TensorClassDecl, names: NestedNames, builtin: dict[str, str], n: str
) -> StoredField:
    at = storage(field.name)
    mine = f"self.{at}"
    carried = field.kind is not FieldKind.STATIC
    nested = names[qualified_name(field)] if field.kind is FieldKind.NESTED else ""
    optional = _or_none(field, mine)
    return StoredField(
        name=field.name,
        storage=at,
        type=spelling.field_type(field, names),
        doc=layout.docstring(spelling.field_doc(field), 8),
        own=declares(declaration, field),
        fits=_fits(field, nested, builtin, n),
        fit=_conversion(field, nested, field.name, "batch_size", "device"),
        set=_or_none(field, "value")(
            _conversion(field, nested, "value", "self._batch_size", "self._device") or "value"
        ),
        map=optional(f"{mine}._map(fn)" if nested else f"fn({mine})") if carried else mine,
        map_with=optional(_map_with(mine, bool(nested))) if carried else mine,
        rearrange=optional(_rearrange(mine, bool(nested))) if carried else mine,
        zip=_call(field, "zip", f"fn, {mine}, other.{at}", f"fn({mine}, other.{at})") if carried else mine,
        put=_call(field, "put", f"{mine}, index, value.{at}", "") if carried else "",
        join=_join(field, at),
        pieces=_pieces(field, mine),
        leaf=f"*{mine}._leaves()" if nested else mine,
        leaf_if=_leaf_if(field, mine),
        item=f'"{field.name}": {optional(f"{mine}._to_dict()") if nested else mine}',
        static=not carried,
    )


def _or_none(field: FieldDecl, name: str) -> Callable[[str], str]:
    """Guards an expression by `None if name is None` where the field may be None."""
    guard = f"None if {name} is None else " if field.optional and field.kind is not FieldKind.STATIC else ""
    return lambda expression: f"{guard}{expression}"


def _fits(field: FieldDecl, nested: str, builtin: dict[str, str], n: str) -> str:
    """The condition under which the constructor hands a value to the runtime for conversion or refusal."""
    name = field.name
    match field.kind:
        case FieldKind.TENSOR | FieldKind.NUMBER:
            wrong = f"not {builtin['isinstance']}({name}, _Tensor) or {name}.shape[:{n}] != batch_size or device is not None"
        case FieldKind.NESTED:
            wrong = (
                f"not {builtin['isinstance']}({name}, {nested}) or {name}._batch_size[:{n}] != batch_size "
                "or device is not None"
            )
        case FieldKind.STATIC:
            return f"{name} is not None" if field.cast and field.optional else "True" if field.cast else ""
    return f"{name} is not None and ({wrong})" if field.optional else wrong


def _conversion(field: FieldDecl, nested: str, value: str, batch_size: str, device: str) -> str:
    """The call that converts a value or says what is wrong with it; empty where any value goes."""
    match field.kind:
        case FieldKind.TENSOR:
            return f'_q.tensor(self, "{field.name}", {value}, {batch_size}, {device})'
        case FieldKind.NUMBER:
            return f'_q.number(self, "{field.name}", {value}, {batch_size}, {device})'
        case FieldKind.NESTED:
            return f'_q.nested(self, "{field.name}", {nested}, {value}, {batch_size}, {device})'
        case FieldKind.STATIC:
            return f'_q.cast(self, "{field.name}", "{field.cast}", {value})' if field.cast else ""


def _map_with(mine: str, nested: bool) -> str:
    if nested:
        return f"{mine}._map_with(fn, argument, device or {mine}._device)"
    return f"fn({mine}, argument)"


def _rearrange(mine: str, nested: bool) -> str:
    if nested:
        return f"{mine}._rearrange(fn, argument, batch_size + {mine}._batch_size[n:])"
    return f"fn({mine}, argument)"


def _call(field: FieldDecl, verb: str, arguments: str, plain: str) -> str:
    """A primitive's line that the runtime has to help with, because a side may be None or of another batch size."""
    if field.kind is FieldKind.NESTED:
        return f'_q.{verb}_nested(self, "{field.name}", {arguments})'
    if field.optional:
        return f'_q.{verb}_optional(self, "{field.name}", {arguments})'
    return plain


def _join(field: FieldDecl, at: str) -> str:
    column = f"[item.{at} for item in items]"
    if field.kind is FieldKind.STATIC:
        return f'_q.same(self, "{field.name}", {column})'
    tail = ", batch_size" if field.kind is FieldKind.NESTED else ""
    return _call(field, "join", f"fn, {column}, dim{tail}", f"fn({column}, dim)")


def _pieces(field: FieldDecl, mine: str) -> str:
    match field.kind:
        case FieldKind.STATIC:
            return ""
        case FieldKind.NESTED:
            return f"_q.part_nested(self, fn, {mine}, argument, batch_sizes)"
    return f"_q.part_optional(fn, {mine}, argument, batch_sizes)" if field.optional else f"fn({mine}, argument)"


def _leaf_if(field: FieldDecl, mine: str) -> str:
    if not field.optional or field.kind is FieldKind.STATIC:
        return ""
    return f"leaves.extend({mine}._leaves())" if field.kind is FieldKind.NESTED else f"leaves.append({mine})"


def _contents(carried: list[str], static: list[str]) -> str:
    line = f"return {_tuple(carried, 0)}, {_tuple(static, 0)}"
    if len(line) + 8 <= layout.WIDTH:
        return line
    return "\n".join(
        ["return (", f"{' ' * 12}{_tuple(carried, 12)},", f"{' ' * 12}{_tuple(static, 12)},", f"{' ' * 8})"]
    )


def _tuple(names: list[str], indent: int) -> str:
    items = [f"self.{name}" for name in names]
    return layout.bracketed("(", items, ")", indent) if indent and len(items) > 1 else layout.in_parentheses(items)


def _unpack(fields: list[StoredField], source: str) -> str:
    """`self._a, self._b = values`."""
    targets = [f"self.{field.storage}" for field in fields]
    if len(targets) < 2:
        return f"({targets[0]},) = {source}" if targets else ""
    line = f"{', '.join(targets)} = {source}"
    return line if len(line) + 8 <= layout.WIDTH else layout.stacked("(", targets, f") = {source}", 8)


def _parameters(declaration: TensorClassDecl, names: NestedNames) -> tuple[str, ...]:
    positional = [f for f in declaration.fields if not f.kw_only]
    keyword = [f for f in declaration.fields if f.kw_only]
    return (
        *(spelling.parameter(f, spelling.field_type(f, names)) for f in positional),
        "*",
        *(spelling.parameter(f, spelling.field_type(f, names)) for f in keyword),
        "batch_size: _q.BatchSize = ()",
        "device: _q.DeviceLike = None",
    )


def _attributes(declaration: TensorClassDecl, names: NestedNames) -> tuple[str, ...]:
    fields = declaration.fields
    nested = [(f.name, reference(f, declaration.module, names)) for f in nested_fields(declaration)]
    static = [f.name for f in fields if f.kind is FieldKind.STATIC]
    assumed = [pair for f in fields for pair in spelling.assumed_default(f)]
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        layout.mapping(assumed, 4, "_assumed = "),
        layout.names([f.name for f in fields], 4, "_fields = "),
        layout.mapping(nested, 4, "_nested = "),
        layout.names(static, 4, "_static = "),
    )


def _class_doc(declaration: TensorClassDecl, names: NestedNames) -> str:
    lines = [f"Storage, constructor and primitives of `{declaration.name}`."]
    if declaration.fields:
        lines += ["", "Fields:"]
    for field in declaration.fields:
        static = ", the same for the whole batch" if field.kind is FieldKind.STATIC else ""
        lines.append(f"    {field.name}: {_documented_type(field, names)}{static}")
    return "\n".join(lines)


def _documented_type(field: FieldDecl, names: NestedNames) -> str:
    if field.dims is not None:
        return f'{field.dtype}[Tensor, "{field.dims}"]{" | None" if field.optional else ""}'
    return spelling.field_type(field, names)
