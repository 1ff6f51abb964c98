"""The view of a TensorClass for the template of its generated class."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from keyword import kwlist
from typing import NamedTuple

from ..common.naming import WRITTEN_BUILTINS
from ..model import FieldDecl, FieldKind, TensorClassDecl, fingerprint
from . import layout, spelling
from .names import Aliases, Builtins, NestedNames, nested_fields, qualified_name, reference
from .shape_checks import shape_checks
from .stored_fields import StoredField, stored_field

_IN_CONSTRUCTORS = (*WRITTEN_BUILTINS, *kwlist, "self", "batch_size", "device", "names", "lock")
"""Names that a variable for the size of a dimension cannot have."""
_IN_TEMPLATE = ("_rt", "_t", "_torch")
"""The imports of the template itself, for any fields."""


class TensorClassView(NamedTuple):
    """The input of the template of a TensorClass.

    `map` to `to_dict` are the statements of the primitives with the same names. Where one makes an object, it calls `_fill`,
    which stores its arguments: the fields that the batch carries, the other fields, and what every object has.
    """

    declaration: TensorClassDecl
    attributes: tuple[str, ...]
    """The assignments in the class body."""
    of_base_class: tuple[str, ...]
    """The assignments of what serves from the base class, where a parent may have its own."""
    properties: tuple[str, ...]
    """The assignments of properties that the runtime has."""
    parameters: tuple[str, ...]
    """The parameters of the constructor, without `self`."""
    defaults: tuple[str, ...]
    """The fields whose default the constructor looks up in the declaration."""
    fields: tuple[StoredField, ...]
    shape_checks: tuple[str, ...]
    """The statements of the constructor that compare shapes and dtypes with the annotations."""
    n: str
    """The constructor's variable for the number of batch dimensions."""
    plain: bool
    """True if every field is one tensor that carries the batch, so that the primitives of the base class serve."""
    has_nested: bool
    fill_signature: str
    """The `def` line of `_fill`."""
    stores: tuple[str, ...]
    """The statements of `_fill` that store the fields."""
    fill: str
    """The call of `_fill` in the constructor."""
    map: str
    map_with: str
    rearrange: str
    zip: str
    join: str
    matches: tuple[str, ...]
    """The statements of `_check_compatible`."""
    leaves: str
    pieces: str
    """The assignment of what `_split` goes through: the values of all fields and the batch size, part by part."""
    contents: str
    """The statement of `_field_values`."""
    to_dict: str
    builtin: dict[str, str]
    """How the text writes each builtin, because a field may have its name."""
    imports: tuple[str, ...]
    """The names of `names.IMPORTS` that the class uses."""


def view(declaration: TensorClassDecl, names: NestedNames, variables: Collection[str] = frozenset()) -> TensorClassView:
    """The view of one declaration.

    `names` has the globals of the generated module that hold the classes of nested fields, `variables` the type variables that
    annotations may mention.
    """
    taken = frozenset(field.name for field in declaration.fields)
    builtins = Builtins(taken)
    classes = {names[qualified_name(field)] for field in nested_fields(declaration)}
    n = next(name for name in ("n", "dims", "batch_dims", "n_") if name not in taken)
    # Names of dimensions become variables, which must not hide any of these.
    checks = shape_checks(declaration, n, taken.union(_IN_CONSTRUCTORS, classes, {n}))
    fields = tuple(
        stored_field(field, declaration, names, builtins, n, checks.guards.get(field.name), variables)
        for field in declaration.fields
    )
    carried, static = [f for f in fields if not f.static], [f for f in fields if f.static]
    stored = [*carried, *static]  # the order in which `Stored._assign` passes the values on
    always = [f.lines.leaf for f in carried if not f.lines.leaf_if]
    plain = all(f.plain for f in fields)
    matches = tuple(f.lines.match for f in fields if f.lines.match)
    aliases = Aliases()
    return TensorClassView(
        declaration=declaration,
        attributes=_attributes(declaration, names),
        of_base_class=tuple(_of_base_class(declaration, plain, bool(matches))),
        properties=tuple(f.property for f in fields if f.own and f.property),
        parameters=_parameters(declaration, names, builtins, variables, aliases),
        defaults=tuple(f.name for f in declaration.fields if spelling.default_is_looked_up(f)),
        fields=fields,
        shape_checks=checks.lines,
        n=n,
        plain=plain,
        has_nested=any(f.kind in (FieldKind.NESTED, FieldKind.RAGGED) for f in declaration.fields),
        fill_signature=_fill_signature(stored),
        stores=tuple(f"self.{f.storage} = {f.stored}" for f in stored),
        fill=layout.bracketed("self._fill(", [*(f.name for f in stored), "batch_size", "device", "names"], ")", 8),
        map=_new([f.lines.map for f in stored], "self._batch_size", "self._device", "self._names"),
        map_with=_new([f.lines.map_with for f in stored], "self._batch_size", "device", "self._names"),
        rearrange=_new([f.lines.rearrange for f in stored], "batch_size", "self._device"),
        zip=_new([f.lines.zip for f in stored], "self._batch_size", "self._device", "self._names"),
        join=_new([f.lines.join for f in stored], "batch_size", "self._device"),
        matches=matches,
        leaves=layout.bracketed("leaves = [" if len(always) < len(carried) else "return [", always, "]", 8),
        pieces=layout.bracketed(
            "pieces = zip(", [*(f.lines.pieces for f in stored), "batch_sizes", "_repeat(self._device)"], ")", 8
        ),
        contents=_contents([f"self.{f.storage}" for f in carried], [f"self.{f.storage}" for f in static]),
        to_dict=layout.bracketed("return {", [f.lines.item for f in fields], "}", 8),
        builtin=builtins.names(
            *("type", "tuple", "dict", "str", "object"),
            *(["len"] if carried else []),
            *(["property"] if any(f.own and not f.property for f in fields) else []),
            "list",
        ),
        imports=tuple(
            sorted(
                aliases.used.union(
                    _IN_TEMPLATE,
                    builtins.imports,
                    () if plain else ("_repeat",),
                    ("_features",) if checks.lines else (),
                    *(f.lines.imports for f in fields),
                )
            )
        ),
    )


