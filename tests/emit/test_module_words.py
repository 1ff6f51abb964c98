"""What the docstrings of a generated Module say."""

from __future__ import annotations

from qten_gen.emit.module_words import init_doc
from qten_gen.model import ConfigDecl, ModuleDecl


def test_the_constructor_says_what_none_means() -> None:
    said = "Construct the module on a device, its floating point tensors with a dtype; None means the default."
    assert init_doc(ModuleDecl("Net", (ConfigDecl("dim"),), ("dim",))) == said


def test_the_constructor_repeats_what_the_declaration_says_of_its_arguments() -> None:
    fields = (ConfigDecl("dim"), ConfigDecl("heads", doc="How many.", alias="count"))
    assert init_doc(ModuleDecl("Net", fields, ("dim", "heads"))).splitlines()[1:] == [
        "",
        "Args:",
        "    count: How many.",
    ]
