"""Where an operation has a short way for the usual case, that way gives what the plain one gives, errors included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass

from ..declared import assert_applied

MANY = 300


class Rows(TensorClass):
    """Tensors with no, one and two dimensions of their own."""

    number: Tensor
    line: Tensor
    plane: Tensor


class Twins(TensorClass):
    """Two tensors."""

    left: Tensor
    right: Tensor


class Labelled(TensorClass):
    """What has to be alike in two objects: a static value, and which tensor is None."""

    line: Tensor
    mask: Tensor | None = None
    source: str = "train"


class Outer(TensorClass):
    """An object with such an object in it."""

    line: Tensor
    inner: Labelled


def rows(*batch: int) -> Rows:
    """Different numbers everywhere."""
    generator = torch.Generator().manual_seed(0)
    made = [torch.rand(*batch, *own, generator=generator) for own in ((), (5,), (2, 3))]
    return Rows(*made, batch_size=batch)


@pytest.mark.parametrize("count", [MANY, 3], ids=["many", "few"])
@pytest.mark.parametrize("negative", [False, True], ids=["from the front", "from behind"])
def test_an_index_of_many_positions_gives_what_indexing_every_tensor_gives(count: int, negative: bool) -> None:
    value = rows(7)
    index = torch.arange(count) % 7 - (3 if negative else 0)
    assert_applied(value[index], value, lambda tensor: tensor[index], index.shape)


@pytest.mark.parametrize("position", [7, -8])
def test_an_index_of_many_positions_that_leads_out_of_the_batch_is_refused(position: int) -> None:
    index = torch.zeros(MANY, dtype=torch.long)
    index[-1] = position
    with pytest.raises(IndexError, match=f"index {position} is out of bounds for dimension 0 with size 7"):
        rows(7)[index]


def test_an_index_of_many_positions_works_inside_vmap() -> None:
    value, indexes = rows(7), (torch.arange(2 * MANY) % 7).view(2, MANY)
    found = torch.vmap(lambda index: value[index].line)(indexes)
    assert torch.equal(found, value.line[indexes])


@pytest.mark.parametrize("wrap", [lambda item: item, lambda item: Outer(item.line, item, batch_size=3)])
@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (Labelled(torch.ones(3, 2), source="test", batch_size=3), ValueError, "'train' and 'test'"),
        (Labelled(torch.ones(3, 2), torch.ones(3), batch_size=3), TypeError, "1 of 2 are None"),
    ],
    ids=["static", "None"],
)
def test_nothing_is_written_where_two_objects_are_not_alike(
    wrap: Callable[[Labelled], TensorClass], other: Labelled, error: type[Exception], message: str
) -> None:
    target = wrap(Labelled(torch.zeros(3, 2), batch_size=3))
    with pytest.raises(error, match=message):
        target[:] = wrap(other)
    assert not any(leaf.any() for leaf in target._leaves())


def test_a_function_that_breaks_the_batch_of_a_nested_object_is_refused() -> None:
    inner = Labelled(torch.ones(3, 4, 2), batch_size=(3, 4))
    value = Outer(torch.ones(3, 2), inner, batch_size=3)
    with pytest.raises(ValueError, match=r"Labelled.line: expected a shape that starts with \[3, 4\], got \[3, 8\]"):
        value.apply(lambda tensor: tensor.reshape(3, -1))


def test_a_function_that_breaks_the_batch_of_one_of_two_fields_alike_is_refused() -> None:
    value = Twins(torch.ones(3, 2), torch.ones(3, 2), batch_size=3)
    shapes = iter([(3, 2), (2, 3)])
    with pytest.raises(ValueError, match=r"Twins.right: expected a shape that starts with \[3\], got \[2, 3\]"):
        value.apply(lambda tensor: tensor.reshape(next(shapes)))


def test_tensors_that_can_have_no_gradient_are_left_out() -> None:
    value = Labelled(torch.ones(3, 2), torch.ones(3, dtype=torch.long), batch_size=3)
    value.requires_grad_()
    assert value.mask is not None
    assert (value.line.requires_grad, value.mask.requires_grad) == (True, False)


def test_gradients_of_what_was_computed_cannot_be_switched_off() -> None:
    value = Labelled(torch.ones(3, 2, requires_grad=True) * 2, batch_size=3)
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        value.requires_grad_(False)


def test_no_attribute_is_looked_up_through_a_function() -> None:
    # Python would look up all attributes in the slow way then, those that exist too.
    own = {*type.mro(Rows), *type.mro(type(Rows))} - {object, type}
    found = {name for cls in own for name in vars(cls)}
    assert found.isdisjoint({"__getattr__", "__getattribute__"})
