"""Names the difference between the text of a class and its class statement, and how to write the class without one."""

from __future__ import annotations

from typing import NamedTuple

from ..model import Declaration, FieldDecl, ModuleField, structure
from .in_memory_text import OwnText, of_class


class Reason(NamedTuple):
    """Why the command generates nothing that a class statement could use, and what to write instead."""

    message: str
    """Empty where the command says itself that the text cannot tell: then nothing is wrong with what was generated."""
    help: str


_DYNAMIC = "QG008"
_WRITTEN = (
    "write annotations with names that are imported or assigned once, at the top level of the file, and values as "
    "they are, or as const(...)"
)


def why_not_generated(declaration: Declaration, own: OwnText) -> Reason | None:
    """Why the command would not generate what a class statement declares; None where it would."""
    name = declaration.name
    text = of_class(own.module, name, own)
    found = text.declaration
    for error in text.errors:
        if error.code == _DYNAMIC:
            return Reason("", f"{error.message}; {error.help}")
    if text.errors:
        first = text.errors[0]
        said = f"line {first.span.line} has an error that the command reports: {first.code}: {first.message}"
        return Reason(said, first.help)
    if found is None:
        said = f"the text does not say that {name} derives from TensorClass or Module"
        return Reason(said, "import its base by name at the top level of the file, without try or if")
    return _difference(found, declaration)


def _difference(text: Declaration, statement: Declaration) -> Reason | None:
    """In which field the text and the class statement differ first; None where they are equal."""
    said: dict[str, FieldDecl | ModuleField] = {field.name: field for field in text.fields}
    has: dict[str, FieldDecl | ModuleField] = {field.name: field for field in statement.fields}
    for name in dict.fromkeys((*said, *has)):
        if name not in said or name not in has:
            only = "the text" if name in said else "the class statement"
            help = "annotate it in the class body, outside if, try, loops and functions"
            return Reason(f"only {only} has a field {name}", help)
        if structure(said[name]) != structure(has[name]):
            return Reason(f"the text does not tell what {name} is in the class statement", _WRITTEN)
    if structure(text) == structure(statement):
        return None
    return Reason(
        "its bases, flags or methods differ from those in the text", "write the class at the top level of the file"
    )
