"""Declared names: where a source and its generated module have the same ones, and the text over one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...common.naming import generated_class
from ...model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    DerivedDecl,
    FieldDecl,
    FileDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
)
from ...model.dimensions import in_words
from ...read.syntax import characters, lines_of

Place = tuple[int, int]
"""A line and a character, counted from 0."""


class Name(NamedTuple):
    """A class, or what is defined in its body."""

    cls: str
    member: str | None = None


def names(text: str) -> dict[Name, Place]:
    """The classes of a module and the names that their bodies bind, each where it is bound first.

    A generated class has the name of its declaration. A text that does not parse has none.

    >>> names("class _Batch_:\\n    x = 1")
    {Name(cls='Batch', member=None): (0, 6), Name(cls='Batch', member='x'): (1, 4)}
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = lines_of(text)
    found: dict[Name, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            inner = node.name[1:-1]
            cls = inner if inner and generated_class(inner) == node.name else node.name
            found.setdefault(Name(cls), _place(node, node.name, lines))
            for statement in node.body:
                for name, bound in _bound(statement):
                    found.setdefault(Name(cls, name), _place(bound, name, lines))
    return found


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """The names that a statement in the body of a class binds, where each stands."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, statement
        case ast.Assign(targets=[ast.Name(id=name) as target]) | ast.AnnAssign(target=ast.Name(id=name) as target):
            yield name, target


def _place(node: ast.stmt | ast.expr, name: str, lines: list[str]) -> Place:
    """Where a name stands: at the start of a target, and behind `class` or `def`."""
    line = lines[node.lineno - 1]
    start = characters(line, node.col_offset)
    found = re.compile(rf"\b{re.escape(name)}\b").search(line, start)
    return node.lineno - 1, found.start() if found is not None else start


def name_at(found: Mapping[Name, Place], place: Place) -> Name | None:
    """The name that stands at a place."""
    for name, (line, start) in found.items():
        if line == place[0] and start <= place[1] <= start + len(name.member or name.cls):
            return name
    return None


def over_declaration(file: FileDecl, name: Name) -> str | None:
    """The text over the name of a class, or of a field in the body of one, as Markdown; None if it declares nothing."""
    item = next((item for item in file.declarations if item.name == name.cls), None)
    if item is None:
        return None
    if name.member is None:
        return _of_class(item)
    field = next((field for field in item.fields if field.name == name.member), None)
    if field is None:
        return None
    rows = [f"{item.name}.{field.name}", f"  {_details(field)}"]
    if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl):
        rows.append(f"  state dict: {state_name(field)}")
    return _markdown(rows, field.doc)


def _of_class(item: Declaration) -> str:
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


def state_name(field: ParameterDecl | BufferDecl | SubmoduleDecl) -> str:
    """The name of a field in the state dict, with `*` for what it does not say: `blocks.*` for a child."""
    if isinstance(field, BufferDecl) and not field.persistent:
        return "not in it, because the buffer is not persistent"
    if isinstance(field, BufferDecl) or (isinstance(field, ParameterDecl) and not (field.repeat or field.keys)):
        return field.name
    if isinstance(field.keys, tuple):
        rest = ".*" if isinstance(field, SubmoduleDecl) else ""
        return ", ".join(f"{field.name}.{key}{rest}" for key in field.keys)
    return f"{field.name}.*"


def _markdown(rows: list[str], doc: str) -> str:
    """Rows as a block of code, and documentation below it."""
    block = "```text\n" + "\n".join(rows) + "\n```"
    return f"{block}\n\n{doc}" if doc else block
