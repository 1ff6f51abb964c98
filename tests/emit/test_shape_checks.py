"""The checks of shapes and dtypes in a generated constructor."""

from qten_gen.emit.shape_checks import ShapeChecks, shape_checks
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl


def shaped(name: str, dims: str, dtype: str = "Shaped", optional: bool = False, unbatched: bool = False) -> FieldDecl:
    return FieldDecl(name, FieldKind.TENSOR, dims=dims, dtype=dtype, optional=optional, unbatched=unbatched)


def checks(*fields: FieldDecl, how: str = "on") -> ShapeChecks:
    declaration = TensorClassDecl("Batch", fields, tuple(field.name for field in fields), checks=how)
    return shape_checks(declaration, "n", frozenset({"n"}))


def test_a_family_of_dtypes_is_a_set() -> None:
    assert (
        checks(shaped("x", "*batch", "Float")).lines[0] == "if x.shape != batch_size or x.dtype not in _features.FLOAT:"
    )


def test_a_variable_steps_aside_for_a_name_that_is_taken() -> None:
    assert checks(shaped("x", "*batch n")).lines[0] == "n_ = x.shape[-1]"
