"""Names in types as text."""

import pytest

from qten_gen.emit.spelling import renamed

NAMES = {"A": "_decl.A", "größe": "_größe"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A | None", "_decl.A | None"),
        ("x.A", "x.A"),
        ("A.Mode", "_decl.A.Mode"),
        ("dict[str, A]", "dict[str, _decl.A]"),
        ('list["A | B"]', "list[_decl.A | B]"),
        ('Literal["A", 3]', 'Literal["A", 3]'),
        ('Literal["A"] | A', 'Literal["A"] | _decl.A'),
        ('Literal[A.ON, "A"]', 'Literal[_decl.A.ON, "A"]'),
        ('Box["not a type"]', 'Box["not a type"]'),
        ("tuple[größe, 'größe']", "tuple[_größe, _größe]"),
        ("Callable[[A], A]", "Callable[[_decl.A], _decl.A]"),
        ("[T: A, **P]", "[T: _decl.A, **P]"),
    ],
)
def test_names_are_written_anew_and_strings_only_where_they_are_types(text: str, expected: str) -> None:
    assert renamed(text, lambda name: NAMES.get(name, name), lambda name: name == "Literal") == expected
