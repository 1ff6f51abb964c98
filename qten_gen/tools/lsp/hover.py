"""What is shown over the name of a declared class or field, and over a finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...generate.description import Plain, describe, describe_field, field_details, one_line
from ...model import BufferDecl, Declaration, FieldDecl, FileDecl, ModuleField, ParameterDecl, SubmoduleDecl
from ...model.diagnostics import Diagnostic, Kind, Span
from ...read.positions import locate
from ...rules import RULES
from ...rules.explaining import page

_TOLD_APART = {"name", "module", "kind", "bases", "doc", "fields", "fingerprint"}


def over_declaration(file: FileDecl, data: bytes, lines: Sequence[str], place: tuple[int, int]) -> str | None:
    """What is shown over the name at a place, as Markdown; None if it is not that of a declared class or field.

    Args:
        file: The declarations of the file.
        data: Its bytes, which the declarations were read from.
        lines: Its lines.
        place: A line and a character, counted from 0.
    """
    declared = [(item, None) for item in file.declarations]
    fields = [
        (item, field)
        for item in file.declarations
        for field in item.fields
        if field.owner == f"{item.module}.{item.name}"
    ]
    path = file.source.path
    everything: list[tuple[Declaration, FieldDecl | ModuleField | None]] = [*declared, *fields]
    marks = [Diagnostic(Kind("", ""), "", (field or item).place, path=path) for item, field in everything]
    for (item, field), mark in zip(everything, locate(marks, {path: data}), strict=True):
        if _is_over((field or item).name, mark.span, lines, place):
            return _of_class(item) if field is None else _of_field(item, field)
    return None


def _is_over(name: str, span: Span, lines: Sequence[str], place: tuple[int, int]) -> bool:
    """Whether a place is in the name that a statement declares: the first one in it, behind its decorators."""
    for number in range(span.line - 1, min(span.end_line, len(lines))):
        start = span.column - 1 if number == span.line - 1 else 0
        match = re.compile(rf"\b{re.escape(name)}\b").search(lines[number], start)
        if match is not None and not lines[number].lstrip().startswith("@"):
            return number == place[0] and match.start() <= place[1] <= match.end()
    return False


def _of_class(declaration: Declaration) -> str:
    """What qten-gen understands of a class."""
    described = describe(declaration)
    bases = ", ".join(base.name for base in declaration.bases)
    rows = [f"class {declaration.name} ({bases}), a {described['kind']}"]
    rows += [
        f"  {name.replace('_', ' ')}: {one_line(value)}"
        for name, value in described.items()
        if value and name not in _TOLD_APART
    ]
    width = max([len(field.name) for field in declaration.fields], default=0)
    rows += [f"  {field.name:{width}}  {field_details(_described(field))}" for field in declaration.fields]
    return _markdown(rows, declaration.doc)


def _of_field(declaration: Declaration, field: FieldDecl | ModuleField) -> str:
    """What qten-gen understands of a field."""
    rows = [f"{declaration.name}.{field.name}", f"  {field_details(_described(field))}"]
    if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl):
        rows.append(f"  state dict: {state_name(field)}")
    return _markdown(rows, field.doc)


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


def _described(field: FieldDecl | ModuleField) -> dict[str, Plain]:
    return describe_field(field)


def _markdown(rows: Iterable[str], doc: str) -> str:
    """Rows as a block of code, and documentation below it."""
    block = "```text\n" + "\n".join(rows) + "\n```"
    return f"{block}\n\n{doc}" if doc else block


def over_findings(found: Iterable[Diagnostic], line: int) -> str | None:
    """The pages of the rules whose findings begin in a line, as Markdown."""
    codes = dict.fromkeys(item.code for item in found if item.span.line == line + 1)
    pages = [page(rule) for code in codes for rule in RULES if rule.KIND.code == code]
    return "\n\n---\n\n".join(pages) or None
