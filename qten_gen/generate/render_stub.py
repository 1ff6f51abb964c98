"""Views of stubs → text. A class that is rendered in memory has no stub, and loads none of this."""

from __future__ import annotations

from ..emit.stub_file import stub_file
from ..model import FileDecl


def render_stub(file: FileDecl) -> str:
    """The stub of the generated module of a source file, without a header."""
    from .templates import rendered

    return rendered("file.pyi.j2", file=stub_file(file))
