"""Renders the outputs of a file and checks that they compile."""

from __future__ import annotations

from ..model import FileDecl
from ..project.output_names import outputs_of
from .render import render


def render_outputs(file: FileDecl) -> dict[str, str]:
    """The texts of the outputs of a file.

    Raises:
        SyntaxError: A rendered text is not valid Python, which is a bug in qten-gen.
    """
    texts = render(file)
    module, stub = outputs_of(file.source.path)
    named = {module: texts["py"], stub: texts["pyi"]}
    for path, text in named.items():
        _check_compiles(path, text)
    return named


def _check_compiles(path: str, text: str) -> None:
    """Raise SyntaxError if a text is not valid Python."""
    if "\0" in text:  # before Python 3.11.4, `compile` raises another exception
        raise SyntaxError("source code cannot contain null bytes")
    compile(text, path, "exec", dont_inherit=True)
