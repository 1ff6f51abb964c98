"""Renders the outputs of a file and checks that they compile."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from symtable import symtable

from ..common.format_number import FORMAT
from ..common.header import with_header
from ..emit.source_imports import source_name
from ..model import FileDecl
from ..project.output_names import outputs_of
from .render import render_python
from .render_stub import render_stub


def render_outputs(file: FileDecl, existing: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of the outputs of a file. Those that exist already, with the same bytes, are not checked again.

    Raises:
        SyntaxError: A rendered text is not valid Python, which is a bug in qten-gen.
    """
    texts = render(file)
    module, stub = outputs_of(file.source.path)
    named = {module: texts["py"], stub: texts["pyi"]}
    for path, text in named.items():
        if existing.get(path) != text.encode():
            _check_syntax(path, text)
    return named


def render(file: FileDecl) -> dict[str, str]:
    """The generated texts of a source file by suffix, `"py"` and `"pyi"`, headers included."""
    name = source_name(file)
    texts = {"py": render_python(file), "pyi": render_stub(file)}
    return {suffix: with_header(name, FORMAT, text) for suffix, text in texts.items()}


def _check_syntax(path: str, text: str) -> None:
    """Raise SyntaxError if a text is not valid Python: if it cannot be parsed, or names are bound in a way that is not allowed.

    Byte code, which takes as long again, is not made of it. What the compiler finds then, such as a `return` outside a function,
    cannot be in a text of the user's that stands in an annotation or a default.
    """
    if "\0" in text:  # before Python 3.11.4, the parser raises another exception
        raise SyntaxError("source code cannot contain null bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        symtable(text, path, "exec")
