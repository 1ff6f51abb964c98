"""Expressions: Python's, of the kinds of nodes that are allowed."""

import ast
import unicodedata
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.model import Dim, DimError, dim_names
from qten_gen.model.dimensions import in_words, to_python
from qten_gen.read.dimensions import parse


def read(text: str) -> Dim:
    dim = parse(text)
    assert not isinstance(dim, DimError), dim
    return dim


@pytest.mark.parametrize(
    ("text", "python", "words"),
    [
        ("8", "8", "8"),
        ("1_000", "1000", "1000"),
        ("0x10", "16", "16"),
        ("1e-3", "0.001", "0.001"),
        (" dim ", "dim", "dim"),
        ("-1", "-1", "-1"),
        ("3*dim", "3 * dim", "3*dim"),
        ("((a+b))*c", "(a + b) * c", "(a+b)*c"),
        ("(a*b)+c", "a * b + c", "a*b+c"),
        ("a-(b-c)", "a - (b - c)", "a-(b-c)"),
        ("a//(b*c)", "a // (b * c)", "a//(b*c)"),
        ("-(a+b)", "-(a + b)", "-(a+b)"),
        ("(-a)**2", "(-a) ** 2", "(-a)**2"),
        ("a**(-b)", "a ** (-b)", "a**(-b)"),
        ("(a and b) or c", "a and b or c", "a and b or c"),
        ("not (a == b)", "not a == b", "not a == b"),
        ("0 < rate<=1", "0 < rate <= 1", "0 < rate <= 1"),
        ("a if b else (c if d else a)", "a if b else c if d else a", "a if b else c if d else a"),
        ("(a + b)[index+1].c", "(a + b)[index + 1].c", "(a+b)[index+1].c"),
        ("norm == 'rms * 2'", 'norm == "rms * 2"', 'norm == "rms * 2"'),
        ("norm == 'say \"no\"'", "norm == 'say \"no\"'", "norm == 'say \"no\"'"),
        ("(a,)", "(a,)", "(a,)"),
        ("max(a, 2)", "max(a, 2)", "max(a, 2)"),
    ],
)
def test_an_expression_has_one_text_for_python_and_one_for_people(text: str, python: str, words: str) -> None:
    assert (to_python(read(text)), in_words(read(text))) == (python, words)


@pytest.mark.parametrize(
    ("text", "offset", "problem"),
    [
        ("", 0, "a number or a name is missing at the end"),
        ("3*", 2, "a number or a name is missing at the end"),
        ("* dim", 0, "it cannot go on with '*'"),
        ("dim dim", 4, "an operator is missing before 'dim'"),
        (
            "dim, 2",
            0,
            "a string is one expression: write each dimension as a separate argument, and a tuple in parentheses",
        ),
        ("(dim + 2", 0, "'(' was never closed"),
        ("dim)", 3, "unmatched ')'"),
        ("dim @ 2", 0, "this is not allowed here: use numbers, names, operators and parentheses"),
        ("dim = 2", 4, "'=' does not compare: write '=='"),
        ("wide & deep", 0, "'&' is not allowed here: write 'and'"),
        ("wide | deep", 0, "'|' is not allowed here: write 'or'"),
        ("!wide", 0, "it cannot go on with '!'"),
        ("widths[1:]", 7, "':' is not allowed here: an item is one element, as in widths[0]"),
        ("widths[1", 6, "'[' was never closed"),
        ("widths]", 6, "unmatched ']'"),
        ("wide if deep", 0, "expected 'else' after 'if' expression"),
        ("1 + not wide", 4, "it cannot go on with 'not'"),
        ("wide not deep", 9, "an operator is missing before 'deep'"),
        ("norm == 'rms", 8, "unterminated string literal (detected at line 1)"),
        ("norm == '\\n'", 9, "a backslash is not allowed here"),
        ("f'rms'", 0, "this is not allowed here: use numbers, names, operators and parentheses"),
        ("1.5.real", 0, "a constant has no attributes or items"),
        ("config.", 7, "a number or a name is missing at the end"),
        ("config.class", 7, "it cannot go on with 'class'"),
        ("config.__width", 0, "'__width' has another name inside a class"),
        ("config.width()", 0, "a method cannot be called here"),
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
        ("min(a, *b)", 7, "'*' is not allowed before an argument here"),
        ("min(a, key=b)", 7, "a keyword is not allowed here"),
        ("[a, b]", 0, "'[' is not allowed here: write a tuple"),
        ("widths[1, 2]", 0, "an item is one element, as in widths[0]"),
        ("(a := 1)", 1, "this is not allowed here: use numbers, names, operators and parentheses"),
        ("a²", 1, "invalid character '²' (U+00B2)"),
        ("ä + é @ 2", 4, "this is not allowed here: use numbers, names, operators and parentheses"),
        ("-" * 101 + "1", 0, "longer than 100 parts"),
        ("1" + "+1" * 50, 0, "longer than 100 parts"),
        ("(" * 1000 + "1", 1000, "longer than 1000 characters"),
    ],
)
def test_a_fault_is_reported_where_it_stands(text: str, offset: int, problem: str) -> None:
    assert parse(text) == DimError(text, problem, offset)


WORDS = st.sampled_from([*"+-*/%()[],.", *"// ** == < not and or in is if else a b len max 1 0.5 's'".split()])


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_what_is_read_is_what_python_reads(text: str) -> None:
    found = parse(text)

    if not isinstance(found, DimError):
        with warnings.catch_warnings(action="ignore"):  # such as `1 is 1`
            read_by_python = ast.parse(text, mode="eval")
        assert ast.dump(found.node) == ast.dump(read_by_python.body)
        assert parse(to_python(found)) == parse(in_words(found)) == found


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_inside_itself(text: str) -> None:
    found = parse(text)

    if isinstance(found, DimError):
        assert 0 <= found.offset <= len(text)
    else:
        assert all(name.isidentifier() and name in unicodedata.normalize("NFKC", text) for name in dim_names(found))
