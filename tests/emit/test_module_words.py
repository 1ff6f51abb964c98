"""What the docstrings of a generated Module say."""

from __future__ import annotations

from qten_gen.emit.module_words import init_doc
from qten_gen.model import ConfigDecl, ModuleDecl


def test_the_constructor_says_what_none_means() -> None:
    said = "Construct the module on a device, its floating point tensors with a dtype; None means the default."
    assert init_doc(ModuleDecl("Net", (ConfigDecl("dim"),), ("dim",))) == said
