"""What a class made in memory holds goes with it."""

import gc
import inspect
import linecache
import os
import sys
import traceback
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param


def module_class() -> Any:
    class Net(Module):
        width: int
        other: "Net | None" = None
        weight: nn.Parameter = param("width", initializer=lambda tensor: nn.init.ones_(tensor))

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight

    return Net


def batch_class() -> Any:
    class Batch(TensorClass):
        x: Tensor
        parent: "Batch | None" = None

    return Batch


def entries() -> tuple[int, int]:
    modules = [name for name in sys.modules if name.startswith("qten_gen.in_memory.")]
    return len(modules), len([name for name in linecache.cache if name.startswith("<qten-gen")])


def test_modules_made_in_a_loop_are_released_when_the_next_class_is_made() -> None:
    gc.collect()

    class First(Module):
        first: int

    before = entries()

    def used(width: int) -> weakref.ref[type]:
        cls = module_class()
        cls(width)(torch.ones(width))
        return weakref.ref(cls)

    made = [used(width) for width in range(1, 6)]
    gc.collect()
    assert [cls() for cls in made] == [None] * 5

    class Second(Module):
        second: int

    assert entries() == (before[0] + 1, before[1] + 1)


def test_linecache_can_be_checked_while_a_class_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector can run in the middle of it, between the list of the names and the look at each."""
    gc.collect()
    linecache.cache.pop(__file__, None)
    assert linecache.getlines(__file__)
    released = weakref.ref(module_class())
    status = os.stat

    def collected(path: str) -> os.stat_result:
        gc.collect()
        return status(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", collected)
        linecache.checkcache()
    assert released() is None


def test_batches_made_in_a_loop_share_their_text() -> None:
    def used() -> Any:
        cls = batch_class()
        assert cls(torch.ones(2), cls(torch.ones(2), batch_size=2), batch_size=2)[0].parent.x.shape == ()
        return cls._map.__code__

    first, before = used(), entries()
    assert ({used() for _ in range(5)}, entries()[1]) == ({first}, before[1])


def test_a_traceback_shows_the_lines_of_a_class_made_in_memory() -> None:
    with pytest.raises(IndexError) as caught:
        batch_class()(torch.ones(2), batch_size=2)._map(lambda tensor: tensor[7, 7])
    assert "fn(self._x)," in "".join(traceback.format_exception(caught.value))


def test_classes_of_one_name_show_their_own_lines() -> None:
    meta: Any = type(TensorClass)

    def made(name: str) -> Any:
        return meta("Same", (TensorClass,), {"__annotations__": {name: Tensor}, "__module__": __name__})

    classes = {name: made(name) for name in ("first", "second")}
    assert all(f"fn(self._{name})" in inspect.getsource(cls._map) for name, cls in classes.items())


def test_classes_of_different_calls_are_kept_apart() -> None:
    def make() -> tuple[Any, Any, Any]:
        class Node(TensorClass):
            x: Tensor
            parent: "Node | None" = None

        class Holder(TensorClass):
            node: "Node"

        class Child(Holder):
            mark: Tensor | None = None

        return Node, Holder, Child

    made = [make(), make()]
    for node, holder, child in (*made, made[0]):
        value = node(torch.ones(2), node(torch.ones(2), batch_size=2), batch_size=2)
        assert type(child(value, batch_size=2)[0].node.parent) is node
        for other, _, _ in made:
            if other is not node:
                stranger = other(torch.ones(2), batch_size=2)
                for cls in (holder, child):
                    try:
                        cls(stranger, batch_size=2)
                    except TypeError as error:
                        assert "another class of that name" in str(error)
                    else:
                        raise AssertionError("an object of another call's class was accepted")
