"""The words for a field in the docstrings of a generated Module."""

from __future__ import annotations

from ..model import BufferDecl, ConfigDecl, ModuleDecl, ParameterDecl

_MADE = "Construct the module on a device, its floating point tensors with a dtype; None means the default."


def init_doc(declaration: ModuleDecl) -> str:
    """The docstring of the generated constructor, with what the declaration says of its arguments."""
    said = [
        f"    {field.argument}: {_indented(field.doc)}"
        for field in declaration.fields
        if isinstance(field, ConfigDecl) and field.doc
    ]
    return "\n".join([_MADE, "", "Args:", *said]) if said else _MADE


def _indented(doc: str) -> str:
    """A docstring below the name of an argument."""
    return doc.replace("\n", "\n        ").replace("\n        \n", "\n\n")  # blank lines have no indentation


def computed_by(field: ParameterDecl | BufferDecl) -> str:
    """The function that computes a value, as the declaration names it."""
    function = field.value
    if function is None or function.text.startswith(("lambda", "<")):
        return "a function"
    return f"`{function.method or function.text}`"
