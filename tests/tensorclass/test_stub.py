"""The types that checkers see of table-driven methods are those of the table."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass import operators

from .declared import Batch

STUBS = Path(__file__).parents[2] / "stubs" / "qten_gen_typing"


def methods(file: str, cls: str) -> dict[str, list[str]]:
    """The methods of a class in a stub, with the names of their parameters."""
    tree = ast.parse((STUBS / file).read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    return {
        node.name: [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        for node in found.body
        if isinstance(node, ast.FunctionDef)
    }


def test_the_operators_of_the_stub_are_those_of_the_table() -> None:
    table = operators.methods()
    assert methods("operators.pyi", "TensorOperators") == {
        name: list(inspect.signature(method).parameters) for name, method in table.items()
    }
    assert all(getattr(TensorClass, name).__name__ == name for name in table)


def test_the_primitives_of_the_stub_are_those_of_generated_classes() -> None:
    (generated,) = (base for base in Batch.__mro__ if "_map" in vars(base))
    stub = methods("primitives.pyi", "Primitives")
    assert stub == {name: list(inspect.signature(vars(generated)[name]).parameters) for name in stub}
