"""The program about the types of operations holds a row for every method of the table, and all programs one for every
public member. `test_programs` checks them."""

from __future__ import annotations

import re
from pathlib import Path

from qten_gen.runtime.tensorclass.operations.table import methods
from tests.tensorclass.declared import Point
from tests.typing.operation_rows import program

PROGRAMS = Path(__file__).parent / "programs"


def test_the_program_is_that_of_the_rows() -> None:
    path = PROGRAMS / "operations.py"
    assert path.read_text(encoding="utf-8") == program(), f"run: python -m tests.typing.operation_rows > {path}"


def test_every_public_member_is_in_a_program() -> None:
    members = {name for name in dir(Point) if not name.startswith("_")} - set(Point._fields)
    text = "\n".join(path.read_text(encoding="utf-8") for path in PROGRAMS.glob("*.py"))
    assert members - set(re.findall(r"\.(\w+)", text)) == set()


def test_every_method_has_a_row() -> None:
    text = program()
    assert [name for name in methods() if not name.startswith("__") and f".{name}(" not in text] == []
