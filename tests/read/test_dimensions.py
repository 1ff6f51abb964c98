"""Dimension expressions: text to tree, tree to Python."""

import ast
import warnings
from functools import partial, reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.model import Binary, Dim, DimError, Name, Negate, Number, dim_names
from qten_gen.model.dimension_text import in_words, to_python
from qten_gen.model.dimensions import Attribute, Call, Compare, Conditional, Constant, Item, Logical, Not, Tuple
from qten_gen.read.dimensions import parse


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
        ("dim dim", 4, "an operator is missing before 'dim'"),
        (
            "dim, 2",
            3,
            "a string is one expression: write each dimension as a separate argument, and a tuple in parentheses",
        ),
        ("(dim + 2", 0, "'(' is never closed"),
        ("dim)", 3, "')' has no matching '('"),
        ("dim @ 2", 4, "'@' is not allowed here: use numbers, names, operators and parentheses"),
        ("dim = 2", 4, "'=' does not compare: write '=='"),
        ("wide & deep", 5, "'&' is not allowed here: write 'and'"),
        ("wide | deep", 5, "'|' is not allowed here: write 'or'"),
        ("!wide", 0, "'!' is not allowed here: write 'not', or '!='"),
        ("widths[1:]", 8, "':' is not allowed here: an item is one element, as in widths[0]"),
        ("widths[1", 6, "'[' is never closed"),
        ("widths]", 6, "']' has no matching '['"),
        ("wide if deep", 5, "'if' needs an 'else'"),
        ("if", 0, "a number or a name is missing before 'if'"),
        ("1 + not wide", 4, "'not' needs parentheses here: (not x)"),
        ("wide not deep", 9, "'in' is missing after 'not'"),
        ("norm == 'rms", 8, "the string that starts here does not end, or has a backslash in it"),
        ("f'rms'", 1, "an operator is missing before \"'rms'\""),
        ("1.5.real", 3, "1.5 has no attributes or items"),
        ("config.", 7, "a name is missing after '.'"),
        ("config.class", 7, "'class' is a Python keyword"),
        ("config.__width", 7, "'__width' has another name inside a class"),
        ("config.width()", 12, "a method cannot be called here"),
        ("ln(widths)", 0, "ln cannot be called here: did you mean len?"),
        (
            "sqrt(dim)",
            0,
            "sqrt cannot be called here: an expression can call abs, bool, float, getattr, int, len, max, min, round, sum",
        ),
        ("len(widths, 2)", 0, "len takes 1 argument, but 2 are given"),
        ("min()", 0, "min takes at least 1 argument, but 0 are given"),
        ("round(1, 2, 3)", 0, "round takes 1 or 2 arguments, but 3 are given"),
        ("1e999", 0, "the number is too large"),
        ("007", 0, "'007' is not a decimal integer"),
        ("lambda", 0, "'lambda' is a Python keyword"),
        ("a²", 0, "'a²' is not a valid name"),
        ("(" * 31 + "1" + ")" * 31, 30, "nested more than 30 levels deep"),
        ("1" + "+1" * 100, 200, "longer than 200 parts"),
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
        ("(-a)**2", "(-a) ** 2"),
        ("-(a**2)", "-a ** 2"),
        ("a**(-b)", "a ** -b"),
        ("(a**b)**c", "(a ** b) ** c"),
        ("(a or b)*c", "(a or b) * c"),
        ("(a and b) or c", "(a and b) or c"),
        ("a and b or c", "(a and b) or c"),
        ("not (a == b)", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("(a == b) == c", "(a == b) == c"),
        ("(a if b else c) + 1", "(a if b else c) + 1"),
        ("a if b else (c if d else a)", "a if b else c if d else a"),
        ("(a if b else c) if d else a", "(a if b else c) if d else a"),
        ("(a + b)[0].c", "(a + b)[0].c"),
        ("norm == 'rms'", 'norm == "rms"'),
        ("(a)", "a"),
        ("(a,)", "(a,)"),
    ],
)
def test_python_text_has_only_the_parentheses_it_needs(text: str, printed: str) -> None:
    assert to_python(read(text)) == printed


def test_names_are_spelled_as_asked() -> None:
    assert to_python(read("3*dim"), lambda name: f"self.{name}") == "3 * self.dim"


