"""Views of Python → text. The templates are functions here: `templates/compile.py` makes them of the files beside it."""

from __future__ import annotations

from ..emit.file import PythonFileView, python_class, python_file
from ..emit.tensorclass import TensorClassView
from ..model import Declaration, FileDecl
from .python_templates import file_py, module_py, tensorclass_py


def render_python(file: FileDecl) -> str:
    """The generated module of a source file, without a header."""
    return _text(python_file(file))


def render_class(declaration: Declaration) -> str:
    """The generated Python of one class, for a declaration that no file was generated for."""
    return _text(python_class(declaration))


def _text(view: PythonFileView) -> str:
    classes = [tensorclass_py(cls) if isinstance(cls, TensorClassView) else module_py(cls) for cls in view.classes]
    return file_py(view, classes)
