"""How generated text is set out."""

from ast import literal_eval

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.emit import layout


def test_items_stand_on_one_line_where_it_fits() -> None:
    assert layout.bracketed("f(", ["a", "b"], ")", indent=4, width=11) == "f(a, b)"


def test_items_that_do_not_fit_stand_on_lines_of_their_own() -> None:
    assert layout.bracketed("f(", ["a", "b"], ")", indent=4, width=10) == "f(\n        a,\n        b,\n    )"


@pytest.mark.parametrize(
    ("literal", "expected"),
    [("'train'", '"train"'), ("'a\"b'", "'a\"b'"), ('"it\'s"', '"it\'s"'), ("0.001", "0.001"), ("None", "None")],
)
def test_a_string_is_in_double_quotes_where_that_needs_no_escapes(literal: str, expected: str) -> None:
    assert layout.double_quoted(literal) == expected


@pytest.mark.parametrize(("items", "expected"), [([], "()"), (["a"], "(a,)"), (["a", "b"], "(a, b)")])
def test_a_tuple_of_any_length_is_a_tuple(items: list[str], expected: str) -> None:
    assert layout.in_parentheses(items) == expected


def test_names_and_mappings_are_quoted() -> None:
    assert layout.names(["a", "b"], 0, "_fields = ") == '_fields = ("a", "b")'
    assert layout.mapping([("point", "Point")], 0, "_nested = ") == '_nested = {"point": "Point"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", ["a", "b"]),
        ("dict[str, int], b", ["dict[str, int]", "b"]),
        ("f(a, [b, c]), {d: e, f: g}", ["f(a, [b, c])", "{d: e, f: g}"]),
        ("", []),
    ],
)
def test_a_text_is_split_at_commas_outside_brackets(text: str, expected: list[str]) -> None:
    assert layout.split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line.", '"""One line."""'),
        ("Two\n\nlines.", '"""Two\n\n    lines.\n    """'),
        ('It says "so"', '"""It says "so\\""""'),
        ('a """ b', '"""a \\"\\"\\" b"""'),
        ("C:\\new\\", '"""C:\\\\new\\\\"""'),
        ("a\0b", '"""a\\x00b"""'),
    ],
)
def test_a_docstring_stands_between_triple_quotes(text: str, expected: str) -> None:
    assert layout.docstring(text, 4) == expected


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Zl", "Zp", "Cc"], include_characters="\0"), max_size=20)
)
def test_a_docstring_reads_back_as_it_was(text: str) -> None:
    assert literal_eval(layout.docstring(text, 0)) == text.strip()
