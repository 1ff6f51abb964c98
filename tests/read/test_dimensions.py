"""Dimension expressions: text to tree, tree to Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.emit.dimensions import to_python
from qten_gen.model import Binary, Dim, DimError, Name, Negate, Number, dim_names
from qten_gen.read.dimensions import parse

VALUES = {"dim": 7, "heads": 3, "n": 0}


def read(text: str) -> Dim:
    dim = parse(text)
    assert not isinstance(dim, DimError), dim
    return dim


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("8", Number(8)),
        ("1_000", Number(1000)),
        (" dim ", Name("dim")),
        ("-1", Negate(Number(1))),
        ("3*dim", Binary("*", Number(3), Name("dim"))),
        ("a - b - c", Binary("-", Binary("-", Name("a"), Name("b")), Name("c"))),
        ("a // b * c", Binary("*", Binary("//", Name("a"), Name("b")), Name("c"))),
        ("a + b * c", Binary("+", Name("a"), Binary("*", Name("b"), Name("c")))),
        ("-a * b", Binary("*", Negate(Name("a")), Name("b"))),
        ("(a + b) * c", Binary("*", Binary("+", Name("a"), Name("b")), Name("c"))),
    ],
)
def test_an_expression_has_the_structure_that_python_gives_it(text: str, dim: Dim) -> None:
    assert parse(text) == dim


@pytest.mark.parametrize(
    ("text", "offset", "problem"),
    [
        ("", 0, "a number or a name is missing at the end"),
        ("3*", 2, "a number or a name is missing at the end"),
        ("* dim", 0, "a number or a name is missing before '*'"),
        ("dim / 2", 4, "'/' is not integer division: write '//'"),
        ("dim dim", 4, "an operator is missing before 'dim'"),
        ("dim, 2", 3, "a string is one dimension: write each dimension as a separate argument"),
        ("(dim + 2", 0, "'(' is never closed"),
        ("dim)", 3, "')' has no matching '('"),
        ("dim % 2", 4, "'%' is not allowed here: use integers, names, + - * // and parentheses"),
        ("007", 0, "'007' is not a decimal integer"),
        ("if", 0, "'if' is a Python keyword"),
        ("a²", 0, "'a²' is not a valid name"),
        ("(" * 101 + "1" + ")" * 101, 100, "nested more than 100 levels deep"),
    ],
)
def test_a_fault_is_reported_where_it_stands(text: str, offset: int, problem: str) -> None:
    assert parse(text) == DimError(text, problem, offset)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("((a+b))*c", "(a + b) * c"),
        ("(a*b)+c", "a * b + c"),
        ("a-(b-c)", "a - (b - c)"),
        ("a//(b*c)", "a // (b * c)"),
        ("-(a+b)", "-(a + b)"),
        ("-(-a)", "--a"),
        ("(-a)*b", "-a * b"),
        ("a*(-b)", "a * -b"),
    ],
)
def test_python_text_has_only_the_parentheses_it_needs(text: str, printed: str) -> None:
    assert to_python(read(text)) == printed


def test_names_are_spelled_as_asked() -> None:
    assert to_python(read("3*dim"), lambda name: f"self.{name}") == "3 * self.dim"


dims = st.recursive(
    st.integers(0, 20).map(Number) | st.sampled_from(sorted(VALUES)).map(Name),
    lambda inner: inner.map(Negate) | st.builds(Binary, st.sampled_from(["+", "-", "*", "//"]), inner, inner),
    max_leaves=12,
)


def value(dim: Dim) -> int | None:
    """What the tree is worth, None where it divides by zero."""
    match dim:
        case Number(number):
            return number
        case Name(name):
            return VALUES[name]
        case Negate(operand):
            inner = value(operand)
            return None if inner is None else -inner
        case Binary(operator, left, right):
            a, b = value(left), value(right)
            if a is None or b is None or (operator == "//" and b == 0):
                return None
            return {"+": a + b, "-": a - b, "*": a * b}[operator] if operator != "//" else a // b


@given(dims)
def test_printing_and_reading_gives_the_same_tree(dim: Dim) -> None:
    assert parse(to_python(dim)) == dim


@given(dims)
def test_python_computes_what_the_tree_says(dim: Dim) -> None:
    try:
        computed: int | None = eval(to_python(dim), {}, dict(VALUES))
    except ZeroDivisionError:
        computed = None

    assert computed == value(dim)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    found = parse(text)

    if isinstance(found, DimError):
        assert 0 <= found.offset <= len(text)
    else:
        assert all(name.isidentifier() and name in text for name in dim_names(found))
