"""One statement of a class body to the declaration of a field, for both readers."""

import pytest

from qten_gen.model import (
    Argument,
    Dim,
    DimError,
    FieldSource,
    ModuleField,
    NodePath,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    TypeExpr,
    Value,
    language,
)
from qten_gen.model.build_field import build_module_field, build_tensorclass_field

TENSOR = TypeExpr("torch.Tensor", text="Tensor")
OWNER = "shop.model.Batch"


def value(text: str) -> Value:
    """A value as a reader makes it: a literal, or a name."""
    return Value(text, literal=None if text.replace(".", "").isidentifier() and text not in CONSTANTS else text)


CONSTANTS = ("None", "True", "False")


def call(name: str, *dims: Dim | DimError | Value, **keywords: str | Dim) -> SpecifierCall:
    """A call of a specifier; keywords that are text are values."""
    given = {key: value(item) if isinstance(item, str) else item for key, item in keywords.items()}
    return SpecifierCall(name, (*(Argument(None, dim) for dim in dims), *(Argument(*item) for item in given.items())))


def module_field(specifier: SpecifierCall | None, default: Value | None = None) -> ModuleField:
    source = FieldSource("x", TENSOR, default, specifier, doc="What it is.", place=NodePath(("body", 0)))
    return build_module_field(source, TENSOR, OWNER)


@pytest.mark.parametrize(
    "specifier",
    [
        None,
        call(language.FIELD),
        call(language.PARAM),
        call(language.BUFFER),
        call(language.SUBMODULE, value("nn.Linear")),
    ],
)
def test_every_field_knows_where_it_is_from(specifier: SpecifierCall | None) -> None:
    found = module_field(specifier)

    assert (found.name, found.type, found.doc) == ("x", TENSOR, "What it is.")
    assert (found.owner, found.place) == (OWNER, NodePath(("body", 0)))


def test_arguments_that_cannot_be_used_are_left_out() -> None:
    unreadable = DimError("3*", "a number or a name is missing at the end", 2)

    parameter = module_field(call(language.PARAM, unreadable, Dim("2"), value("size"), when="flag", requires_grad="1"))
    child = module_field(call(language.SUBMODULE, value("nn.Linear"), unreadable, repeat="2.5", when="3"))
    without_class = module_field(call(language.SUBMODULE))

    assert parameter == ParameterDecl("x", (Dim("2"),))
    assert child == SubmoduleDecl("x", Value())
    assert without_class == SubmoduleDecl("x", Value())


def test_a_specifier_of_modules_is_not_a_default_in_a_tensorclass() -> None:
    source = FieldSource("x", TENSOR, specifier=call(language.PARAM, Dim("3")))

    assert build_tensorclass_field(source, TENSOR, frozenset(), OWNER, lambda _: False).default is None
