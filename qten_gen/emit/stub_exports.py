"""`Module.export` in a stub: it takes the names that can be labelled tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ConfigDecl, Declaration, DerivedDecl, ModuleDecl, TypeExpr
from . import layout
from .stub_names import StubNames

_CLOSED = ("qten_gen.Module", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol")
"""Bases that bring no labelled tensors."""


def export(declaration: ModuleDecl, related: Mapping[str, Declaration], names: StubNames) -> Iterator[str]:
    """The method with its literal names. Nothing where the text does not tell them all, as in a hand-written constructor."""
    if declaration.custom_init or declaration.post_init or "export" in declaration.bound:
        return
    found = _names(declaration, related)
    if found is None:
        return
    quoted = [layout.quoted_string(name) for name in dict.fromkeys(found)]
    name = f"_t.Literal[{', '.join(quoted)}]" if quoted else "_t.Never"
    result = names.aliases.use("_LabelledTensor")
    yield layout.bracketed("def export(", ["self", f"name: {name}"], f") -> {result}: ...", 4)


def _names(declaration: ModuleDecl, related: Mapping[str, Declaration]) -> list[str] | None:
    """The names that a class and its parents bind to what may be a labelled tensor; None where a base may add others."""
    fields = {field.name: field for field in declaration.fields}
    values = [name for name, field in fields.items() if isinstance(field, ConfigDecl | DerivedDecl)]
    functions = {method.name for method in declaration.methods if not method.decorators}
    found = [name for name in values if _may_be_labelled(fields[name].type)]
    found += sorted(declaration.bound - fields.keys() - functions)
    for base in declaration.bases:
        parent = related.get(base.name)
        inherited = _names(parent, related) if isinstance(parent, ModuleDecl) else None
        if base.name in _CLOSED:
            continue
        if inherited is None:
            return None
        found += [name for name in inherited if name not in fields and name not in functions]
    return found


def _may_be_labelled(type: TypeExpr) -> bool:
    """Whether a value of the type can be a labelled tensor: neither a value of Python nor one of torch is."""
    known = ("builtins.", "torch.")
    return any(name not in ("|", "None") and not name.startswith(known) for name in type.mentioned)
