"""The view of a TensorClass: its constructor, and the calls of `_fill`."""

from qten_gen.emit.nested_names import nested_names
from qten_gen.emit.tensorclass import TensorClassView, view
from qten_gen.generate.render import render_class
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl, TypeExpr

NAME = FieldDecl("name", FieldKind.STATIC, type=TypeExpr("builtins.str", text="str"))


def batch(*fields: FieldDecl, frozen: bool = False) -> TensorClassDecl:
    own, flags = tuple(field.name for field in fields), frozenset({"frozen"} if frozen else ())
    return TensorClassDecl("Batch", fields, own, flags, module="shop.model")


def seen(*fields: FieldDecl) -> TensorClassView:
    declaration = batch(*fields)
    return view(declaration, nested_names([declaration]))


def test_what_the_batch_carries_is_stored_before_python_values() -> None:
    found = seen(NAME, FieldDecl("x", FieldKind.TENSOR, optional=True))
    assert found.fill_signature == (
        "def _fill(\n"
        "        self, x: _Tensor | None, name: str, batch_size: _Size, device: _rt.Device, names: _rt.Names | None = None\n"
        "    ) -> _t.Self:"
    )
    assert found.stores == ("self._x = x", "self._name = name")
    assert found.fill == "self._fill(x, name, batch_size, device, names)"
    assert found.contents == "return (self._x,), (self._name,)"
    assert found.to_dict == 'return {"name": self._name, "x": self._x}'


def test_an_object_of_another_batch_size_has_no_names() -> None:
    found = seen(FieldDecl("x", FieldKind.TENSOR))
    new = "return object.__new__(type(self))._fill"
    assert found.map == f"{new}(fn(self._x), self._batch_size, self._device, self._names)"
    assert found.map_with == f"{new}(fn(self._x, argument), self._batch_size, device, self._names)"
    assert found.zip == f"{new}(fn(self._x, other._x), self._batch_size, self._device, self._names)"
    assert found.rearrange == f"{new}(fn(self._x, argument), batch_size, self._device)"
    assert found.join == f"{new}(fn([item._x for item in items]), batch_size, self._device)"
    assert found.pieces == "pieces = zip(fn(self._x, argument), batch_sizes, _repeat(self._device))"


def test_leaves_that_may_be_none_are_added_one_by_one() -> None:
    always, maybe = FieldDecl("x", FieldKind.TENSOR), FieldDecl("y", FieldKind.TENSOR, optional=True)
    assert "def _leaves(self) -> list[_Tensor]:\n        return [self._x]\n" in render_class(batch(always))
    assert (
        "        leaves = [self._x]\n        if self._y is not None:\n            leaves.append(self._y)\n        return leaves\n"
        in render_class(batch(always, maybe))
    )


def test_a_class_without_fields() -> None:
    found = seen()
    assert found.fill == "self._fill(batch_size, device, names)"
    assert found.contents == "return (), ()"
    assert (found.leaves, found.requires_grad, found.to_dict) == ("return []", "return False", "return {}")
    assert found.plain  # a class that derives from it may be, and would find primitives of its own in front of those


def test_names_that_fields_have_are_written_otherwise() -> None:
    found = seen(FieldDecl("n", FieldKind.TENSOR), FieldDecl("len", FieldKind.TENSOR))
    assert found.n == "dims"
    assert (found.builtin["len"], found.builtin["type"]) == ("_builtins.len", "type")
    assert "_builtins" in found.imports


def test_the_lock_of_a_new_object() -> None:
    assert "self._lock = _rt.FROZEN\n" in render_class(batch(frozen=True))
    assert "self._lock = None\n" in render_class(batch())
