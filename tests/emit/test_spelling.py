"""How types, values and shapes are written in generated code."""

import pytest

from qten_gen.emit import spelling
from qten_gen.emit.builtin_names import Builtins
from qten_gen.emit.imports import Aliases
from qten_gen.emit.spelling import static_type
from qten_gen.model import Default, FieldDecl, FieldKind, TypeExpr, Value
from qten_gen.model.expressions import Partial


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
    ("field", "expected"),
    [
        (FieldDecl("x", FieldKind.TENSOR), "_Tensor"),
        (FieldDecl("x", FieldKind.TENSOR, optional=True), "_Tensor | None"),
        (FieldDecl("x", FieldKind.TENSOR, container="dict"), "dict[str, _Tensor]"),
        (FieldDecl("x", FieldKind.TENSOR, container="list", optional=True), "list[_Tensor] | None"),
        (FieldDecl("x", FieldKind.NUMBER), "_Tensor"),
        (FieldDecl("x", FieldKind.STATIC, type=TypeExpr("builtins.str", text="str")), "str"),
        (FieldDecl("x", FieldKind.PER_ITEM, type=TypeExpr("", text="PerItem[str]")), "PerItem[str]"),
        (FieldDecl("x", FieldKind.NESTED, nested="P", type=TypeExpr("shop.model.P")), "P"),
        (FieldDecl("x", FieldKind.NESTED, nested="P", optional=True, type=TypeExpr("shop.model.P")), "P | None"),
    ],
)
def test_a_property_has_the_type_of_its_kind_of_field(field: FieldDecl, expected: str) -> None:
    assert spelling.field_type(field, "", {"shop.model.P": "P"}, Builtins(())) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Value(literal="'train'"), '"train"'),
        (Value(torch_name="torch.int64"), "_torch.int64"),
        (Value(torch_name="torch.nn.init.ones_"), "_nn.init.ones_"),
        (Value(text="SIZES"), '_rt.from_declaration(Net, "weight")'),
    ],
)
def test_a_value_is_written_out_or_looked_up_in_the_declaration(value: Value, expected: str) -> None:
    assert spelling.value(value, "Net", "weight", Aliases()) == expected


@pytest.mark.parametrize(
    ("initializer", "expected"),
    [
        (Value(torch_name="torch.nn.init.ones_"), "_rt.init.ones_(self.weight)"),
        (Value(torch_name="torch.nn.init.xavier_uniform_"), "_rt.init.xavier_uniform_(self.weight)"),
        (
            Value(partial=Partial("torch.nn.init.normal_", (("std", "0.02"),))),
            "_rt.init.normal_(self.weight, std=0.02)",
        ),
        (
            Value(text="mine"),
            '_rt.fill(self.weight, _rt.from_declaration(Net, "weight.initializer"), "Net.weight")',
        ),
        (Value(literal="'fill'", method="fill"), '_rt.fill(self.weight, self.fill, "Net.weight")'),
    ],
)
def test_an_initialiser_is_called_on_the_tensor(initializer: Value, expected: str) -> None:
    assert spelling.filled(initializer, "Net", "Net.weight", "weight", "self.weight", Aliases()) == expected


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
