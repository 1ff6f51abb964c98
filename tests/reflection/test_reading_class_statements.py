"""Class statements to declarations, from what the metaclass hands over."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, Unbatched, buffer, const, field, param, submodule, virtual
from qten_gen.common.written_values import written_as
from qten_gen.model import (
    BufferDecl,
    ConfigDecl,
    Default,
    Dim,
    FieldKind,
    Meaning,
    ParameterDecl,
    SubmoduleDecl,
    TypeExpr,
    Value,
    VirtualDecl,
)
from qten_gen.reflection import ClassStatement, read_module, read_tensorclass


class Point(TensorClass):
    """A class that exists when the statements below run."""

    x: Tensor


def statement(
    annotations: dict[str, object], namespace: dict[str, object] | None = None, **others: Any
) -> ClassStatement:
    """`class Batch(...)` in the module `shop.model`, before it is made."""

    def resolve(name: str) -> object:
        found = {"Tensor": Tensor, "Point": Point, "torch": torch, "str": str, "None": None}
        if name not in found:
            raise NameError(name)
        return found[name]

    given: dict[str, Any] = {
        "name": "Batch",
        "module": "shop.model",
        "qualname": "Batch",
        "namespace": namespace or {},
        "annotations": annotations,
        "bases": (TensorClass,),
        "parents": (),
        "mixins": (),
        "flags": frozenset(),
        "options": {},
        "passed": {},
        "resolve": resolve,
        "is_declaration": lambda value: value is Point,
        "import_of": {"Later": "shop.other.Later"}.get,
        "defines": "Below".__eq__,
        "elsewhere": {"shop.other.Later": Meaning(TypeExpr("shop.other.Later"), frozenset({"shop.other.Later"}))}.get,
        "classes": {},
    }
    return ClassStatement(**{**given, **others})


def test_fields_have_the_kinds_of_their_annotations_and_the_defaults_of_the_namespace() -> None:
    declaration = read_tensorclass(
        statement(
            {"a": Tensor, "b": "Tensor | None", "c": str, "d": list, "e": Point, "n": ClassVar[int]},
            {"b": None, "c": const("train"), "d": field(default_factory=list, kw_only=True), "n": 3},
        )
    )

    assert [(f.name, f.kind, f.optional) for f in declaration.fields] == [
        ("a", FieldKind.TENSOR, False),
        ("b", FieldKind.TENSOR, True),
        ("c", FieldKind.STATIC, False),
        ("d", FieldKind.STATIC, False),
        ("e", FieldKind.NESTED, False),
    ]
    defaults = {f.name: f.default and (f.default.value.literal, f.default.factory) for f in declaration.fields}
    assert defaults == {"a": None, "b": ("None", False), "c": ("'train'", False), "d": (None, True), "e": None}
    assert [f.name for f in declaration.fields if f.kw_only] == ["d"]


@pytest.mark.parametrize(
    ("annotation", "name", "kind"),
    [
        ("Later", "shop.other.Later", FieldKind.NESTED),
        ("Below", "shop.model.Below", FieldKind.STATIC),
        ("Batch", "shop.model.Batch", FieldKind.NESTED),
        ("Nowhere", "Nowhere", FieldKind.STATIC),
    ],
)
def test_a_name_that_means_nothing_yet_is_looked_up_in_the_file(annotation: str, name: str, kind: FieldKind) -> None:
    (found,) = read_tensorclass(statement({"x": annotation})).fields

    assert (found.type.name, found.kind) == (name, kind)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (Annotated["Tensor", "batch"], FieldKind.TENSOR),
        (Annotated["Point", 3], FieldKind.NESTED),
        (Unbatched["Tensor"], FieldKind.TENSOR),
    ],
)
def test_a_name_in_quotes_inside_of_annotated_is_read(annotation: object, kind: FieldKind) -> None:
    (found,) = read_tensorclass(statement({"x": annotation})).fields

    assert found.kind is kind


def test_the_classes_that_annotations_name_are_remembered() -> None:
    seen = statement({"x": "Point | None", "y": Tensor})

    read_tensorclass(seen)

    assert list(seen.classes.values()) == [Point]


def test_inherited_fields_come_first_and_flags_are_inherited() -> None:
    parent = read_tensorclass(
        statement({"a": Tensor, "b": Tensor}, name="Base", qualname="Base", flags=frozenset({"frozen"}))
    )
    child = read_tensorclass(statement({"c": Tensor, "a": str}, parents=(("shop.model.Base", parent),)))

    assert [(f.name, f.owner) for f in child.fields] == [
        ("a", "shop.model.Batch"),
        ("b", "shop.model.Base"),
        ("c", "shop.model.Batch"),
    ]
    assert child.own == ("c",)
    assert child.frozen


@pytest.mark.parametrize(
    ("options", "inherited", "checks"), [({}, "off", "off"), ({"checks": "on"}, "off", "on"), ({}, "", "on")]
)
def test_a_class_keyword_that_is_not_given_is_that_of_the_first_parent(
    options: dict[str, object], inherited: str, checks: str
) -> None:
    parent = read_tensorclass(statement({}, name="Base", qualname="Base", options={"checks": inherited}))
    parents = (("shop.model.Base", parent),) if inherited else ()

    assert read_tensorclass(statement({}, options=options, parents=parents)).checks == checks


def test_a_module_has_a_field_for_each_specifier() -> None:
    def causal(self: object, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Which positions see which."""
        raise NotImplementedError

    declaration = read_module(
        statement(
            {"dim": int, "weight": nn.Parameter, "scale": Tensor, "norm": nn.LayerNorm},
            {
                "dim": 8,
                "weight": param("dim", 2, initializer=nn.init.ones_),
                "scale": buffer("dim", persistent=False),
                "norm": submodule(nn.LayerNorm, "dim", eps=1e-6),
                "causal": virtual(cached=True, sources=("dim",))(causal),
            },
            bases=(Module,),
        )
    )
    dim, weight, scale, norm, mask = declaration.fields

    assert dim == ConfigDecl("dim", Default(Value()))
    assert weight == ParameterDecl("weight", (Dim("dim"), Dim("2")), initializer=Value())
    assert scale == BufferDecl("scale", (Dim("dim"),), persistent=False)
    assert isinstance(norm, SubmoduleDecl) and norm.cls.torch_name == "torch.nn.LayerNorm"
    assert [(argument.keyword, argument.value) for argument in norm.arguments] == [
        (None, Dim("dim")),
        ("eps", Value()),
    ]
    assert mask == VirtualDecl("causal", cached=True, sources=("dim",))
    assert mask.doc == "Which positions see which."


