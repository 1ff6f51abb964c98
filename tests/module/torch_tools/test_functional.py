"""Modules as functions of their tensors: functional calls, ensembles, derivatives."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap

from .pairs import Pair, Rows, agree, fill, state

Tensors = dict[str, Tensor]


def tensors(module: nn.Module, factor: float) -> Tensors:
    """Replacements for every parameter and buffer."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name: factor * tensor.detach() for name, tensor in named}


def test_functional_call_computes_with_the_tensors_given(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        before = state(module)
        out = functional_call(module, tensors(module, 0.5), (pair.input,))
        assert [id(tensor) for tensor in state(module)] == [id(tensor) for tensor in before]
        return [out, module(pair.input)]

    agree(pair, run)


def test_an_ensemble_runs_in_one_call(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        modules = [module, copy.deepcopy(module)]
        fill(modules[1])
        with torch.no_grad():
            for tensor in state(modules[1]):
                tensor.mul_(0.5)
        parameters, buffers = stack_module_state(modules)
        base = copy.deepcopy(module).to("meta")

        def member(parameters: Tensors, buffers: Tensors) -> Tensor:
            out: Tensor = functional_call(base, (parameters, buffers), (pair.input,))
            return out

        together: Tensor = vmap(member)(parameters, buffers)
        for row, each in zip(together, modules, strict=True):
            torch.testing.assert_close(row, each(pair.input))
        return [together]

    agree(pair, run)


def test_examples_are_mapped_over(tensor_pair: Pair) -> None:
    agree(tensor_pair, lambda module: vmap(module)(tensor_pair.input))


def test_gradients_for_each_example(tensor_pair: Pair) -> None:
    assert isinstance(tensor_pair.input, Tensor)
    x = tensor_pair.input

    def run(module: nn.Module) -> list[Tensor]:
        parameters = {name: parameter.detach() for name, parameter in module.named_parameters()}

        def loss(parameters: Tensors, row: Tensor) -> Tensor:
            out: Tensor = functional_call(module, parameters, (row,))
            return out.square().sum()

        found: Tensors = vmap(grad(loss), in_dims=(None, 0))(parameters, x)
        return list(found.values())

    agree(tensor_pair, run)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # torch's own use of it
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_derivatives_by_the_input(tensor_pair: Pair, mode: str) -> None:
    assert isinstance(tensor_pair.input, Tensor)
    x = tensor_pair.input

    def run(module: nn.Module) -> list[Tensor]:
        if mode == "reverse":
            return [jacrev(module)(x)]
        return list(jvp(module, (x,), (torch.ones_like(x),)))

    agree(tensor_pair, run)


def test_a_batch_type_is_a_tree_for_transforms(pair: Pair) -> None:
    def loss_of(module: nn.Module) -> Tensor:
        def loss(input: Tensor | Rows) -> Tensor:
            out: Tensor = module(input)
            return out.square().sum()

        found: Tensor | Rows = grad(loss)(pair.input)
        return found.x if isinstance(found, Rows) else found

    agree(pair, loss_of)
