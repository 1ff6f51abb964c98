"""Quantisation, which puts other modules in the place of children."""

from __future__ import annotations

import pytest
from torch import Tensor, nn
from torch.ao import quantization
from torch.ao.nn.quantized import dynamic

from .pairs import Pair, agree, blocks

# All of torch.ao.quantization is deprecated, works, and is what many models are still deployed with.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def quantised(module: nn.Module) -> nn.Module:
    """A copy with dynamically quantised linear layers."""
    made: nn.Module = quantization.quantize_dynamic(module, {nn.Linear})  # type: ignore[no-untyped-call]
    return made


def test_dynamic_quantisation_swaps_the_linear_children(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        made = quantised(module)
        assert all(isinstance(block.proj, dynamic.Linear) for block in blocks(made))
        assert all(type(block.proj) is nn.Linear for block in blocks(module))
        out: Tensor = made(pair.input)
        return out

    agree(pair, run)


def test_a_quantised_module_is_saved_and_loaded(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        made = quantised(module)
        other = quantised(module)
        for block in blocks(other):
            nn.init.zeros_(block.weight)
        other.load_state_dict(made.state_dict())
        out: Tensor = other(pair.input)
        return out

    agree(pair, run)


def test_training_aware_quantisation_swaps_children_in_place(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        module.train()
        for block in blocks(module):
            setattr(block.proj, "qconfig", quantization.get_default_qat_qconfig())  # type: ignore[no-untyped-call] # noqa: B010
        quantization.prepare_qat(module, inplace=True)  # type: ignore[no-untyped-call] # torch gives it no types
        assert all(type(block.proj) is not nn.Linear for block in blocks(module))
        out: Tensor = module(pair.input)
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [out, *(parameter.grad for parameter in module.parameters() if parameter.grad is not None)]

    agree(pair, run)


def test_an_observer_stub_can_wrap_it(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        for block in blocks(module):
            block.register_module("proj", quantization.QuantWrapper(block.proj))
        out: Tensor = module(pair.input)
        return out

    agree(pair, run)
