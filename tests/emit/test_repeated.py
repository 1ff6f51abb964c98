"""What a stub repeats of the user's own methods and functions, and how it writes them."""

from __future__ import annotations

from textwrap import indent

import pytest

from qten_gen.generate.render import render_python
from qten_gen.generate.render_stub import render_stub
from qten_gen.model import FileDecl
from tests.emit.declared import linked

BASE = """
class Point(TensorClass):
    xy: Tensor


Pair = tuple[Point, Point]
Points = list[Point]
Json = dict[str, "Json"] | str
Tree = Point | tuple["Tree", ...]
"""
HEAD = """
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal, overload
from elsewhere import retried
from .base import Json, Pair, Point, Points, Tree
from . import base


class Batch(TensorClass):
    tokens: Tensor
"""


def file(text: str) -> FileDecl:
    return linked(shop__base=BASE, shop__model=HEAD + text)["shop.model"]


def repeated(body: str) -> str:
    """What the stub of `Batch` has of a class body, between the constructor and `get`."""
    stub = render_stub(file(indent(body, "    ")))
    own = stub.partition("class Batch(")[2].partition(") -> None: ...\n")[2]
    lines = own.partition("    @_t.overload\n    def get(")[0].partition("    def get(")[0].splitlines()
    return "\n".join(line.removeprefix("    ") for line in lines)


@pytest.mark.parametrize(
    "method",
    [
        "def f(self) -> Tensor: ...",
        "def to_dict(self) -> Tensor: ...",
        "def f(self) -> Self: ...",
        "def f(self, other: Batch) -> Tensor: ...",
        "def f(self, others: Sequence[Batch]) -> int: ...",
        "def f(self, other: Pair) -> None: ...",
        "def f(self): ...",
        "def f(self) -> Json: ...",
        "def f(self, others: list[Batch]): ...",
        "def f(self) -> Literal['Batch']: ...",
        "@computed[0]\ndef f(self) -> Batch: ...",
        "@retried(times=TIMES)\ndef f(self) -> Batch: ...",
        "def replace(self) -> Batch: ...",
    ],
)
def test_a_method_is_inherited_where_nothing_would_be_said_otherwise(method: str) -> None:
    assert repeated(method) == ""


@pytest.mark.parametrize(
    ("method", "stub"),
    [
        ("def f(self) -> Batch: ...", "def f(self) -> Batch: ..."),
        ("def f(self) -> 'Batch | None': ...", "def f(self) -> Batch | None: ..."),
        ("def f(self) -> list['Batch']: ...", "def f(self) -> list[Batch]: ..."),
        ("def f(self, x: int = 3, y: str = 'a') -> Batch: ...", "def f(self, x: int = 3, y: str = 'a') -> Batch: ..."),
        ("def f(self, x: int = N) -> Batch: ...", "def f(self, x: int = ...) -> Batch: ..."),
        ("def f(self, other: Batch, /) -> Point: ...", "def f(self, other: _decl.Batch, /) -> _Point: ..."),
        ("def f(self) -> base.Point: ...", "def f(self) -> _Point: ..."),
        ("def f(self) -> Pair: ...", "def f(self) -> tuple[_Point, _Point]: ..."),
        ("def f(self) -> Tree: ...", "def f(self) -> _Point | tuple[_Tree, ...]: ..."),
        ("def f(self) -> Annotated[Batch, 'Point']: ...", "def f(self) -> Annotated[Batch, 'Point']: ..."),
        ("@property\ndef f(self) -> Batch: ...", "@property\ndef f(self) -> Batch: ..."),
        (
            "@property\ndef f(self) -> Batch: ...\n@f.setter\ndef f(self, value: list[Batch]): ...",
            "@property\ndef f(self) -> Batch: ...\n"
            "@f.setter\ndef f(self, value: list[_decl.Batch] | list[Batch]) -> None: ...",
        ),
        ("@classmethod\ndef f(cls) -> Batch: ...", "@classmethod\ndef f(cls) -> Batch: ..."),
        ("@staticmethod\ndef f(x: Batch) -> Batch: ...", "@staticmethod\ndef f(x: _decl.Batch) -> Batch: ..."),
        (
            "@torch.no_grad()\n@contextmanager\ndef f(self) -> Iterator[Batch]: ...",
            "@contextmanager\ndef f(self) -> Iterator[Batch]: ...",
        ),
        ("@retried(times=3)\ndef f(self) -> Batch: ...", "@retried(times=3)\ndef f(self) -> Batch: ..."),
        ("async def f(self) -> Batch: ...", "async def f(self) -> Batch: ..."),
        ("async def f(self) -> AsyncIterator[Batch]:\n    yield self", "def f(self) -> AsyncIterator[Batch]: ..."),
        ("def f(self: Batch) -> Batch: ...", "def f(self: _decl.Batch) -> Batch: ..."),
        (
            "def f(self, of: Callable[[Batch], Batch]) -> None: ...",
            "def f(self, of: Callable[[Batch], _decl.Batch]) -> None: ...",
        ),
        ("def f(self) -> Callable[[Batch], Batch]: ...", "def f(self) -> Callable[[_decl.Batch], Batch]: ..."),
        (
            "def f(self, others: list[Batch]) -> int: ...",
            "@_t.overload\ndef f(self, others: list[_decl.Batch]) -> int: ...\n"
            "@_t.overload\ndef f(self, others: list[Batch]) -> int: ...",
        ),
        (
            "def f(self, others: Points) -> int: ...",
            "@_t.overload\ndef f(self, others: Points) -> int: ...\n"
            "@_t.overload\ndef f(self, others: list[_Point]) -> int: ...",
        ),
        (
            "@overload\ndef f(self, x: int) -> Batch: ...\n@overload\ndef f(self, x: str) -> int: ...\n"
            "def f(self, x: int | str) -> Batch | int: ...",
            "@_t.overload\ndef f(self, x: int) -> Batch: ...\n@_t.overload\ndef f(self, x: str) -> int: ...",
        ),
        ("def list(self) -> list[Batch]: ...", "def list(self) -> _builtins.list[Batch]: ..."),
    ],
)
def test_a_method_that_would_lead_out_of_the_stub_is_repeated(method: str, stub: str) -> None:
    assert repeated(method) == stub