def _contents(carried: list[str], static: list[str]) -> str:
    """The statement that returns two tuples: what the batch carries, and the Python values."""
    line = f"return {_tuple(carried, 0)}, {_tuple(static, 0)}"
    if len(line) + 8 <= layout.WIDTH:
        return line
    return "\n".join(
        ["return (", f"{' ' * 12}{_tuple(carried, 12)},", f"{' ' * 12}{_tuple(static, 12)},", f"{' ' * 8})"]
    )


def _tuple(items: list[str], indent: int) -> str:
    """A tuple of expressions, on one line if `indent` is 0."""
    return layout.bracketed("(", items, ")", indent) if indent and len(items) > 1 else layout.in_parentheses(items)


def _new(values: list[str], batch_size: str, device: str, *names: str) -> str:
    """The statement that returns a new object of these values, unchecked; without `names` its dimensions have none."""
    return layout.bracketed("return object.__new__(type(self))._fill(", [*values, batch_size, device, *names], ")", 8)


def _fill_signature(fields: list[StoredField]) -> str:
    """The `def` line of the method that stores the fields and what every object has, and returns the object."""
    parameters = [
        *(f"{field.name}: {field.type}" for field in fields),
        "batch_size: _Size",
        "device: _rt.Device",
        "names: _rt.Names | None = None",
    ]
    return layout.signature("_fill", parameters, "_t.Self", 4)


def _parameters(
    declaration: TensorClassDecl, names: NestedNames, builtins: Builtins, variables: Collection[str], aliases: Aliases
) -> tuple[str, ...]:
    """The parameters of the generated `__init__` behind `self`, as they are written."""
    given = [
        (f.kw_only, spelling.parameter(f, _given_type(f, declaration.module, names, builtins, variables), aliases))
        for f in declaration.fields
    ]
    return (
        *(text for kw_only, text in given if not kw_only),
        "*",
        *(text for kw_only, text in given if kw_only),
        f"batch_size: _rt.BatchSize{'' if 'sized' in declaration.flags else ' = ()'}",
        "device: _rt.DeviceLike = None",
        "names: _rt.NamesLike = None",
        f"lock: {builtins.name('bool')} = False",
    )


def _given_type(
    field: FieldDecl, module: str, names: NestedNames, builtins: Builtins, variables: Collection[str]
) -> str:
    """The type of a field's parameter: what a number is given as becomes a tensor."""
    type = spelling.field_type(field, module, names, builtins, variables)
    return f"{type} | {builtins.name('complex')}" if field.kind is FieldKind.NUMBER else type


def _attributes(declaration: TensorClassDecl, names: NestedNames) -> tuple[str, ...]:
    """The tables of the generated class, which the runtime reads: one assignment each."""
    fields = declaration.fields
    nested = [(f.name, reference(f, declaration.module, names)) for f in nested_fields(declaration)]
    static = [f.name for f in fields if f.kind.is_static]
    assumed = [pair for f in fields for pair in spelling.assumed_default(f)]
    derives = any(base.declared for base in declaration.bases)
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        *([layout.mapping(assumed, 4, "_inlined_values = ")] if assumed else []),
        # What a parent declares is said anew where this class has nothing of the kind.
        *([layout.mapping(nested, 4, "_nested = ")] if nested or derives else []),
        *([layout.names(static, 4, "_static = ")] if static or derives else []),
    )


def _of_base_class(declaration: TensorClassDecl, plain: bool, has_matches: bool) -> Iterator[str]:
    """The primitives of the base class that serve, where a parent with other kinds of fields may have its own."""
    if any(base.declared for base in declaration.bases):
        for primitive in ("_rearrange", "_split", "_field_values") if plain else ():
            yield f"{primitive} = _rt.Stored.{primitive}"
        if not has_matches:
            yield "_check_compatible = _rt.Stored._check_compatible"
