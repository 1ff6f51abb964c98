"""How types, values and shapes are written in generated code."""

import pytest

from qten_gen.emit import spelling
from qten_gen.emit.names import Aliases, Builtins
from qten_gen.emit.spelling import static_type
from qten_gen.model import Default, FieldDecl, FieldKind, TypeExpr, Value


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
    assert spelling.parameter(FieldDecl("source", FieldKind.STATIC, default=default), "str", Aliases()) == expected


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
