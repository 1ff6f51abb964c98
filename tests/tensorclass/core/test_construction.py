"""The constructor: what it takes, what it checks, and what it stores."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass, field, lifted
from qten_gen.runtime.tensorclass.core.stored import Stored
from tests.tensorclass.declared import Batch, Flat, Point, assert_sound, batch, flat, point


@pytest.mark.parametrize(
    ("given", "expected"), [(4, [4]), ([4], [4]), ((4,), [4]), (torch.Size([4]), [4]), (None, []), ((), []), ([], [])]
)
def test_a_batch_size_is_a_number_a_sequence_or_none(given: Any, expected: list[int]) -> None:
    size = Flat(torch.rand(4, 3), torch.rand(4), batch_size=given).batch_size
    assert size == torch.Size(expected)
    assert type(size) is torch.Size


@pytest.mark.parametrize("given", ["4", 1.5, [1.5]])
def test_another_batch_size_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="batch_size: expected int, a sequence of int or None, got"):
        Flat(torch.rand(4), torch.rand(4), batch_size=given)


@pytest.mark.parametrize("given", [-3, [4, -3]])
def test_a_negative_batch_size_is_refused(given: Any) -> None:
    class Named(TensorClass):
        name: str

    with pytest.raises(ValueError, match=r"^\w+\.batch_size: expected sizes that are not negative, got \["):
        Named("a", batch_size=given)


def test_the_device_is_the_one_that_the_tensors_say() -> None:
    made = Flat(torch.rand(4), torch.rand(4), device="cpu:0")

    assert made.device == made.x.device


REFUSED: list[tuple[Callable[[Any], object], object, type[Exception], str]] = [
    (
        lambda wrong: Flat(torch.rand(4), wrong, batch_size=4),
        "text",
        TypeError,
        "Flat.y: expected a Tensor, got str 'text'",
    ),
    (lambda wrong: Flat(torch.rand(4), wrong), None, TypeError, "Flat.y: expected a Tensor, got None"),
    (
        lambda wrong: Flat(torch.rand(4, 3), wrong, batch_size=4),
        torch.rand(3, 4),
        ValueError,
        "Flat.y: expected a shape that starts with [4], got [3, 4]",
    ),
    (
        lambda wrong: Batch(torch.rand(4), wrong, batch_size=4),
        torch.rand(4),
        TypeError,
        "Batch.point: expected Point, got a Tensor of dtype torch.float32 and shape [4]",
    ),
    (
        lambda wrong: Batch(torch.rand(4), wrong, batch_size=4),
        point(5),
        ValueError,
        "Batch.point: expected a batch size that starts with [4], got [5]",
    ),
]


@pytest.mark.parametrize(("make", "wrong", "error", "message"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_by_field(
    make: Callable[[Any], object], wrong: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        make(wrong)


def test_a_nested_object_with_a_shorter_batch_size_is_raised_in_a_copy() -> None:
    inner = point(4, 5)
    inner.batch_size = 4
    outer = Batch(torch.rand(4, 5), inner, batch_size=(4, 5))
    assert outer.point.batch_size == (4, 5)
    assert outer.point.position is inner.position
    assert inner.batch_size == (4,)


def test_a_nested_object_with_a_longer_batch_size_is_kept() -> None:
    inner = point(4, 5)
    assert Batch(torch.rand(4), inner, batch_size=4).point is inner


def test_nested_objects_are_raised_at_every_depth() -> None:
    class Outer(TensorClass):
        batch: Batch

    inner = batch(4)
    inner.batch_size = ()
    inner.point.batch_size = ()
    outer = Outer(inner, batch_size=4)
    assert outer.batch.point.batch_size == (4,)
    assert_sound(outer)


def test_without_a_device_tensors_stay_where_they_are() -> None:
    flat = Flat(torch.rand(4, device="meta"), torch.rand(4), batch_size=4)
    assert flat.device is None
    assert flat.x.device.type == "meta"


def test_defaults_are_made_or_cloned_for_each_object() -> None:
    tensor, inner = torch.zeros(()), point()

    class Counted(TensorClass):
        count: Tensor = tensor
        point: Point = inner
        tags: list[str] = field(default_factory=list)

    first, second = Counted(), Counted()
    first.count.add_(1)
    first.point.weight.fill_(7)
    first.tags.append("a")
    assert (second.count.item(), tensor.item()) == (0, 0)
    assert second.point.weight == inner.weight != 7
    assert second.tags == []


def test_a_default_is_checked_like_any_value() -> None:
    with pytest.raises(ValueError, match=r"^Point\.weight: expected a shape that starts with \[4\], got \[\]$"):
        Point(torch.rand(4), batch_size=4)


def test_post_init_runs_once_in_the_constructor() -> None:
    class Doubled(TensorClass):
        x: Tensor

        def __post_init__(self) -> None:
            self.x = self.x * 2

    doubled = Doubled(torch.ones(2), batch_size=2)
    again = Doubled.stack([doubled.clone()[0], (doubled + 0).to(torch.float64)[1].float()])
    assert again.x.tolist() == [2, 2]


def test_the_base_class_itself_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="TensorClass has no fields"):
        TensorClass()


def test_a_class_that_was_declared_again_is_another_one_which_the_message_says() -> None:
    space: dict[str, Any] = {"__name__": __name__, "TensorClass": TensorClass, "Tensor": Tensor}
    exec("class Held(TensorClass):\n    x: Tensor\nclass Holder(TensorClass):\n    held: Held", space)
    before = space["Held"](torch.ones(2), batch_size=2)
    exec("class Held(TensorClass):\n    x: Tensor", space)
    after = space["Held"](torch.ones(2), batch_size=2)
    reason = re.escape(
        " of another class of that name; one of them was declared again: run again what uses the old one"
    )
    with pytest.raises(TypeError, match=rf"^Holder\.held: expected Held, got a Held{reason}$"):
        space["Holder"](after, batch_size=2)
    with pytest.raises(TypeError, match=rf"^expected Held, got Held{reason}$"):
        space["Held"].stack([before, before])
    with pytest.raises(TypeError, match=rf"^stack: expected objects of one class, got Held and Held{reason}$"):
        torch.stack([before, after])
    with pytest.raises(TypeError, match=rf"^Held\.add: expected Held, a Tensor or a number, got Held{reason}$"):
        lifted(torch.add)(after, before)


def test_a_class_of_the_same_name_is_told_by_its_module() -> None:
    space: dict[str, Any] = {"__name__": "elsewhere", "TensorClass": TensorClass, "Tensor": Tensor}
    exec("class Flat(TensorClass):\n    x: Tensor", space)
    other = space["Flat"](torch.ones(2), batch_size=2)
    reason = re.escape(f" of elsewhere, which is not the one of {Flat.__module__}")
    with pytest.raises(TypeError, match=rf"^expected Flat, got Flat{reason}$"):
        Flat.stack([other, other])


@pytest.mark.parametrize(
    "call",
    [
        lambda long: flat(2).split(long),
        lambda long: flat(2).reshape(long),
        lambda long: flat(2)[long, long],
        lambda long: flat(2)[[*map(str, long)]],  # type: ignore[list-item] # the mistake
    ],
)
def test_a_message_about_sizes_is_bounded(call: Callable[[list[int]], object]) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)) as error:
        call([*range(100_000)])
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "call",
    [
        lambda name: flat(2).set(name, 1),
        lambda name: flat(2).replace({name: 1}),
        lambda name: flat(2).all(name),
        lambda name: flat(2)[name],
        lambda name: Flat.from_dict({name: 1}),
        lambda name: Flat(torch.ones(2, 2), torch.ones(2), batch_size=[2], names=[name, "b"]),
        lambda name: Flat(torch.ones(2, 2), torch.ones(2), batch_size=[2], names=[name, name]),
    ],
)
def test_a_message_about_a_name_is_bounded(call: Callable[[str], object]) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)) as error:
        call("n" * 100_000)
    assert len(str(error.value)) < 400


def test_compiled_primitives_have_the_parameters_of_the_ground_class() -> None:
    primitives = {name for name, value in vars(Stored).items() if inspect.isfunction(value)}
    primitives -= {"_assign", "_fill"}  # one stands there, and the parameters of the other are the fields
    for name in primitives:
        found = inspect.signature(getattr(Batch, name)).parameters
        assert [*found] == [*inspect.signature(vars(Stored)[name]).parameters], name


def test_a_traceback_shows_the_field_that_failed() -> None:
    with pytest.raises(RuntimeError, match="invalid for input of size") as error:
        batch().apply(lambda tensor: tensor.view(7))
    assert "fn(self._tokens)," in [entry.line for entry in traceback.extract_tb(error.tb)]
