"""What tools read of a constructor: types, not text."""

from __future__ import annotations

import enum
import inspect
import typing
from typing import TYPE_CHECKING, Any, Literal

import jsonargparse
import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param

if TYPE_CHECKING:
    pass


class Mode(enum.Enum):
    """A type of the user's."""

    fast = "fast"
    slow = "slow"


class Net(Module):
    """Types that generated code does not import."""

    width: int
    mode: Mode = Mode.fast
    kind: Literal["a", "b"] = "a"
    sizes: list[int] | None = None
    later: Later | None = None
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)


class Deeper(Net):
    """Inherits them."""

    modes: dict[str, Mode] | None = None


class Later:
    """Stands below the class that mentions it."""


class Node(TensorClass):
    """Mentions itself."""

    x: Tensor
    mode: Mode = Mode.fast
    parent: Node | None = None


def types_of(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(vars(cls.__mro__[1])["__init__"])


def test_type_hints_are_those_of_the_declaration() -> None:
    net = {
        "width": int,
        "mode": Mode,
        "kind": Literal["a", "b"],
        "sizes": list[int] | None,
        "later": Later | None,
        "device": torch.device | str | int | None,
        "dtype": torch.dtype | None,
        "return": type(None),
    }
    assert types_of(Net) == net
    assert types_of(Deeper) == {**net, "modes": dict[str, Mode] | None}
    node = types_of(Node)
    assert (node["x"], node["mode"], node["parent"]) == (Tensor, Mode, Node | None)


@pytest.mark.parametrize("cls", [Net, Deeper, Node])
def test_a_signature_can_be_evaluated(cls: type) -> None:
    parameters = inspect.signature(cls, eval_str=True).parameters
    assert parameters["mode"].annotation is Mode
    assert not any(isinstance(parameter.annotation, str) for parameter in parameters.values())


@pytest.mark.parametrize("cls", [Net, Deeper])
def test_jsonargparse_parses_into_the_declared_types(cls: Any) -> None:
    parser = jsonargparse.ArgumentParser(exit_on_error=False)
    parser.add_class_arguments(cls, "net")
    given = parser.parse_args(["--net.width=3", "--net.mode=slow", "--net.sizes=[1, 2]"])
    assert (given.net.width, given.net.mode, given.net.sizes) == (3, Mode.slow, [1, 2])
    with pytest.raises(jsonargparse.ArgumentError, match="width"):
        parser.parse_args(["--net.width=wide"])
