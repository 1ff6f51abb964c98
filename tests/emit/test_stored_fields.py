"""The lines of generated code for each kind of field of a TensorClass."""

import pytest

from qten_gen.emit.builtin_names import Builtins
from qten_gen.emit.stored_fields import Lines, StoredField, stored_field
from qten_gen.model import FieldDecl, FieldKind, TensorClassDecl, TypeExpr

REPEAT = frozenset({"_repeat"})
FEATURES = frozenset({"_features"})


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


def test_a_tensor() -> None:
    assert lines(TENSOR) == Lines(
        fit_if="not isinstance(x, _Tensor) or x.shape[:n] != batch_size or device is not None",
        fit='_rt.tensor(self, "x", x, batch_size, device)',
        set="",
        map="fn(self._x)",
        map_with="fn(self._x, argument)",
        rearrange="fn(self._x, argument)",
        zip="fn(self._x, other._x)",
        put="self._x[index] = value._x",
        join="fn([item._x for item in items])",
        pieces="fn(self._x, argument)",
        leaf="self._x",
        leaf_if="",
        requires_grad="self._x.requires_grad",
        item='"x": self._x',
        match="",
    )


def test_a_tensor_that_may_be_none() -> None:
    assert lines(OPTIONAL) == Lines(
        fit_if="x is not None and (not isinstance(x, _Tensor) or x.shape[:n] != batch_size or device is not None)",
        fit='_rt.tensor(self, "x", x, batch_size, device)',
        set='None if value is None else _rt.tensor(self, "x", value, self._batch_size, self._device)',
        map="None if self._x is None else fn(self._x)",
        map_with="None if self._x is None else fn(self._x, argument)",
        rearrange="None if self._x is None else fn(self._x, argument)",
        zip='_rt.zip_optional(self, "x", fn, self._x, other._x)',
        put='_rt.put_optional(self, "x", self._x, index, value._x)',
        join='_rt.join_optional(self, "x", fn, [item._x for item in items])',
        pieces="_rt.part_optional(fn, self._x, argument, batch_sizes)",
        leaf="self._x",
        leaf_if="leaves.append(self._x)",
        requires_grad="(self._x is not None and self._x.requires_grad)",
        item='"x": self._x',
        match='_rt.match_optional(self, "x", self._x, other._x)',
    )


def test_a_number_is_stored_like_a_tensor() -> None:
    number = lines(FieldDecl("x", FieldKind.NUMBER, cast="float"))
    assert number._asdict() == lines(TENSOR)._asdict() | {
        "fit": '_rt.number(self, "x", x, batch_size, device, "float")',
        "set": '_rt.number(self, "x", value, self._batch_size, self._device, "float")',
    }


def test_a_tensor_with_a_shape_is_fitted_to_the_one_before() -> None:
    shaped = lines(TENSOR, guard="x.dim() != n + 1")
    assert shaped._asdict() == lines(TENSOR)._asdict() | {
        "fit_if": "not isinstance(x, _Tensor) or x.dim() != n + 1 or device is not None",
        "fit": '_features.shaped(self, "x", x, batch_size, device)',
        "set": '_features.fitting(self, "x", value, self._x)',
        "imports": FEATURES,
    }


def test_a_tensor_that_the_batch_does_not_carry() -> None:
    assert lines(FieldDecl("x", FieldKind.TENSOR, unbatched=True)) == Lines(
        fit_if="not isinstance(x, _Tensor) or device is not None",
        fit='_features.unbatched(self, "x", x, device)',
        set='_features.unbatched(self, "x", value, self._device)',
        map="fn(self._x)",
        map_with="fn(self._x, argument)",
        rearrange="self._x",
        zip="fn(self._x, other._x)",
        put="",
        join='_features.same_tensor(self, "x", [item._x for item in items])',
        pieces="_repeat(self._x)",
        leaf="self._x",
        leaf_if="",
        requires_grad="self._x.requires_grad",
        item='"x": self._x',
        match='_features.same_tensor(self, "x", [self._x, other._x])',
        imports=REPEAT | FEATURES,
    )


def test_a_dict_of_tensors() -> None:
    assert lines(FieldDecl("x", FieldKind.TENSOR, container="dict")) == Lines(
        fit_if="True",
        fit='_features.tensor_dict(self, "x", x, batch_size, device)',
        set='_features.tensor_dict(self, "x", value, self._batch_size, self._device)',
        map="{key: fn(tensor) for key, tensor in self._x.items()}",
        map_with="{key: fn(tensor, argument) for key, tensor in self._x.items()}",
        rearrange="{key: fn(tensor, argument) for key, tensor in self._x.items()}",
        zip='_features.zip_tensors(self, "x", fn, self._x, other._x)',
        put='_features.put_tensors(self, "x", self._x, index, value._x)',
        join='_features.join_tensors(self, "x", fn, [item._x for item in items])',
        pieces="_features.part_tensors(fn, self._x, argument, batch_sizes)",
        leaf="*self._x.values()",
        leaf_if="",
        requires_grad="any(tensor.requires_grad for tensor in self._x.values())",
        item='"x": {**self._x}',
        match='_features.match_tensors(self, "x", self._x, other._x)',
        imports=FEATURES,
    )


