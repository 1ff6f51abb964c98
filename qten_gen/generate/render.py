"""Views of Python → text."""

from __future__ import annotations

from ..emit.file import PythonFileView, python_class
from ..emit.tensorclass import TensorClassView
from ..model import Declaration


def render_class(declaration: Declaration) -> str:
    """The generated Python of one class, for a declaration that no file was generated for."""
    return text_of_python(python_class(declaration))


def text_of_python(view: PythonFileView) -> str:
    """The text of a generated module, without a header."""
    from .templates import rendered

    classes = [
        rendered("tensorclass.py.j2" if isinstance(cls, TensorClassView) else "module.py.j2", c=cls)
        for cls in view.classes
    ]
    return rendered("file.py.j2", file=view, classes=classes)
