"""One statement of a class body to the declaration of a field, for both readers."""

from qten_gen.model import (
    Argument,
    Dim,
    DimError,
    FieldSource,
    SpecifierCall,
    TypeExpr,
    Value,
    language,
)
from qten_gen.model.build_field import build_tensorclass_field

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


def test_a_specifier_of_modules_is_not_a_default_in_a_tensorclass() -> None:
    source = FieldSource("x", TENSOR, specifier=call(language.PARAM, Dim("3")))

    assert build_tensorclass_field(source, TENSOR, frozenset(), OWNER, lambda _: False).default is None
