"""Declarations of a file → its outputs by path, each proved to be Python."""

from __future__ import annotations

from ast import PyCF_ONLY_AST

from ..model import FileDecl
from ..project.output_names import outputs_of
from .render import render


def render_outputs(file: FileDecl) -> dict[str, str]:
    """The texts of the outputs of a file.

    Raises:
        SyntaxError: A rendered text is not Python, which is a fault of ours.
    """
    texts = render(file)
    module, stub = outputs_of(file.source.path)
    named = {module: texts["py"], stub: texts["pyi"]}
    for path, text in named.items():
        _check_compiles(path, text)
    return named


def _check_compiles(path: str, text: str) -> None:
    """Raise a SyntaxError where a text is not Python. A declaration may use syntax that is newer than this interpreter."""
    if "\0" in text:  # `compile` raises another exception before Python 3.11.4, and libcst accepts it in strings
        raise SyntaxError("source code cannot contain null bytes")
    try:
        compile(text, path, "exec", flags=PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError:
        from libcst import ParserSyntaxError, parse_module

        try:
            parse_module(text)
        except ParserSyntaxError:
            pass
        else:
            return
        raise
    compile(text, path, "exec", dont_inherit=True)  # what the grammar allows and Python does not, such as a name twice