NAMES = st.sampled_from(["dim", "heads", "config", "widths", "index"]).map(Name)
CONSTANTS = (
    st.integers(0, 20).map(Number)
    | st.floats(0, 1e20, allow_nan=False).map(lambda value: Constant(repr(value)))
    | st.sampled_from(["None", "True", "False", "'rms'", "'it is 1.5'"]).map(Constant)
)
ARITHMETIC = st.sampled_from(["+", "-", "*", "/", "//", "%", "**"])
COMPARISONS = st.sampled_from(["==", "!=", "<", ">", "<=", ">=", "in", "not in", "is", "is not"])


def composed(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    """Expressions made of others. A constant has no attributes and items."""
    holders = inner.filter(lambda dim: not isinstance(dim, Number | Constant))
    several = st.lists(inner, max_size=3).map(tuple)
    return (
        st.builds(Negate, inner)
        | st.builds(Not, inner)
        | st.builds(Binary, ARITHMETIC, inner, inner)
        | st.builds(Logical, st.sampled_from(["and", "or"]), inner, inner)
        | st.builds(Compare, inner, st.lists(st.tuples(COMPARISONS, inner), min_size=1, max_size=2).map(tuple))
        | st.builds(Conditional, inner, inner, inner)
        | st.builds(Attribute, holders, st.sampled_from(["width", "if_"]))
        | st.builds(Item, holders, inner)
        | st.builds(Tuple, several)
        | st.builds(lambda one, more: Call("max", (one, *more)), inner, several)
    )


dims = st.recursive(NAMES | CONSTANTS, composed, max_leaves=12)


@given(dims)
def test_printing_and_reading_gives_the_same_tree(dim: Dim) -> None:
    assert parse(to_python(dim)) == dim
    assert parse(in_words(dim)) == dim


@given(dims)
def test_python_reads_the_same_structure(dim: Dim) -> None:
    with warnings.catch_warnings(action="ignore"):  # such as `1 is 1`
        assert structure(ast.parse(to_python(dim), mode="eval").body) == dim


def structure(node: ast.expr) -> Dim:
    """The tree that Python's own parser gives an expression."""
    match node:
        case ast.Constant(value):
            return Number(value) if type(value) is int else Constant(repr(value))
        case ast.Name(name):
            return Name(name)
        case ast.Attribute(value, name):
            return Attribute(structure(value), name)
        case ast.Subscript(value, index):
            return Item(structure(value), structure(index))
        case ast.Tuple(elements):
            return Tuple(tuple(map(structure, elements)))
        case ast.Call(ast.Name(function), arguments):
            return Call(function, tuple(map(structure, arguments)))
        case ast.UnaryOp(ast.USub(), operand):
            return Negate(structure(operand))
        case ast.UnaryOp(ast.Not(), operand):
            return Not(structure(operand))
        case ast.BinOp(left, operator, right):
            return Binary(OPERATORS[type(operator)], structure(left), structure(right))
        case ast.BoolOp(operator, values):
            return reduce(partial(Logical, OPERATORS[type(operator)]), map(structure, values))
        case ast.Compare(left, operators, others):
            pairs = zip((OPERATORS[type(operator)] for operator in operators), map(structure, others), strict=True)
            return Compare(structure(left), tuple(pairs))
        case ast.IfExp(test, then, otherwise):
            return Conditional(structure(then), structure(test), structure(otherwise))
    raise AssertionError(ast.dump(node))


OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}

WORDS = st.sampled_from(
    [
        *"+-*/%()[],.",
        "//",
        "**",
        "==",
        "<",
        "not",
        "and",
        "or",
        "in",
        "is",
        "if",
        "else",
        "a",
        "b",
        "len",
        "max",
        "1",
        "0.5",
        "'s'",
    ]
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    found = parse(text)

    if not isinstance(found, DimError):
        with warnings.catch_warnings(action="ignore"):
            assert structure(ast.parse(text, mode="eval").body) == found


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    found = parse(text)

    if isinstance(found, DimError):
        assert 0 <= found.offset <= len(text)
    else:
        assert all(name.isidentifier() and name in text for name in dim_names(found))
