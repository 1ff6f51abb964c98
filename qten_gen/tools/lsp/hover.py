"""The text over a declared class or field, as Markdown."""

from __future__ import annotations

from ...model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    DerivedDecl,
    FieldDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
)
from ...model.dimensions import in_words


def over_field(item: Declaration, name: str) -> str:
    """The text over a field of a class."""
    field = next(field for field in item.fields if field.name == name)
    return _markdown([f"{item.name}.{name}", f"  {_details(field)}"], field.doc)


def over_class(item: Declaration) -> str:
    """The text over a class."""
    kind, flags = ("TensorClass", sorted(item.flags)) if isinstance(item, TensorClassDecl) else ("Module", [])
    rows = [f"class {item.name} ({', '.join([*(base.name for base in item.bases), *flags])}), a {kind}"]
    width = max([len(field.name) for field in item.fields], default=0)
    return _markdown([*rows, *(f"  {field.name:{width}}  {_details(field)}" for field in item.fields)], item.doc)


_KINDS: dict[type, str] = {
    ConfigDecl: "config",
    DerivedDecl: "derived value",
    ParameterDecl: "parameter",
    BufferDecl: "buffer",
    SubmoduleDecl: "submodule",
}


def _details(field: FieldDecl | ModuleField) -> str:
    """The kind and the type of a field, and its shape."""
    shape = ""
    if isinstance(field, FieldDecl):
        kind, shape = field.kind.value, f" [{field.dims}]" if field.dims is not None else ""
    else:
        kind = _KINDS.get(type(field), "virtual tensor")
        if isinstance(field, ParameterDecl | BufferDecl) and field.dims:
            shape = f" [{', '.join(map(in_words, field.dims))}]"
    return f"{kind}: {field.type.text}{shape}"


def _markdown(rows: list[str], doc: str) -> str:
    """Rows as a block of code, and documentation below it."""
    block = "```text\n" + "\n".join(rows) + "\n```"
    return f"{block}\n\n{doc}" if doc else block
