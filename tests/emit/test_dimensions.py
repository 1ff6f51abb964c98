"""Dimension expressions as Python."""

import pytest

from qten_gen.model import Binary, Dim, Name, Negate, Number
from qten_gen.model.dimension_text import to_python
from qten_gen.model.dimensions import DimError
from qten_gen.read.dimensions import parse


def dim(text: str) -> Dim:
    found = parse(text)
    assert not isinstance(found, DimError)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3*dim", "3 * dim"),
        ("(a+b)*2", "(a + b) * 2"),
        ("(a*b)+2", "a * b + 2"),
        ("a-b-c", "a - b - c"),
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "a - b - c"),
        ("a//(b*c)", "a // (b * c)"),
        ("a*b//c", "a * b // c"),
        ("a*(b//c)", "a * (b // c)"),
        ("-(a+b)", "-(a + b)"),
        ("-a*b", "-a * b"),
    ],
)
def test_an_expression_has_the_parentheses_that_it_needs_and_no_more(text: str, expected: str) -> None:
    assert to_python(dim(text)) == expected


@pytest.mark.parametrize("text", ["a-(b-c)", "(a+b)*(c-a)//2", "-(a+b)//c", "a//(b*c)", "--a*b"])
def test_what_is_written_is_worth_what_was_read(text: str) -> None:
    sizes = {"a": 7, "b": 3, "c": 2}
    assert eval(to_python(dim(text)), dict(sizes)) == eval(text, dict(sizes))


def test_names_are_spelled_as_asked_for() -> None:
    product = Binary("*", Negate(Name("dim")), Number(2))
    assert to_python(product, lambda field: f"self.{field}") == "-self.dim * 2"
