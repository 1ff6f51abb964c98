"""What compiled code asks before each call: as little as is needed to see every change, so that few graphs are made.

The bounds are what torch 2.13 and 2.15 install. Seven of each are the global state of torch; the rest is the tensors, the
classes, what is read of the objects, and each function and module of the runtime that is traced through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounter
from torch.torch_version import TorchVersion

from qten_gen import PerItem, TensorClass
from tests.tensorclass.declared import Flat, Point, flat


class Three(TensorClass):
    """Three tensors."""

    q: Tensor
    k: Tensor
    v: Tensor


class Child(Three):
    """A generation more."""


def three(cls: type[Three] = Three, **options: Any) -> Three:
    return cls(torch.rand(4, 3), torch.rand(4, 3), torch.rand(4, 3), batch_size=4, **options)


def guards(step: Callable[..., Any], *arguments: object) -> int:
    """How many guards there are on the graph of a call."""
    torch.compiler.reset()
    return len(torch._dynamo.explain(step)(*arguments).out_guards)


def construct(a: Three, b: Three) -> Three:
    return Three(a.q + 1, a.k, a.v, batch_size=a.batch_size)


def index(a: Three, b: Three) -> Three:
    return a[1:3]


def stack(a: Three, b: Three) -> Three:
    return Three.stack([a, b])


def move(a: Three, b: Three) -> Three:
    return a.to(torch.float64)


def add(a: Three, b: Three) -> Three:
    return a + b


def everything(a: Three, b: Three) -> Three:
    made = Three(a.q + 1, a.k, a.v, batch_size=a.batch_size)
    stacked = Three.stack([made[1:3], b[1:3]]).to(torch.float64)
    return stacked + stacked


# Since 2.14, torch also asks of the class itself whether it still inherits each name that is read.
BOUNDS = (
    {construct: 31, index: 32, stack: 36, move: 30, add: 32, everything: 71}
    if TorchVersion(torch.__version__) >= "2.14"
    else {construct: 26, index: 27, stack: 34, move: 26, add: 27, everything: 56}
)


@pytest.mark.parametrize("step", BOUNDS, ids=lambda step: step.__name__)
def test_a_compiled_operation_asks_for_few_guards(step: Callable[..., Any]) -> None:
    assert guards(step, three(), three()) <= BOUNDS[step]


def test_a_generation_more_is_two_guards_more_for_a_method_and_none_for_its_fields() -> None:
    # The generated classes of parent and child, and the parent, could have the method too.
    assert guards(index, three(Child), three()) == guards(index, three(), three()) + 2


def graphs(step: Callable[..., Any], *calls: tuple[Any, ...]) -> int:
    """How many graphs some calls need, each of which gives what it gives without `torch.compile`."""
    torch.compiler.reset()
    counter: Any = CompileCounter()
    compiled = torch.compile(step, fullgraph=True, backend=counter)
    for arguments in calls:
        got, expected = compiled(*arguments), step(*arguments)
        assert type(got) is type(expected)
        assert (got.batch_size, got.device, got.names) == (expected.batch_size, expected.device, expected.names)
        for mine, theirs in zip(got._leaves(), expected._leaves(), strict=True):
            torch.testing.assert_close(mine, theirs)
    found: int = counter.frame_count
    return found


@pytest.mark.parametrize("step", [index, move, add], ids=lambda step: step.__name__)
def test_what_a_graph_was_made_for_is_asked_for(step: Callable[..., Any]) -> None:
    others = (three(device="cpu"), three(names=["time"]), three(Child))
    assert graphs(step, *((value, value) for value in (three(), *others, three()))) == 4


def test_a_method_that_a_class_in_between_gets_later_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    value = three()
    torch.compiler.reset()
    compiled = torch.compile(lambda a: a[::2].v * 2, fullgraph=True, backend="eager")
    assert torch.equal(compiled(value), value.v[::2] * 2)
    monkeypatch.setattr(Three.__mro__[1], "__getitem__", lambda self, index: self, raising=False)
    assert torch.equal(compiled(value), value.v * 2)


def test_a_property_that_is_replaced_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    value = three()
    torch.compiler.reset()
    compiled = torch.compile(lambda a: a.q * 2, fullgraph=True, backend="eager")
    assert torch.equal(compiled(value), value.q * 2)
    monkeypatch.setattr(Three.__mro__[1], "q", property(lambda self: self.k))
    assert torch.equal(compiled(value), value.k * 2)


class Outer(TensorClass):
    """An object in an object."""

    x: Tensor
    point: Point


class Titled(TensorClass):
    """A Python value an item."""

    x: Tensor
    title: PerItem[str]


def outer(length: int) -> Outer:
    return Outer(
        torch.rand(length, 3), Point(torch.rand(length, 2), torch.rand(length), batch_size=length), batch_size=length
    )


def titled(length: int) -> Titled:
    return Titled(torch.rand(length, 3), [f"item {at}" for at in range(length)], batch_size=length)


def unlocked(value: Any) -> Any:
    value.lock_()
    value.unlock_()
    return value.replace(x=value.x + 1)


FUNCTIONS: list[tuple[str, Callable[[int], Any], Callable[[Any], Any]]] = [
    (
        "update",
        outer,
        lambda value: value.clone().update({"x": value.x * 2, ("point", "weight"): value.point.weight * 2}),
    ),
    ("unlock", outer, unlocked),
    ("index", titled, lambda value: value[1:]),
    ("reverse", titled, lambda value: value.flip(0) * 2),
    ("pad", flat, lambda value: value.pad((1, 2), 7.0)),
    ("repeat", flat, lambda value: value.repeat(2)),
    ("tensor", flat, lambda value: value + value.y * 2),
    ("left", flat, lambda value: value.y - value),
    ("stack", flat, lambda value: Flat.stack((value, value + 1))),
    ("number", flat, lambda value: value**2),
]


@pytest.mark.parametrize(("make", "function"), [row[1:] for row in FUNCTIONS], ids=[row[0] for row in FUNCTIONS])
def test_objects_of_several_sizes_are_compiled_twice_at_most(make: Any, function: Any) -> None:
    assert graphs(function, *((make(length),) for length in (4, 4, 5, 6, 7))) <= 2
