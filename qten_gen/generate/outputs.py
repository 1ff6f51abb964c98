"""The texts of the outputs of a file, which are checked to be valid Python, and of a single class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from symtable import symtable
from typing import NamedTuple

from ..common.header import FORMAT, digest, with_header
from ..emit.file import PythonFileView, StubFileView, python_class, python_file, source_name, stub_file
from ..emit.tensorclass import TensorClassView
from ..model import Declaration, FileDecl
from ..project.output_names import outputs_of


class Views(NamedTuple):
    """All that the texts of a file's outputs are rendered from."""

    source: str
    python: PythonFileView
    stub: StubFileView

    @property
    def fingerprint(self) -> str:
        """The digest of the views: the outputs are the same if it is."""
        return digest(repr(self).encode("utf-8", "surrogatepass"))


def views_of(file: FileDecl) -> Views:
    """The views of a file's outputs."""
    return Views(source_name(file), python_file(file), stub_file(file))


def texts_of(views: Views) -> dict[str, str]:
    """The generated texts by suffix, `"py"` and `"pyi"`, headers included."""
    from .templates import rendered

    texts = {"py": text_of_python(views.python), "pyi": rendered("file.pyi.j2", file=views.stub)}
    return {suffix: with_header(views.source, FORMAT, text) for suffix, text in texts.items()}


def text_of_python(view: PythonFileView) -> str:
    """The text of a generated module, without a header."""
    from .templates import rendered

    classes = [
        rendered("tensorclass.py.j2" if isinstance(cls, TensorClassView) else "module.py.j2", c=cls)
        for cls in view.classes
    ]
    return rendered("file.py.j2", file=view, classes=classes, imports=view.imports(classes))


def render_class(declaration: Declaration) -> str:
    """The generated Python of one class, for a declaration that no file was generated for."""
    return text_of_python(python_class(declaration))


def render_outputs(path: str, views: Views, existing: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of the outputs of a source. A text that exists already, with the same bytes, is not checked again.

    Raises:
        SyntaxError: A rendered text is not valid Python, which is a bug in qten-gen.
    """
    named = dict(zip(outputs_of(path), texts_of(views).values(), strict=True))
    for output, text in named.items():
        if existing.get(output) != text.encode():
            _check_syntax(output, text)
    return named


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