def test_a_list_of_tensors_that_the_batch_does_not_carry_and_that_may_be_none() -> None:
    assert lines(FieldDecl("x", FieldKind.TENSOR, container="list", unbatched=True, optional=True)) == Lines(
        fit_if="x is not None",
        fit='_features.tensor_list(self, "x", x, None, device)',
        set='None if value is None else _features.tensor_list(self, "x", value, None, self._device)',
        map="None if self._x is None else [fn(tensor) for tensor in self._x]",
        map_with="None if self._x is None else [fn(tensor, argument) for tensor in self._x]",
        rearrange="self._x",
        zip='_features.zip_tensors(self, "x", fn, self._x, other._x)',
        put="",
        join='_features.same_tensors(self, "x", [item._x for item in items])',
        pieces="_repeat(self._x)",
        leaf="*self._x",
        leaf_if="leaves.extend(self._x)",
        requires_grad="(self._x is not None and any(tensor.requires_grad for tensor in self._x))",
        item='"x": None if self._x is None else [*self._x]',
        match='_features.same_tensors(self, "x", [self._x, other._x])',
        imports=REPEAT | FEATURES,
    )


def test_a_nested_tensorclass() -> None:
    assert lines(POINT) == Lines(
        fit_if="not isinstance(x, Point) or x._batch_size[:n] != batch_size or device is not None",
        fit='_rt.nested(self, "x", Point, x, batch_size, device)',
        set='_rt.nested(self, "x", Point, value, self._batch_size, self._device)',
        map="self._x._map(fn)",
        map_with="self._x._map_with(fn, argument, device or self._x._device)",
        rearrange="self._x._rearrange(fn, argument, batch_size + self._x._batch_size[n:])",
        zip='_rt.zip_nested(self, "x", fn, self._x, other._x)',
        put='_rt.put_nested(self, "x", self._x, index, value._x)',
        join='_rt.join_nested(self, "x", fn, [item._x for item in items], batch_size)',
        pieces="_rt.part_nested(self, fn, self._x, argument, batch_sizes)",
        leaf="*self._x._leaves()",
        leaf_if="",
        requires_grad="self._x._requires_grad()",
        item='"x": self._x._to_dict()',
        match='_rt.match_nested(self, "x", self._x, other._x)',
    )


def test_a_static_value() -> None:
    assert lines(FieldDecl("x", FieldKind.STATIC)) == Lines(
        fit_if="type(x) not in _rt.PLAIN",
        fit='_rt.static(self, "x", x)',
        set='_rt.static(self, "x", value) if type(value) not in _rt.PLAIN else value',
        map="self._x",
        map_with="self._x",
        rearrange="self._x",
        zip="self._x",
        put="",
        join='_rt.same(self, "x", [item._x for item in items])',
        pieces="_repeat(self._x)",
        leaf="",
        leaf_if="",
        requires_grad="",
        item='"x": self._x',
        match='_rt.same(self, "x", [self._x, other._x])',
        imports=REPEAT,
    )


def test_a_static_value_that_is_converted() -> None:
    plain, cast = (lines(FieldDecl("x", FieldKind.STATIC, cast=cast)) for cast in (None, "int"))
    assert cast._asdict() == plain._asdict() | {
        "fit_if": "True",
        "fit": '_rt.cast_static(self, "x", "int", x)',
        "set": '_rt.cast_static(self, "x", "int", value)',
    }


def test_values_for_each_item() -> None:
    assert lines(FieldDecl("x", FieldKind.PER_ITEM)) == Lines(
        fit_if="True",
        fit='_features.per_item(self, "x", x, batch_size)',
        set='_features.per_item(self, "x", value, self._batch_size)',
        map="self._x",
        map_with="self._x",
        rearrange='_features.rearrange_items(self, "x", fn, self._x, argument)',
        zip="self._x",
        put='self._x = _features.put_items(self, "x", self._x, index, value._x)',
        join='_features.join_items(self, "x", fn, [item._x for item in items])',
        pieces='_features.part_items(self, "x", fn, self._x, argument, batch_sizes)',
        leaf="",
        leaf_if="",
        requires_grad="",
        item='"x": self._x',
        match="",
        imports=FEATURES,
    )


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
