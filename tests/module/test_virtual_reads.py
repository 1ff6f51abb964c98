"""Whatever way a function reads a tensor of the module, the read is seen, and its result not kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from qten_gen import Module, param, virtual

Function = Callable[[Any], Tensor]
"""A function of the module."""


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x * 3

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0]


class Reader(Module):
    """Computes its virtual tensor by a function that it is given."""

    read: Function
    weight: nn.Parameter = param(2, requires_grad=False, initializer=nn.init.ones_)

    @virtual(cached=True)
    def value(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.read(self)


def without_torch_functions(module: Reader) -> Tensor:
    with torch._C.DisableTorchFunction():
        return module.weight * 2


def into_a_slice(module: Reader) -> Tensor:
    made = torch.zeros(2)
    made[:] = module.weight
    return made


def into_out(module: Reader) -> Tensor:
    made = torch.zeros(2)
    torch.add(module.weight, 1, out=made)
    return made


tripled: Callable[..., Tensor] = Tripled.apply
checkpointed: Callable[..., Tensor] = checkpoint

READS: dict[str, Function] = {
    "arithmetic": lambda m: m.weight * 2,
    "the tensor itself": lambda m: m.weight.data,
    "operator": lambda m: torch.ops.aten.mul(m.weight, 2),
    "list": lambda m: torch.stack([m.weight, torch.ones(2)]),
    "number": lambda m: torch.full((2,), float(m.weight[0])),
    "numbers": lambda m: torch.tensor(m.weight.tolist()),
    "condition": lambda m: torch.ones(2) if m.weight.sum() > 0 else torch.zeros(2),
    "numpy": lambda m: torch.from_numpy(m.weight.numpy() * 2),
    "memory": lambda m: torch.tensor(memoryview(m.weight.numpy())),
    "autograd function": lambda m: tripled(m.weight),
    "vmap": lambda m: torch.vmap(lambda x: x * m.weight)(torch.ones(2, 2)),
    "checkpoint": lambda m: checkpointed(lambda x: x * m.weight, torch.ones(2), use_reentrant=False),
    "child made inside": lambda m: nn.Bilinear(1, 1, 2)(torch.ones(1), m.weight[:1]).detach(),
    "slice": into_a_slice,
    "out": into_out,
    "no torch functions": without_torch_functions,
    "compiled": lambda m: torch.compile(lambda x: x * 2, backend="eager")(m.weight),
    "cond": lambda m: torch.cond(m.weight.sum() > 0, lambda x: x * m.weight, lambda x: x * 1, (torch.ones(2),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READS)
def test_it_is_seen(name: str) -> None:
    reader = Reader(READS[name])
    before = reader.value
    assert torch.equal(before, reader.value) or name == "child made inside"
    assert reader.value is not before


@pytest.mark.parametrize(
    "made",
    [
        lambda m: torch.ones(2).cumsum(0),
        lambda m: torch.tensor([1, 2]).flip(0).to(torch.float16),
        lambda m: torch.ones(3, 3, dtype=torch.bool).tril_().logical_not_(),
        lambda m: torch.nn.functional.one_hot(torch.arange(3)),
        lambda m: torch.outer(torch.arange(3), torch.linspace(0, 1, 2)).sin(),
        lambda m: torch.einsum("i,j->ij", *torch.eye(2).unbind()),
        lambda m: torch.ones(len(m.weight), dtype=m.weight.dtype).new_zeros(m.weight.shape),
    ],
)
def test_what_a_function_makes_itself_is_kept(made: Function) -> None:
    reader = Reader(made)
    assert reader.value is reader.value


def test_a_function_that_is_an_attribute_is_followed_too() -> None:
    reader = Reader(lambda m: torch.full((2,), getattr(m, "other", 0)))
    assert reader.value is not reader.value


def test_an_error_of_the_function_is_raised_as_without_a_cache() -> None:
    def fail(module: object) -> Tensor:
        raise LookupError("no table")

    with pytest.raises(LookupError, match="no table") as raised:
        Reader(fail).value  # noqa: B018 # what the test is about
    assert raised.value.__context__ is None
