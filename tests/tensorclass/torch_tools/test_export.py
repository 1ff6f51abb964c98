"""`torch.export` of modules that take and return objects, and the structures that it writes into files."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn
from torch.export import Dim, export

from qten_gen import TensorClass, Unbatched
from tests.tensorclass.declared import Batch, Flat, Scale, assert_applied, batch, flat, tensors


class Note(TensorClass, nocast=True):
    """Static values of every kind that JSON can hold, and tuples."""

    x: Tensor
    factor: int = 2
    share: float | None = None
    words: tuple[str, ...] = ()
    table: dict[str, list[bool]] | None = None


class Coded(TensorClass):
    """A tensor that the batch does not carry."""

    x: Tensor
    table: Unbatched[Tensor]


class Heads(TensorClass):
    """Several tensors in one field."""

    logits: dict[str, Tensor]


class Tail(nn.Module):
    """Works on a nested object with every kind of field."""

    def forward(self, value: Batch) -> Batch:
        return (value * 2)[1:]


class Times(nn.Module):
    """Uses a static value."""

    def forward(self, value: Note) -> Note:
        return value * value.factor


strictness = pytest.mark.parametrize("strict", [False, True])


@strictness
def test_a_module_that_takes_and_returns_objects_is_exported(strict: bool) -> None:
    module, value = Scale(), flat(4)
    made: Flat = export(module, (flat(4),), strict=strict).module()(value)
    assert type(made) is Flat
    assert made.batch_size == (4,)
    torch.testing.assert_close(tensors(made), tensors(module(value)))


@strictness
@pytest.mark.parametrize("full", [True, False])
def test_nested_objects_and_static_values_are_exported(strict: bool, full: bool) -> None:
    value = batch(4, full=full).apply(lambda tensor: tensor.float())
    made: Batch = export(Tail(), (value,), strict=strict).module()(value)
    assert_applied(made, value, lambda tensor: (tensor * 2)[1:], (3,))
    assert (made.source, made.mask is None) == ("test", not full)


@strictness
def test_dynamic_shapes_of_an_object_are_a_list_with_those_of_its_tensors(strict: bool) -> None:
    length = Dim("length", min=2, max=64)
    program = export(Scale(), (flat(4),), strict=strict, dynamic_shapes=([{0: length}, {0: length}],))
    assert program.module()(flat(9)).batch_size == (9,)


@strictness
def test_a_program_is_that_of_the_static_values_it_was_exported_with(strict: bool) -> None:
    program: Any = export(Times(), (Note(torch.ones(3), batch_size=3),), strict=strict).module()
    assert torch.equal(program(Note(torch.ones(3), batch_size=3)).x, torch.full((3,), 2.0))
    with pytest.raises((ValueError, TypeError, AssertionError)):
        program(Note(torch.ones(3), factor=3, batch_size=3))


def test_a_program_is_saved_and_loaded() -> None:
    module, value = Scale(), flat(4)
    file = io.BytesIO()
    torch.export.save(export(module, (flat(4),)), file)
    file.seek(0)
    # The example arguments are in the file, and loaded as safely as by torch.load.
    with torch.serialization.safe_globals([Flat]):
        made: Flat = torch.export.load(file).module()(value)
    assert type(made) is Flat
    torch.testing.assert_close(tensors(made), tensors(module(value)))


@pytest.mark.parametrize(
    "value",
    [
        batch(2, 3).to("cpu"),
        batch(4, full=False),
        Note(torch.ones(3), 5, 0.5, ("a", "b"), {"a": [True], "b": []}, batch_size=3),
        Coded(torch.ones(2), torch.ones(2, 7), batch_size=2),
        Heads({"a": torch.ones(2), "b": torch.ones(2)}, batch_size=2),
        Flat(torch.ones(2), torch.ones(2), batch_size=2, names=["time"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_structure_is_json_and_back(value: TensorClass) -> None:
    leaves, spec = pytree.tree_flatten(value)
    back = pytree.treespec_loads(pytree.treespec_dumps(spec))
    assert back == spec
    made: TensorClass = pytree.tree_unflatten(leaves, back)
    assert_applied(made, value, lambda tensor: tensor)
    assert (made.device, made.names) == (value.device, value.names)
    assert made._field_values()[1] == value._field_values()[1]


def test_an_object_without_tensors_keeps_its_batch_size_in_its_structure() -> None:
    class Bare(TensorClass):
        text: str

    spec = pytree.tree_structure(Bare("a", batch_size=[2, 3], device="cpu"))
    made: Bare = pytree.tree_unflatten([], pytree.treespec_loads(pytree.treespec_dumps(spec)))
    assert (made.text, made.batch_size, made.device) == ("a", (2, 3), torch.device("cpu"))


def test_a_static_value_that_json_does_not_have_is_refused() -> None:
    class Held(TensorClass):
        x: Tensor
        kind: nn.Module

    spec = pytree.tree_structure(Held(torch.ones(3), nn.Identity(), batch_size=3))
    with pytest.raises(
        TypeError, match=r"Held\.kind: a torch.*Identity cannot be saved as JSON; store a plain value instead$"
    ):
        pytree.treespec_dumps(spec)
