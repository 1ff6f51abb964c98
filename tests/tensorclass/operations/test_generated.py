"""What is made of the table is fresh: the types that checkers see, and the page of the documentation."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.table import GROUPS, methods
from templates.operation_types import FILES, stub
from templates.operations_page import documentation

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("file", FILES)
def test_the_types_are_those_of_the_table(file: str) -> None:
    path = REPOSITORY / "stubs" / "qten_gen_typing" / f"{file}.pyi"
    assert path.read_text(encoding="utf-8") == stub(file), "run: make generate"


def test_the_page_is_that_of_the_table() -> None:
    path = REPOSITORY / "docs" / "operations.md"
    assert path.read_text(encoding="utf-8") == documentation(), "run: make generate"


def test_every_method_has_a_type() -> None:
    with_methods = {group.title for group in GROUPS if any(operation.is_method for operation in group.operations)}
    assert {title for titles in FILES.values() for title in titles} == with_methods
    dir(TensorClass)
    assert typed() == {name: parameters(name) for name in methods()}


def typed() -> dict[str, list[str]]:
    """The parameters of the methods in the stubs; of overloads, those of the last one, which has most."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        for node in ast.walk(ast.parse(stub(file))):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args
                names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                given = [argument.arg for argument in names if argument.arg not in ("self", "cls")]
                if len(given) >= len(found.get(node.name, [])):
                    found[node.name] = given
    return found


def parameters(name: str) -> list[str]:
    """The parameters of a method at run time."""
    method = vars(TensorClass)[name]
    function = method.__func__ if isinstance(method, classmethod) else method
    found = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in found][1:]
