"""How generated text is set out."""

from ast import literal_eval

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.emit import layout


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
