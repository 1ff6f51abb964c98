"""Views → text. The only module that imports jinja2."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ..common.format_number import FORMAT
from ..emit.file import PythonFileView, StubFileView, python_class, python_file, stub_file
from ..emit.module import ModuleView
from ..emit.module_stub import ModuleStubView
from ..emit.source_imports import source_name
from ..emit.tensorclass import TensorClassView
from ..emit.tensorclass_stub import TensorClassStubView
from ..model import Declaration, FileDecl
from ..project.header import with_header

_FOLDERS = (Path(__file__).parents[1] / "_templates", Path(__file__).parents[2] / "templates")
"""Where the templates are: in a wheel, and in a checkout."""

_TEMPLATES: dict[type, str] = {
    PythonFileView: "file.py.j2",
    StubFileView: "file.pyi.j2",
    TensorClassView: "tensorclass.py.j2",
    TensorClassStubView: "tensorclass.pyi.j2",
    ModuleView: "module.py.j2",
    ModuleStubView: "module.pyi.j2",
}


def render(file: FileDecl) -> dict[str, str]:
    """The generated texts of a source file by suffix, `"py"` and `"pyi"`, headers included."""
    name = source_name(file)
    return {
        "py": with_header(name, FORMAT, _file(python_file(file))),
        "pyi": with_header(name, FORMAT, _file(stub_file(file))),
    }


def render_class(declaration: Declaration) -> str:
    """The generated Python of one class, for a declaration that no file was generated for."""
    return _file(python_class(declaration))


def _file(view: PythonFileView | StubFileView) -> str:
    return _template(view).render(file=view, classes=[_template(cls).render(c=cls) for cls in view.classes])


def _template(view: object) -> Template:
    return _environment().get_template(_TEMPLATES[type(view)])


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDERS),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        auto_reload=False,
    )
