"""Renders the outputs of a file and checks that they compile."""

from __future__ import annotations

from ast import PyCF_ONLY_AST

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
    """Raise SyntaxError if a text is not valid Python.

    If this interpreter rejects it, libcst decides, because a declaration may use newer syntax.
    """
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
    compile(
        text, path, "exec", dont_inherit=True
    )  # finds errors that parsing alone does not, such as a repeated parameter
