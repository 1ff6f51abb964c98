"""How annotations are written in generated code."""

import pytest

from qten_gen.emit.spelling import static_type
from qten_gen.model import TypeExpr


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("list[str]", "list[str]"),
        ("'Point'", "Point"),
        ('"list[str]"', "list[str]"),
        ('"Point" | "Line"', '"Point" | "Line"'),
        ("", ""),
    ],
)
def test_an_annotation_comes_out_of_its_quotes(written: str, expected: str) -> None:
    assert static_type(TypeExpr("", text=written)) == expected
