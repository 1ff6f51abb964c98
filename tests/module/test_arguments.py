"""What the arguments of a submodule can be: the values of config fields, expressions over them, plain strings."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest
from torch import nn

from qten_gen import Module, const, submodule


class Kept(nn.Module):
    """Keeps what it is given."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__()
        self.kept = (*values, *named.values())


class Mode(Enum):
    FAST = "fast"


class Everything(Module):
    """Passes each of its config fields on."""

    size: int
    rate: float
    either: float | int
    name: str
    kernel: tuple[int, int]
    flag: bool
    maybe: float | None
    table: dict[str, int]
    items: list[int]
    mode: Mode
    word: Literal["a", "b"]
    anything: Any
    child: Kept = submodule(
        Kept,
        "size",
        "rate",
        "either",
        "name",
        "kernel",
        "flag",
        "maybe",
        "table",
        "items",
        "mode",
        "word",
        x="anything",
    )
    computed: Kept = submodule(Kept, "2*size", "2*rate", "either - size", y="size // 2")
    text: Kept = submodule(Kept, const("rate"), const("2*size"))


def test_a_config_field_of_any_type_reaches_a_child() -> None:
    given: Any = (4, 0.5, 3, "n", (1, 2), True, None, {"k": 1}, [2], Mode.FAST, "b", object())
    everything = Everything(*given)

    assert all(kept is value for kept, value in zip(everything.child.kept, given, strict=True))


def test_an_expression_computes_with_numbers() -> None:
    everything = Everything(4, 0.5, 3, "n", (1, 2), True, None, {}, [], Mode.FAST, "b", 1)

    assert everything.computed.kept == (8, 1.0, -1, 2)
    assert everything.text.kept == ("rate", "2*size")


def net(annotation: str, field: str) -> Any:
    """A module with a config field `x` of that type, and another field."""
    head = "from typing import Any\nfrom torch import nn\nfrom qten_gen import Module, param, submodule\n"
    namespace: dict[str, Any] = {"__name__": "arguments_of_children"}
    exec(f"{head}class Net(Module):\n    x: {annotation}\n    {field}\n", namespace)
    return namespace["Net"]


@pytest.mark.parametrize("annotation", ["int", "bool", "Any"])
def test_what_may_be_an_integer_can_be_a_size(annotation: str) -> None:
    assert net(annotation, 'y: nn.Parameter = param("x", initializer=nn.init.ones_)')(3).y.shape == (3,)
