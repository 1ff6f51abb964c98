"""What the docstrings of a generated Module say."""

from __future__ import annotations

from qten_gen.emit.module_words import class_doc, init_doc
from qten_gen.model import ModuleDecl, ParameterDecl
from qten_gen.model.dimensions import Name

DECODER = ModuleDecl(
    "Decoder",
    (ParameterDecl("embedding", (Name("width"),)), ParameterDecl("head", (), tie="embedding")),
    own=("embedding", "head"),
)


def test_the_class_says_which_parameter_is_tied_to_which() -> None:
    assert class_doc(DECODER).splitlines()[-3:] == [
        "Parameters:",
        "    embedding: `(width,)`",
        "    head: tied to `embedding`",
    ]


def test_the_constructor_says_what_none_means() -> None:
    assert init_doc(DECODER).splitlines()[-2:] == [
        "    device: Where its tensors are made; None means the default device.",
        "    dtype: The dtype of its floating point tensors that declare none; None means the default dtype.",
    ]
