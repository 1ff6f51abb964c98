"""The lines of generated code for each kind of field of a TensorClass."""

import pytest

from qten_gen.emit.builtin_names import Builtins
from qten_gen.emit.stored_fields import Lines, StoredField, stored_field
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl, TypeExpr


def stored(field: FieldDecl, *taken: str, n: str = "n", guard: str | None = None, frozen: bool = False) -> StoredField:
    """A field in a class whose other fields are called `taken`."""
    flags = frozenset({"frozen"} if frozen else ())
    declaration = TensorClassDecl("Batch", (field,), (field.name,), flags, module="shop.model")
    return stored_field(field, declaration, {"shop.model.Point": "Point"}, Builtins(frozenset(taken)), n, guard)


def lines(field: FieldDecl, *taken: str, n: str = "n", guard: str | None = None) -> Lines:
    return stored(field, *taken, n=n, guard=guard).lines


TENSOR = FieldDecl("x", FieldKind.TENSOR)
OPTIONAL = FieldDecl("x", FieldKind.TENSOR, optional=True)
POINT = FieldDecl("x", FieldKind.NESTED, nested="Point", type=TypeExpr("shop.model.Point", text="Point"))


@pytest.mark.parametrize("field", [TENSOR, POINT])
def test_the_constructor_keeps_clear_of_fields_called_like_what_it_uses(field: FieldDecl) -> None:
    found = lines(field, "isinstance", "n", n="dims")
    assert found.fit_if.startswith("not _builtins.isinstance(x, ")
    assert "[:dims] != batch_size" in found.fit_if


@pytest.mark.parametrize(
    ("field", "plain", "static"),
    [
        (TENSOR, True, False),
        (FieldDecl("x", FieldKind.NUMBER), True, False),
        (OPTIONAL, False, False),
        (FieldDecl("x", FieldKind.TENSOR, unbatched=True), False, False),
        (FieldDecl("x", FieldKind.TENSOR, container="list"), False, False),
        (POINT, False, False),
        (FieldDecl("x", FieldKind.STATIC), False, True),
        (FieldDecl("x", FieldKind.PER_ITEM), False, True),
    ],
)
def test_fields_are_sorted_by_what_the_batch_carries(field: FieldDecl, plain: bool, static: bool) -> None:
    found = stored(field)
    assert (found.plain, found.static) == (plain, static)


def test_a_frozen_object_holds_frozen_ones() -> None:
    assert (stored(POINT, frozen=True).stored, stored(POINT).stored) == ("_rt.frozen_view(x)", "x")
