"""The program about the types of operations holds a row for every method of the table, and all programs one for every
public member. `test_programs` checks them."""

from __future__ import annotations

import re

from qten_gen.runtime.tensorclass.operations.table import methods
from tests.tensorclass.declared import Point
from tests.typing.marked_programs import programs
from tests.typing.operation_rows import program


def test_every_public_member_is_in_a_program() -> None:
    members = {name for name in dir(Point) if not name.startswith("_")} - set(Point._fields)
    text = "\n".join(path.read_text(encoding="utf-8") for path in programs())
    assert members - set(re.findall(r"\.(\w+)", text)) == set()


def test_every_method_has_a_row() -> None:
    text = program()
    assert [name for name in methods() if not name.startswith("__") and f".{name}(" not in text] == []
