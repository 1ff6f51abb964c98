"""The checks of shapes and dtypes in a generated constructor."""

from qten_gen.emit.shape_checks import ShapeChecks, shape_checks
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl


def shaped(name: str, dims: str, dtype: str = "Shaped", optional: bool = False, unbatched: bool = False) -> FieldDecl:
    return FieldDecl(name, FieldKind.TENSOR, dims=dims, dtype=dtype, optional=optional, unbatched=unbatched)


def checks(*fields: FieldDecl, how: str = "on") -> ShapeChecks:
    declaration = TensorClassDecl("Batch", fields, tuple(field.name for field in fields), checks=how)
    return shape_checks(declaration, "n", frozenset({"n"}))


def test_a_number_is_compared_with_nothing_read() -> None:
    found = checks(shaped("x", "*batch 3", "Int64"))
    assert found.guards == {"x": ""}
    assert found.lines[0] == "if x.shape != (*batch_size, 3) or x.dtype is not _torch.int64:"


def test_an_axis_of_any_size_is_compared_with_itself() -> None:
    assert checks(shaped("x", "*batch _ 3")).lines[0] == "if x.shape != (*batch_size, x.shape[-2], 3):"


def test_a_variable_steps_aside_for_a_name_that_is_taken() -> None:
    assert checks(shaped("x", "*batch n")).lines[0] == "n_ = x.shape[-1]"
