"""Initialisers: functions, partials, lambdas, methods; what they fill, and how they are written."""

from __future__ import annotations

import linecache
from functools import partial

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule


class Filler:
    """Fills with a number that it keeps."""

    def __init__(self, value: float) -> None:
        self.value = value

    def fill(self, tensor: Tensor) -> None:
        tensor.fill_(self.value)


FOUR = Filler(4.0)


class Filled(Module):
    dim: int = 2
    named: nn.Parameter = param("dim", initializer=nn.init.ones_)
    given: nn.Parameter = param("dim", initializer=partial(nn.init.constant_, val=2.0))
    short: nn.Parameter = param("dim", initializer=lambda tensor: tensor.fill_(3.0))
    method: Tensor = buffer("dim", initializer=FOUR.fill)
    bound: Tensor = buffer("dim", initializer=partial(nn.init.constant_, val=FOUR.value + 1))
    child: nn.Linear = submodule(nn.Linear, "dim", 1)


def text_of(cls: type[Module]) -> str:
    """The text that was rendered in memory for a class."""
    part = cls.__mro__[1]
    return "".join(linecache.getlines(part.__init__.__code__.co_filename))  # type: ignore[misc] # of that very class


def test_every_kind_of_initialiser_fills_its_tensor() -> None:
    filled = Filled()

    values = [filled.named, filled.given, filled.short, filled.method, filled.bound]
    assert [value.tolist() for value in values] == [[float(n)] * 2 for n in (1, 2, 3, 4, 5)]


def test_reset_parameters_initialises_what_the_class_owns_and_nothing_else() -> None:
    filled = Filled()
    with torch.no_grad():
        for tensor in (*filled.parameters(), *filled.buffers()):
            tensor.fill_(9.0)
    filled.reset_parameters()

    assert filled.given.tolist() == [2, 2] and filled.method.tolist() == [4, 4]
    assert filled.child.weight.tolist() == [[9, 9]]


def test_a_function_of_torch_is_written_out_with_its_arguments() -> None:
    text = text_of(Filled)

    assert "_rt.ones_(self.named)\n" in text
    assert "_nn.init.constant_(self.given, val=2.0)\n" in text


def test_any_other_is_looked_up_in_the_declaration() -> None:
    text = text_of(Filled)

    assert '_rt.fill(self.short, _rt.from_declaration(Filled, "short.initializer"), "Filled.short")\n' in text
    assert '_rt.fill(self.method, _rt.from_declaration(Filled, "method.initializer"), "Filled.method")\n' in text


def test_initialisers_need_no_gradients_and_leave_none() -> None:
    filled = Filled()

    assert filled.given.requires_grad and filled.given.grad_fn is None


def test_a_child_class_gives_a_field_another_initialiser() -> None:
    class Refilled(Filled):
        given: nn.Parameter = param("dim", initializer=partial(nn.init.constant_, val=7.0))

    assert Refilled().given.tolist() == [7, 7]
    assert Filled().given.tolist() == [2, 2]
    assert list(Refilled().state_dict()) == list(Filled().state_dict())
