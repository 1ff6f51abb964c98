"""The view of a TensorClass for the template of its generated class."""

from __future__ import annotations

import re
from collections.abc import Collection
from keyword import kwlist
from typing import NamedTuple

from ..common.naming import WRITTEN_BUILTINS
from ..model import FieldDecl, FieldKind, TensorClassDecl, fingerprint
from . import layout, spelling
from .names import Builtins, NestedNames, nested_fields, qualified_name, reference
from .shape_checks import shape_checks
from .stored_fields import StoredField, stored_field

_IN_CONSTRUCTORS = (*WRITTEN_BUILTINS, *kwlist, "self", "batch_size", "device", "names", "lock")
"""Names that a variable for the size of a dimension cannot have."""


class TensorClassView(NamedTuple):
    """The input of the template of a TensorClass."""

    declaration: TensorClassDecl
    attributes: tuple[str, ...]
    """The assignments in the class body."""
    parameters: tuple[str, ...]
    """The parameters of the constructor, without `self`."""
    defaults: tuple[str, ...]
    """The fields whose default the constructor looks up in the declaration."""
    fields: tuple[StoredField, ...]
    shape_checks: tuple[str, ...]
    """The statements of the constructor that compare shapes and dtypes with the annotations."""
    n: str
    """The constructor's variable for the number of batch dimensions; empty where no field asks for it."""
    fill: str
    """The call of `_fill`, which stores the fields that the batch carries, the others, and what every object has."""
    builtin: dict[str, str]
    """How the text writes each builtin, because a field may have its name."""


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
        stored_field(field, declaration, names, builtins, n, checks.guards.get(field.name))
        for field in declaration.fields
    )
    conditions = " ".join([*checks.lines, *(text for f in fields for text in (f.fit_if, f.fit))])
    reads_n = re.search(rf"\b{n}\b", conditions) is not None
    carried = [f.name for f in declaration.fields if not f.kind.is_static]
    static = [f.name for f in declaration.fields if f.kind.is_static]
    return TensorClassView(
        declaration=declaration,
        attributes=_attributes(declaration, names),
        parameters=_parameters(declaration, names, builtins, variables),
        defaults=tuple(f.name for f in declaration.fields if spelling.default_is_looked_up(f)),
        fields=fields,
        shape_checks=checks.lines,
        n=n if reads_n else "",
        fill=layout.bracketed("self._fill(", [*carried, *static, "batch_size", "device", "names"], ")", 8),
        builtin=builtins.names("type", *(["len"] if reads_n else [])),
    )


def _parameters(
    declaration: TensorClassDecl, names: NestedNames, builtins: Builtins, variables: Collection[str]
) -> tuple[str, ...]:
    """The parameters of the generated `__init__` behind `self`, as they are written."""
    given = [
        (f.kw_only, spelling.parameter(f, _given_type(f, declaration.module, names, builtins, variables)))
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
    nested = [(f.name, reference(f, declaration.module, names)) for f in nested_fields(declaration)]
    derives = any(base.declared for base in declaration.bases)
    return (
        f'_fingerprint = "{fingerprint(declaration)}"',
        # What a parent declares is said anew where this class has nothing of the kind.
        *([layout.mapping(nested, 4, "_nested = ")] if nested or derives else []),
    )
