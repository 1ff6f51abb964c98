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
POINT = FieldDecl("x", FieldKind.NESTED, nested="Point", type=TypeExpr("shop.model.Point", text="Point"))


@pytest.mark.parametrize("field", [TENSOR, POINT])
def test_the_constructor_keeps_clear_of_fields_called_like_what_it_uses(field: FieldDecl) -> None:
    found = lines(field, "isinstance", "n", n="dims")
    assert found.fit_if.startswith("not _builtins.isinstance(x, ")
    assert "[:dims] != batch_size" in found.fit_if


def test_a_frozen_object_holds_frozen_ones() -> None:
    assert (stored(POINT, frozen=True).stored, stored(POINT).stored) == ("_rt.frozen_view(x)", "x")
