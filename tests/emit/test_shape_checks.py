"""The checks of shapes and dtypes in a generated constructor."""

from qten_gen.emit.shape_checks import ShapeChecks, shape_checks
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl


def shaped(name: str, dims: str, dtype: str = "Shaped", optional: bool = False, unbatched: bool = False) -> FieldDecl:
    return FieldDecl(name, FieldKind.TENSOR, dims=dims, dtype=dtype, optional=optional, unbatched=unbatched)


def checks(*fields: FieldDecl, how: str = "on") -> ShapeChecks:
    declaration = TensorClassDecl("Batch", fields, tuple(field.name for field in fields), checks=how)
    return shape_checks(declaration, "n", frozenset({"n"}))


def test_a_named_axis_of_one_field_is_read_and_not_compared() -> None:
    found = checks(shaped("x", "*batch seq"))
    assert found.guards == {"x": "x.dim() != n + 1"}
    assert found.lines == (
        "seq = x.shape[-1]",
        "if x.shape != (*batch_size, seq):",
        "    _features.refuse_shapes(self, batch_size, x=x)",
    )


def test_a_named_axis_of_two_fields_is_read_from_the_first() -> None:
    found = checks(shaped("x", "*batch seq"), shaped("y", "*batch seq"))
    assert found.guards == {"x": "x.dim() != n + 1", "y": ""}
    assert found.lines[:2] == (
        "seq = x.shape[-1]",
        "if x.shape != (*batch_size, seq) or y.shape != (*batch_size, seq):",
    )


def test_a_number_is_compared_with_nothing_read() -> None:
    found = checks(shaped("x", "*batch 3", "Int64"))
    assert found.guards == {"x": ""}
    assert found.lines[0] == "if x.shape != (*batch_size, 3) or x.dtype is not _torch.int64:"


def test_a_family_of_dtypes_is_a_set() -> None:
    assert (
        checks(shaped("x", "*batch", "Float")).lines[0] == "if x.shape != batch_size or x.dtype not in _features.FLOAT:"
    )


def test_an_axis_of_any_size_is_compared_with_itself() -> None:
    assert checks(shaped("x", "*batch _ 3")).lines[0] == "if x.shape != (*batch_size, x.shape[-2], 3):"


def test_an_optional_field_is_checked_where_it_is_given() -> None:
    found = checks(shaped("x", "*batch seq"), shaped("y", "*batch seq", optional=True))
    assert found.lines[1] == ("if x.shape != (*batch_size, seq) or (y is not None and y.shape != (*batch_size, seq)):")


def test_a_variable_steps_aside_for_a_name_that_is_taken() -> None:
    assert checks(shaped("x", "*batch n")).lines[0] == "n_ = x.shape[-1]"


def test_an_unbatched_field_has_its_shape_alone() -> None:
    found = checks(shaped("x", "3 k", unbatched=True))
    assert found.guards == {"x": "x.dim() != 2"}
    assert found.lines[:2] == ("k = x.shape[1]", "if x.shape != (3, k):")


def test_without_annotated_shapes_or_with_checks_off_nothing_is_checked() -> None:
    assert checks(FieldDecl("x", FieldKind.TENSOR)) == ShapeChecks({}, ())
    assert checks(shaped("x", "*batch seq"), how="off") == ShapeChecks({}, ())