def test_functions_and_annotated_constants_are_in_the_stub_and_in_its_module() -> None:
    text = "\n\ndef load() -> Batch: ...\ndef show(x: Batch) -> int: ...\ndef _hidden() -> Batch: ...\nEMPTY: Batch = load()\n"
    stub, module = render_stub(file(text)), render_python(file(text))

    assert stub.endswith("\nEMPTY: Batch\ndef load() -> Batch: ...\n")
    assert "\nfrom .model import show as show\n" in stub
    assert '    return _rt.declared(__name__, name, "EMPTY", "load", "show")\n' in module


@pytest.mark.parametrize(
    "function",
    [
        "def f(x: Batch): ...",
        "def f(x: Sequence[Batch]) -> int: ...",
        "@retried(base)\ndef f() -> Batch: ...",
    ],
)
def test_a_function_whose_text_does_not_change_or_says_too_little_is_passed_on(function: str) -> None:
    stub = render_stub(file(f"\n\n{function}\n"))

    assert "\nfrom .model import f as f\n" in stub
    assert "def f(" not in stub


def test_a_function_that_mentions_no_declared_class_is_not_in_the_stub() -> None:
    stub, module = (
        render_stub(file("\n\ndef f(x: Tensor) -> int: ...\n")),
        render_python(file("\n\ndef f(x: Tensor) -> int: ...\n")),
    )

    assert "import f as f" not in stub
    assert "    return _rt.declared(__name__, name)\n" in module


def test_a_handler_with_a_name_is_a_function_without_its_decorator() -> None:
    text = """

class Net(Module):
    pass


@Net.register(Batch)
def run(net: Net, batch: Batch, *, scale: float = 1.0) -> Batch: ...
"""
    stub = render_stub(file(text))
    assert stub.endswith("\ndef run(net: _decl.Net, batch: _decl.Batch, *, scale: float = 1.0) -> Batch: ...\n")
    assert "    def __call__(self, batch: _decl.Batch, /, *, scale: float = 1.0) -> Batch: ...\n" in stub


def test_all_overloads_of_forward_are_calls_of_a_module_with_handlers() -> None:
    text = """

class Net(Module):
    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: int) -> Point: ...
    def forward(self, x: Tensor | int) -> Tensor | Point: ...


@Net.register(Batch)
def _(net: Net, batch: Batch) -> int: ...
"""
    calls = [line.strip() for line in render_stub(file(text)).splitlines() if "def __call__" in line]
    assert calls == [
        "def __call__(self, x: Tensor) -> Tensor: ...",
        "def __call__(self, x: int) -> _Point: ...",
        "def __call__(self, batch: _decl.Batch, /) -> int: ...",
    ]


@pytest.mark.parametrize(
    ("taken", "registered", "first"),
    [
        ("Tensor", "Batch", True),
        ("Tensor | None", "Batch", True),
        ("torch.Tensor", "str", True),
        ("Tensor | int", "Batch", True),
        ("Tensor | int", "bool", False),
        ("Tensor", "Tensor", False),
        ("Tensor", "nn.Parameter", False),
        ("Tensor", "object", False),
        ("Point", "Batch", False),
        ("object", "Batch", False),
        ("", "Batch", False),
    ],
)
def test_forward_is_the_first_call_only_where_no_handler_can_be_meant(taken: str, registered: str, first: bool) -> None:
    annotation = f": {taken}" if taken else ""
    text = f"""

import torch


class Net(Module):
    def forward(self, x{annotation}) -> int: ...


@Net.register({registered})
def _(net: Net, other: {registered}) -> str: ...
"""
    calls = [line.strip() for line in render_stub(file(text)).splitlines() if "def __call__" in line]
    assert [call.endswith("-> int: ...") for call in calls] == [first, not first]
