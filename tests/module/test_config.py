"""The constructor arguments of a Module as a dict, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import Module, field, param

from .layered import Tower


class Sized(Module):
    dim: int
    names: list[str] = field(default_factory=list)
    eps: float = field(default=1e-6, kw_only=True)
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def test_config_holds_the_constructor_arguments_in_order() -> None:
    assert list(Sized(3, eps=0.5).get_config().items()) == [("dim", 3), ("names", []), ("eps", 0.5)]


def test_from_config_makes_a_module_of_the_same_sizes() -> None:
    tower = Tower(7, 4, depth=3, tasks=("one",))
    twin = Tower.from_config(tower.get_config())

    assert type(twin) is Tower
    assert twin.get_config() == tower.get_config()
    twin.load_state_dict(tower.state_dict())


def test_from_config_takes_device_and_dtype() -> None:
    sized = Sized.from_config({"dim": 2}, device="meta", dtype=torch.float64)

    assert (sized.weight.device.type, sized.weight.dtype) == ("meta", torch.float64)


def test_a_config_goes_through_json() -> None:
    text = json.dumps(Sized(3, ["a"]).get_config())

    assert Sized.from_config(json.loads(text)).get_config() == {"dim": 3, "names": ["a"], "eps": 1e-6}


def test_an_unknown_argument_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="dims"):
        Sized.from_config({"dims": 3})


def test_a_child_class_gives_the_arguments_that_it_inherits() -> None:
    class Wider(Sized):
        dim: int = 5
        extra: int = 2

    assert Wider().get_config() == {"dim": 5, "names": [], "eps": 1e-6, "extra": 2}
    assert type(Wider.from_config(Wider().get_config())) is Wider


def test_a_class_with_its_own_constructor_is_called_with_what_it_annotates() -> None:
    class Written(Module):
        dim: int

        def __init__(self, dim: int) -> None:
            super().__init__()
            self.dim = dim

    assert Written.from_config(Written(3).get_config()).dim == 3


def test_from_config_says_what_it_takes() -> None:
    given: Any = 3
    with pytest.raises(TypeError, match=r"^Sized\.from_config: expected a mapping of constructor arguments"):
        Sized.from_config(given)
