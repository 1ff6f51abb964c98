"""How a stub says what a call of a Module gives."""

from __future__ import annotations

import pytest

from qten_gen.generate.render_stub import render_stub
from tests.emit.declared import linked

HEAD = """
from typing import Callable, Generic, TypeVar, overload
import torch
T = TypeVar("T")
def wrapped(function: Callable[..., T]) -> Callable[[object], T]: ...

class Batch(TensorClass):
    x: Tensor
"""
BASE = """
class Base(Module):
    def forward(self, x: Tensor) -> Tensor: ...
"""
DESCRIBED = "__call__: _ExactCall = ..."


def calls(text: str, name: str) -> list[str]:
    """The lines of a class in its stub that say how it is called."""
    stub = render_stub(linked(shop__model=HEAD + text)["shop.model"])
    body = stub.partition(f"\nclass {name}(_decl")[2].partition("\nclass ")[0]
    lines = [line.strip() for line in body.splitlines()]
    return [line for line in lines if "__call__" in line]


def test_a_call_is_a_method_with_the_signature_of_forward() -> None:
    text = """
class Net(Module):
    def forward(self, batch: Batch, *, scale: float = 1.0) -> Batch: ...
"""
    assert calls(text, "Net") == ["def __call__(self, batch: _decl.Batch, *, scale: float = 1.0) -> Batch: ..."]


def test_a_call_has_the_overloads_of_forward() -> None:
    text = """
class Net(Module):
    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: Batch) -> Batch: ...
    def forward(self, x): ...
"""
    assert calls(text, "Net") == [
        "def __call__(self, x: Tensor) -> Tensor: ...",
        "def __call__(self, x: _decl.Batch) -> Batch: ...",
    ]


def test_a_decorator_that_keeps_the_signature_is_left_out() -> None:
    text = """
class Net(Module):
    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor: ...
"""
    assert calls(text, "Net") == ["def __call__(self, x: Tensor) -> Tensor: ..."]


@pytest.mark.parametrize(
    "body",
    [
        "@wrapped\n    def forward(self, x: Tensor) -> Tensor: ...",
        "def forward(self, x: Tensor): ...",
        "@staticmethod\n    def forward(x: Tensor) -> Tensor: ...",
        "forward = wrapped",
        "dim: int = 2",
    ],
)
def test_a_forward_whose_text_does_not_say_what_a_call_gives_is_described(body: str) -> None:
    assert calls(f"class Net(Module):\n    {body}", "Net") == [DESCRIBED]


def test_a_subclass_inherits_the_call_with_the_forward() -> None:
    assert calls(f"{BASE}class Net(Base):\n    dim: int = 2", "Net") == []


def test_a_subclass_with_its_own_forward_has_its_own_call() -> None:
    text = f"{BASE}class Net(Base):\n    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor: ..."
    assert calls(text, "Net") == ["def __call__(self, x: Tensor, scale: float = 1.0) -> Tensor: ..."]


def test_a_forward_that_cannot_be_written_does_not_inherit_the_call() -> None:
    assert calls(f"{BASE}class Net(Base):\n    def forward(self, x: Tensor): ...", "Net") == [DESCRIBED]


def test_the_forward_of_a_mixin_comes_before_the_call_of_the_parent() -> None:
    text = f"{BASE}class Mixin:\n    def forward(self, x: int) -> str: ...\nclass Net(Mixin, Base):\n    dim: int = 2"
    assert calls(text, "Net") == [DESCRIBED]


def test_a_call_of_the_user_is_left_alone_in_subclasses_too() -> None:
    text = """
class Net(Module):
    def __call__(self, x: int) -> str: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Child(Net):
    def forward(self, x: Tensor) -> Tensor: ...
"""
    assert [calls(text, name) for name in ("Net", "Child")] == [[], []]