def test_a_module_keeps_an_init_where_it_says_so() -> None:
    written = read_module(statement({}, {"__init__": lambda self: None}, bases=(Module,)))
    child = read_module(
        statement({}, bases=(Module,), parents=(("shop.model.Base", written),), options={"init": False})
    )

    assert (written.custom_init, written.keeps_init) == (True, False)
    assert (child.custom_init, child.keeps_init) == (True, True)


class WithReset:
    """A mixin that initialises by hand."""

    def reset_parameters(self) -> None: ...


def test_reset_parameters_counts_where_it_is_written_by_hand() -> None:
    own = read_module(statement({}, {"reset_parameters": lambda self: None}, bases=(Module,)))
    inherited = read_module(statement({}, bases=(WithReset, Module)))
    neither = read_module(statement({}, bases=(Module, nn.Linear)))

    found = [(d.custom_reset, d.inherited_reset) for d in (own, inherited, neither)]
    assert found == [(True, False), (True, True), (False, False)]


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        (0.001, "0.001", True),
        (1, "1.0", False),
        (True, "1", False),
        (torch.float32, "torch.float32", True),
        (nn.init.ones_, "torch.nn.init.ones_", True),
        (nn.init.zeros_, "torch.nn.init.ones_", False),
        (None, "torch.nn.init.gone_", False),
    ],
)
def test_a_spelled_out_value_is_compared_with_the_object(value: object, text: str, same: bool) -> None:
    assert written_as(value, text) is same
