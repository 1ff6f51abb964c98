"""Views of stubs → text. A class that is rendered in memory has no stub, and loads none of this."""

from __future__ import annotations

from ..emit.stub_file import stub_file
from ..emit.tensorclass_stub import TensorClassStubView
from ..model import FileDecl
from .stub_templates import file_pyi, module_pyi, tensorclass_pyi


def render_stub(file: FileDecl) -> str:
    """The stub of the generated module of a source file, without a header."""
    view = stub_file(file)
    classes = [
        tensorclass_pyi(cls) if isinstance(cls, TensorClassStubView) else module_pyi(cls) for cls in view.classes
    ]
    return file_pyi(view, classes)
