"""How generated code is set out, and how it writes types, values, shapes and their checks."""

from ast import literal_eval

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qten_gen.emit import layout, spelling
from qten_gen.emit.names import Builtins
from qten_gen.emit.spelling import renamed
from qten_gen.model import Default, FieldDecl, FieldKind, TypeExpr, Value


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        (None, "source: str"),
        (Default(Value(literal="'train'")), 'source: str = "train"'),
        (Default(Value(torch_name="torch.int64")), "source: str = _torch.int64"),
        (Default(Value(text="NAME")), "source: str = _rt.DEFAULT"),
        (Default(Value(torch_name="builtins.list"), factory=True), "source: str = _rt.DEFAULT"),
    ],
)
def test_a_constructor_parameter_has_its_default(default: Default | None, expected: str) -> None:
    assert spelling.parameter(FieldDecl("source", FieldKind.STATIC, default=default), "str") == expected


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (TypeExpr("builtins.str", text="str"), "str"),
        (TypeExpr("|", (TypeExpr("builtins.str"), TypeExpr("None")), text="str | None"), "str | None"),
        (TypeExpr("|", (TypeExpr("builtins.str"), TypeExpr("None")), text="Optional[str]"), "_t.Any"),
        (TypeExpr("builtins.str", text="Alias"), "_t.Any"),
    ],
)
def test_the_type_of_a_field_of_another_file_is_repeated_where_it_names_builtins_only(
    type: TypeExpr, expected: str
) -> None:
    field = FieldDecl("x", FieldKind.STATIC, type=type, owner="shop.base.Base")
    assert spelling.field_type(field, "shop.model", {}, Builtins(())) == expected


NAMES = {"A": "_decl.A", "größe": "_größe"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A | None", "_decl.A | None"),
        ("x.A", "x.A"),
        ("A.Mode", "_decl.A.Mode"),
        ("dict[str, A]", "dict[str, _decl.A]"),
        ('list["A | B"]', 'list["A | B"]'),
        ('"A | B" | None', "_decl.A | B | None"),
        ('Literal["A", 3]', 'Literal["A", 3]'),
        ('Literal["A"] | A', 'Literal["A"] | _decl.A'),
        ('Literal[A.ON, "A"]', 'Literal[_decl.A.ON, "A"]'),
        ('Box["not a type"]', 'Box["not a type"]'),
        ("tuple[größe, 'größe']", "tuple[_größe, 'größe']"),
        ("Callable[[A], A]", "Callable[[_decl.A], _decl.A]"),
    ],
)
def test_names_are_written_anew_and_strings_in_brackets_stay(text: str, expected: str) -> None:
    assert renamed(text, lambda name: NAMES.get(name, name)) == expected


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
