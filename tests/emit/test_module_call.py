"""How a stub says what a call of a Module with handlers gives."""

from __future__ import annotations

from qten_gen.generate.render_stub import render_stub
from tests.emit.declared import linked

HEAD = """
from typing import overload
class Batch(TensorClass):
    x: Tensor
"""
HANDLER = """
@Net.register(Batch)
def _(net: Net, batch: Batch, scale: float = 1.0) -> Batch: ...
"""


def calls(text: str, name: str = "Net") -> list[str]:
    """The lines of a class in its stub that say how it is called."""
    stub = render_stub(linked(shop__model=HEAD + text)["shop.model"])
    body = stub.partition(f"\nclass {name}(_decl")[2].partition("\nclass ")[0]
    lines = [line.strip() for line in body.splitlines()]
    return [line for line in lines if "__call__" in line]


def test_a_call_is_that_of_forward_or_of_a_handler() -> None:
    text = f"class Net(Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n{HANDLER}"
    assert calls(text) == [
        "def __call__(self, x: Tensor) -> Tensor: ...",
        "def __call__(self, batch: Batch, /, *, scale: float = 1.0) -> Batch: ...",
    ]


def test_a_call_has_the_overloads_of_forward() -> None:
    text = f"""
class Net(Module):
    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: int) -> int: ...
    def forward(self, x): ...
{HANDLER}"""
    assert calls(text)[:2] == [
        "def __call__(self, x: Tensor) -> Tensor: ...",
        "def __call__(self, x: int) -> int: ...",
    ]


def test_a_single_handler_without_a_forward_is_no_overload() -> None:
    text = f"class Net(Module):\n    dim: int\n{HANDLER}"
    assert calls(text) == ["def __call__(self, batch: Batch, /, *, scale: float = 1.0) -> Batch: ..."]
    assert "overload" not in render_stub(linked(shop__model=HEAD + text)["shop.model"])


def test_a_subclass_has_the_inherited_handlers_beside_its_own_forward() -> None:
    text = f"""
class Net(Module):
    def forward(self, x: Tensor) -> Tensor: ...
{HANDLER}
class Child(Net):
    def forward(self, x: Tensor, times: int = 1) -> Tensor: ...
"""
    assert calls(text, "Child") == [
        "def __call__(self, x: Tensor, times: int = 1) -> Tensor: ...",
        "def __call__(self, batch: Batch, /, *, scale: float = 1.0) -> Batch: ...",
    ]


def test_a_handler_that_is_async_gives_a_coroutine() -> None:
    text = "class Net(Module): ...\n@Net.register(str)\nasync def _(net: Net, text: str) -> int: ...\n"
    assert calls(text) == ["def __call__(self, text: str, /) -> _t.Coroutine[_t.Any, _t.Any, int]: ..."]


def test_a_handler_that_gives_a_module_with_handlers_gives_the_class_of_the_stub() -> None:
    text = "class Net(Module): ...\n@Net.register(str)\ndef _(net: Net, other: Net) -> Net | None: ...\n"
    assert calls(text) == ["def __call__(self, other: str, /) -> Net | None: ..."]
