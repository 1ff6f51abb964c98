"""What an annotation decides about a field of a TensorClass."""

import pytest

from qten_gen.common.field_kinds import annotated_field
from qten_gen.model import FieldKind, TypeExpr, union

TENSOR = TypeExpr("torch.Tensor")
NONE = TypeExpr("None")
STR = TypeExpr("builtins.str")
FLOAT = TypeExpr("builtins.float")
POINT = TypeExpr("shop.model.Point")
TOKENS = TypeExpr("jaxtyping.Int", (TENSOR, "*batch seq"))

KINDS = {
    "Tensor": (TENSOR, FieldKind.TENSOR),
    "nn.Parameter": (TypeExpr("torch.nn.Parameter"), FieldKind.TENSOR),
    "Int[Tensor, ...]": (TOKENS, FieldKind.TENSOR),
    "Unbatched[Tensor]": (TypeExpr("qten_gen.Unbatched", (TENSOR,)), FieldKind.TENSOR),
    "dict[str, Tensor]": (TypeExpr("builtins.dict", (STR, TENSOR)), FieldKind.TENSOR),
    "list[Tensor]": (TypeExpr("typing.List", (TENSOR,)), FieldKind.TENSOR),
    "float": (FLOAT, FieldKind.NUMBER),
    "Point": (POINT, FieldKind.NESTED),
    "PerItem[str]": (TypeExpr("qten_gen.PerItem", (STR,)), FieldKind.PER_ITEM),
    "Ragged[Tensor]": (TypeExpr("qten_gen.Ragged", (TENSOR,)), FieldKind.RAGGED),
    "Ragged[Point]": (TypeExpr("qten_gen.Ragged", (POINT,)), FieldKind.RAGGED),
    "Ragged[str]": (TypeExpr("qten_gen.Ragged", (STR,)), FieldKind.STATIC),
    "str": (STR, FieldKind.STATIC),
    "dict[int, Tensor]": (TypeExpr("builtins.dict", (TypeExpr("builtins.int"), TENSOR)), FieldKind.STATIC),
    "list[Int[Tensor, ...]]": (TypeExpr("builtins.list", (TOKENS,)), FieldKind.STATIC),
    "Tensor | str": (union((TENSOR, STR)), FieldKind.STATIC),
    "TensorDict": (TypeExpr("tensordict.TensorDict"), FieldKind.STATIC),
    "Unbatched[str]": (TypeExpr("qten_gen.Unbatched", (STR,)), FieldKind.STATIC),
    "None": (NONE, FieldKind.STATIC),
}


def is_tensorclass(name: str) -> bool:
    return name == POINT.name


@pytest.mark.parametrize(("type", "kind"), KINDS.values(), ids=KINDS)
def test_the_annotation_decides_the_kind(type: TypeExpr, kind: FieldKind) -> None:
    assert annotated_field("x", type, frozenset(), is_tensorclass).kind is kind


def test_every_kind_is_decided_by_some_annotation() -> None:
    assert {kind for _, kind in KINDS.values()} == set(FieldKind)


def test_final_is_seen_through() -> None:
    found = annotated_field("x", TypeExpr("typing.Final", (union((TENSOR, NONE)),)), frozenset(), is_tensorclass)

    assert (found.kind, found.optional) == (FieldKind.TENSOR, True)
