"""The text over the name of a declared class or field, and over a finding."""

from __future__ import annotations

from collections.abc import Iterable

from ...generate.description import describe, describe_field, field_details, one_line
from ...model import BufferDecl, Declaration, FieldDecl, FileDecl, ModuleField, ParameterDecl, SubmoduleDecl
from ...model.diagnostics import Diagnostic
from ...rules import RULES
from ...rules.explaining import page
from .generated_places import Name

_TOLD_APART = {"name", "module", "kind", "bases", "doc", "fields", "fingerprint"}


def over_declaration(file: FileDecl, name: Name) -> str | None:
    """The text over the name of a class, or of a field in the body of one, as Markdown; None if it declares nothing."""
    for item in file.declarations:
        if item.name == name.cls:
            if name.member is None:
                return _of_class(item)
            return next((_of_field(item, field) for field in item.fields if field.name == name.member), None)
    return None


def _of_class(declaration: Declaration) -> str:
    """The text about a class."""
    described = describe(declaration)
    bases = ", ".join(base.name for base in declaration.bases)
    rows = [f"class {declaration.name} ({bases}), a {described['kind']}"]
    rows += [
        f"  {name.replace('_', ' ')}: {one_line(value)}"
        for name, value in described.items()
        if value and name not in _TOLD_APART
    ]
    width = max([len(field.name) for field in declaration.fields], default=0)
    rows += [f"  {field.name:{width}}  {field_details(describe_field(field))}" for field in declaration.fields]
    return _markdown(rows, declaration.doc)


def _of_field(declaration: Declaration, field: FieldDecl | ModuleField) -> str:
    """The text about a field."""
    rows = [f"{declaration.name}.{field.name}", f"  {field_details(describe_field(field))}"]
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


def _markdown(rows: Iterable[str], doc: str) -> str:
    """Rows as a block of code, and documentation below it."""
    block = "```text\n" + "\n".join(rows) + "\n```"
    return f"{block}\n\n{doc}" if doc else block


def over_findings(found: Iterable[Diagnostic], line: int) -> str | None:
    """The pages of the rules whose findings begin in a line, as Markdown."""
    codes = dict.fromkeys(item.code for item in found if item.span.line == line + 1)
    pages = [page(rule) for code in codes for rule in RULES if rule.KIND.code == code]
    return "\n\n---\n\n".join(pages) or None
