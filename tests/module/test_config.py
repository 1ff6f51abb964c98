"""The constructor arguments of a Module as a dict, and back."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from qten_gen import Module, field, param


class Sized(Module):
    dim: int
    names: list[str] = field(default_factory=list)
    eps: float = field(default=1e-6, kw_only=True)
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)


def test_config_holds_the_constructor_arguments_in_order() -> None:
    assert list(Sized(3, eps=0.5).get_config().items()) == [("dim", 3), ("names", []), ("eps", 0.5)]


def test_from_config_takes_device_and_dtype() -> None:
    sized = Sized.from_config({"dim": 2}, device="meta", dtype=torch.float64)

    assert (sized.weight.device.type, sized.weight.dtype) == ("meta", torch.float64)


def test_a_config_goes_through_json() -> None:
    text = json.dumps(Sized(3, ["a"]).get_config())

    assert Sized.from_config(json.loads(text)).get_config() == {"dim": 3, "names": ["a"], "eps": 1e-6}


def test_an_unknown_argument_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="dims"):
        Sized.from_config({"dims": 3})
