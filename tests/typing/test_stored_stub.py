"""The types that checkers see of generated storage are those of generated classes."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from tests.tensorclass.declared import Batch

STUBS = Path(__file__).parents[2] / "stubs" / "qten_gen_typing"


def test_the_primitives_of_the_stub_are_those_of_generated_classes() -> None:
    tree = ast.parse((STUBS / "primitives.pyi").read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Primitives")
    stub = {
        node.name: [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        for node in found.body
        if isinstance(node, ast.FunctionDef)
    }
    (generated,) = (base for base in Batch.__mro__ if "_map" in vars(base))
    assert stub == {name: list(inspect.signature(vars(generated)[name]).parameters) for name in stub}
