"""The methods of TensorClass that are functions of other files are written out for checkers, none of which binds all of them.

The program about operations has a row for every method of the table, and all programs one for every public member.
`test_programs` checks them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.table import methods
from templates.members import FILES, stub
from tests.tensorclass.declared import Point
from tests.typing.marked_programs import programs
from tests.typing.operation_rows import program

REPOSITORY = Path(__file__).parents[2]

PROPERTIES = {"batch_size", "device", "names"}
"""Descriptors of `qten_gen_typing.slots` to checkers."""


@pytest.mark.parametrize("file", FILES)
def test_the_methods_of_a_file_are_those_of_the_functions(file: str) -> None:
    path = REPOSITORY / "stubs" / "qten_gen_typing" / f"{file}.pyi"
    assert path.read_text(encoding="utf-8") == stub(file), "run: make generate"


def test_no_method_is_an_assignment_to_a_checker() -> None:
    """ty gives `batch[0]` no type where the class body says `__getitem__ = getitem`."""
    path = REPOSITORY / "qten_gen" / "runtime" / "tensorclass" / "tensorclass.py"
    body = next(node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef)).body
    assigned = [node.value for node in body if isinstance(node, ast.Assign)]
    assert not any(isinstance(value, ast.Attribute) for value in assigned)


def test_every_public_member_is_known_to_checkers() -> None:
    stubs = [*(REPOSITORY / "stubs" / "qten_gen_typing").glob("*.pyi")]
    room = REPOSITORY / "qten_gen" / "runtime" / "tensorclass"
    written = [*stubs, room / "tensorclass.py", *(room / "methods").glob("*.py")]
    known = {
        node.name
        for path in written
        for cls in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(cls, ast.ClassDef)
        for node in cls.body
        if isinstance(node, ast.FunctionDef)
    }
    assert {name for name in vars(TensorClass) if not name.startswith("_")} - known - PROPERTIES == set()


def test_every_public_member_is_in_a_program() -> None:
    members = {name for name in dir(Point) if not name.startswith("_")} - set(Point._fields)
    text = "\n".join(path.read_text(encoding="utf-8") for path in programs())
    assert members - set(re.findall(r"\.(\w+)", text)) == set()


def test_every_method_has_a_row() -> None:
    text = program()
    assert [name for name in methods() if not name.startswith("__") and f".{name}(" not in text] == []
