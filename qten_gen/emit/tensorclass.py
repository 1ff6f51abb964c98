"""The view of a TensorClass for the template of its generated class."""

from __future__ import annotations

from dataclasses import dataclass
from keyword import kwlist

from ..model import FieldKind, TensorClassDecl, fingerprint
from . import layout, spelling
from .nested_names import NestedNames, nested_fields, reference
from .shape_checks import shape_checks
from .stored_fields import StoredField, stored_field

_BUILTINS = ("isinstance", "len", "property", "type")
_IN_CONSTRUCTORS = (*_BUILTINS, *kwlist, "self", "batch_size", "device", "names", "lock")
"""Names that a variable for the size of a dimension cannot have."""


@dataclass(frozen=True, slots=True)
class TensorClassView:
    """What the template of a TensorClass sets out."""

    name: str
    doc: str
    attributes: tuple[str, ...]
    parameters: tuple[str, ...]
    defaults: tuple[str, ...]
    fields: tuple[StoredField, ...]
    shape_checks: tuple[str, ...]
    """The statements of the constructor that compare shapes and dtypes with the annotations."""
    n: str
    frozen: bool
    lock: str
    """What is stored as the lock of a new object."""
    plain: bool
    """Whether every field is one tensor that carries the batch, so that the primitives of the ground class serve."""
    post_init: bool
    has_tensors: bool
    has_nested: bool
    fill_signature: str
    """The `def` line of `_fill`, which takes carried fields, static fields, and what every object has."""
    stores: tuple[str, ...]
    """The statements of `_fill` that store the fields."""
    fill: str
    """The call of `_fill` in the constructor."""
    map: str
    map_with: str
    rearrange: str
    zip: str
    join: str
    puts: tuple[str, ...]
    matches: tuple[str, ...]
    leaves: str
    leaves_if: tuple[StoredField, ...]
    requires_grad: str
    pieces: str
    """The pieces of all fields, side by side with the batch sizes of the parts."""
    contents: str
    to_dict: str
    builtin: dict[str, str]
    """How the text writes `len`, `type`, `isinstance` and `property`, which a field may be called."""


def view(declaration: TensorClassDecl, names: NestedNames) -> TensorClassView:
    """The view of one declaration; `names` has the globals of the generated module that hold the classes of nested fields."""
    taken = {field.name for field in declaration.fields}
    builtin = {name: f"_builtins.{name}" if name in taken else name for name in _BUILTINS}
    n = next(name for name in ("n", "dims", "batch_dims", "n_") if name not in taken)
    checks = shape_checks(declaration, n, frozenset({*taken, *_IN_CONSTRUCTORS, n}))
    fields = tuple(
        stored_field(field, declaration, names, builtin, n, checks.guards.get(field.name))
        for field in declaration.fields
    )
    carried, static = [f for f in fields if not f.static], [f for f in fields if f.static]
    stored = [*carried, *static]
    always = [f.lines.leaf for f in carried if not f.lines.leaf_if]
    return TensorClassView(
        name=declaration.name,
        doc=layout.docstring(f"Storage and constructor of `{declaration.name}`.", 4),
        attributes=_attributes(declaration, names),
        parameters=_parameters(declaration, names),
        defaults=tuple(f.name for f in declaration.fields if spelling.default_is_looked_up(f)),
        fields=fields,
        shape_checks=checks.lines,
        n=n,
        frozen=declaration.frozen,
        lock="_rt.FROZEN" if declaration.frozen else "None",
        plain=bool(fields) and all(f.plain for f in fields),
        post_init=declaration.post_init,
        has_tensors=bool(carried),
        has_nested=any(nested_fields(declaration)),
        fill_signature=_fill_signature(stored),
        stores=tuple(f"self.{f.storage} = {f.stored}" for f in stored),
        fill=layout.bracketed("self._fill(", [*(f.name for f in stored), "batch_size", "device", "names"], ")", 8),
        map=_filled([f.lines.map for f in stored], "self._batch_size", "self._device", "self._names"),
        map_with=_filled([f.lines.map_with for f in stored], "self._batch_size", "device", "self._names"),
        rearrange=_filled([f.lines.rearrange for f in stored], "batch_size", "self._device"),
        zip=_filled([f.lines.zip for f in stored], "self._batch_size", "self._device", "self._names"),
        join=_filled([f.lines.join for f in stored], "batch_size", "self._device"),
        puts=tuple(f.lines.put for f in fields if f.lines.put),
        matches=tuple(f.lines.match for f in fields if f.lines.match),
        leaves=layout.bracketed("leaves = [" if len(always) < len(carried) else "return [", always, "]", 8),
        leaves_if=tuple(f for f in carried if f.lines.leaf_if),
        pieces=layout.bracketed("pieces = zip(", [*(f.lines.pieces for f in stored), "batch_sizes"], ")", 8),
        requires_grad=_any([f.lines.requires_grad for f in carried]),
        contents=_contents([f.storage for f in carried], [f.storage for f in static]),
        to_dict=layout.bracketed("return {", [f.lines.item for f in fields], "}", 8),
        builtin=builtin,
    )


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


def _any(conditions: list[str]) -> str:
    """`return a or b`."""
    line = f"return {' or '.join(conditions) or 'False'}"
    if len(line) + 8 <= layout.WIDTH:
        return line
    first, *others = conditions
    return "\n".join(["return (", f"{' ' * 12}{first}", *(f"{' ' * 12}or {other}" for other in others), f"{' ' * 8})"])


def _filled(values: list[str], *shared: str) -> str:
    """The statement that returns a new object of these values, unchecked."""
    return layout.bracketed("return object.__new__(type(self))._fill(", [*values, *shared], ")", 8)


def _fill_signature(fields: list[StoredField]) -> str:
    parameters = [
        *(f"{field.name}: {field.type}" for field in fields),
        "batch_size: _Size",
        "device: _rt.Device",
        "names: _rt.Names | None = None",
    ]
    return layout.signature("_fill", parameters, "Self", 4)


def _parameters(declaration: TensorClassDecl, names: NestedNames) -> tuple[str, ...]:
    positional = [f for f in declaration.fields if not f.kw_only]
    keyword = [f for f in declaration.fields if f.kw_only]
    return (
        *(spelling.parameter(f, spelling.field_type(f, names)) for f in positional),
        "*",
        *(spelling.parameter(f, spelling.field_type(f, names)) for f in keyword),
        "batch_size: _rt.BatchSize = ()",
        "device: _rt.DeviceLike = None",
        "names: _rt.NamesLike = None",
        "lock: bool = False",
    )


def _attributes(declaration: TensorClassDecl, names: NestedNames) -> tuple[str, ...]:
    fields = declaration.fields
    nested = [(f.name, reference(f, declaration.module, names)) for f in nested_fields(declaration)]
    static = [f.name for f in fields if f.kind in (FieldKind.STATIC, FieldKind.PER_ITEM)]
    assumed = [pair for f in fields for pair in spelling.assumed_default(f)]
    derives = any(base.declared for base in declaration.bases)
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        *([layout.mapping(assumed, 4, "_inlined_values = ")] if assumed else []),
        # What a parent declares is said anew where this class has nothing of the kind.
        *([layout.mapping(nested, 4, "_nested = ")] if nested or derives else []),
        *([layout.names(static, 4, "_static = ")] if static or derives else []),
    )
