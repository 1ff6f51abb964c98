"""The view of a TensorClass for the template of its generated class."""

from __future__ import annotations

from dataclasses import dataclass
from keyword import kwlist

from ..model import FieldDecl, FieldKind, TensorClassDecl, fingerprint
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
    seals: bool
    """Whether objects that a frozen object holds have to be frozen too."""
    post_init: bool
    has_tensors: bool
    has_nested: bool
    matches: tuple[str, ...]
    leaves: str
    leaves_if: tuple[StoredField, ...]
    requires_grad: str
    pieces: str
    """The pieces of all fields that are taken apart, side by side; empty where there are none."""
    take_piece: str
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
    checks = shape_checks(declaration, n, frozenset({*taken, *_IN_CONSTRUCTORS, n}))
    fields = tuple(
        stored_field(field, declaration, names, builtin, n, checks.guards.get(field.name))
        for field in declaration.fields
    )
    carried, static = [f for f in fields if not f.static], [f for f in fields if f.static]
    always = [f.lines.leaf for f in carried if not f.lines.leaf_if]
    apart = [f for f in fields if f.lines.pieces]
    return TensorClassView(
        name=declaration.name,
        doc=layout.docstring(_class_doc(declaration, names), 4),
        attributes=_attributes(declaration, names),
        parameters=_parameters(declaration, names),
        defaults=tuple(f.name for f in declaration.fields if spelling.default_is_looked_up(f)),
        fields=fields,
        shape_checks=checks.lines,
        n=n,
        frozen=declaration.frozen,
        lock="_rt.FROZEN" if declaration.frozen else "None",
        seals=declaration.frozen and any(nested_fields(declaration)),
        post_init=declaration.post_init,
        has_tensors=bool(carried),
        has_nested=any(nested_fields(declaration)),
        matches=tuple(f.lines.match for f in fields if f.lines.match),
        leaves=layout.bracketed("leaves = [" if len(always) < len(carried) else "return [", always, "]", 8),
        leaves_if=tuple(f for f in carried if f.lines.leaf_if),
        requires_grad=_any([f.lines.requires_grad for f in carried]),
        pieces=layout.bracketed("pieces = zip(", [f.lines.pieces for f in apart], ")", 8) if apart else "",
        take_piece=_unpack(apart, "values", "part", 12),
        contents=_contents([f.storage for f in carried], [f.storage for f in static]),
        refill=tuple(line for line in (_unpack(carried, "values"), _unpack(static, "static")) if line),
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


def _unpack(fields: list[StoredField], source: str, target: str = "self", indent: int = 8) -> str:
    """`self._a, self._b = values`."""
    targets = [f"{target}.{field.storage}" for field in fields]
    if len(targets) < 2:
        return f"({targets[0]},) = {source}" if targets else ""
    line = f"{', '.join(targets)} = {source}"
    return line if len(line) + indent <= layout.WIDTH else layout.stacked("(", targets, f") = {source}", indent)


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
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        layout.mapping(assumed, 4, "_inlined_values = "),
        layout.names([f.name for f in fields], 4, "_fields = "),
        layout.mapping(nested, 4, "_nested = "),
        layout.names(static, 4, "_static = "),
    )


def _class_doc(declaration: TensorClassDecl, names: NestedNames) -> str:
    lines = [f"Storage, constructor and primitives of `{declaration.name}`."]
    if declaration.fields:
        lines += ["", "Fields:"]
    for field in declaration.fields:
        lines.append(f"    {field.name}: {_documented_type(field, names)}{_documented_role(field)}")
    return "\n".join(lines)


def _documented_role(field: FieldDecl) -> str:
    if field.kind is FieldKind.STATIC:
        return ", the same for the whole batch"
    if field.kind is FieldKind.PER_ITEM:
        return ", one value for each item"
    return ", not carried by the batch" if field.unbatched else ""


def _documented_type(field: FieldDecl, names: NestedNames) -> str:
    if field.dims is not None:
        return f'{field.dtype}[Tensor, "{field.dims}"]{" | None" if field.optional else ""}'
    return spelling.field_type(field, names)
