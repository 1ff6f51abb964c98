"""What happens to a module in training: optimisers, gradients, hooks, recomputation, averaging."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Adagrad, Adam, AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel
from torch.utils.checkpoint import checkpoint

from .pairs import Pair, agree, state, train


def gradients(module: nn.Module) -> list[Tensor]:
    return [parameter.grad for parameter in module.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("optimiser", [SGD, Adagrad, Adam, AdamW])
@pytest.mark.parametrize("form", [{"foreach": False}, {"foreach": True}, {"fused": True}], ids=str)
def test_an_optimiser_trains_it(pair: Pair, optimiser: Callable[..., Optimizer], form: dict[str, bool]) -> None:
    agree(pair, lambda module: train(module, pair.input, optimiser(module.parameters(), lr=0.01, **form)))


def test_lbfgs_trains_it(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        optimiser = torch.optim.LBFGS(module.parameters(), max_iter=3)

        def loss() -> float:
            optimiser.zero_grad()
            value: Tensor = module(pair.input).square().mean()
            value.backward()  # type: ignore[no-untyped-call] # torch gives it no types
            return value.item()

        optimiser.step(loss)  # type: ignore[no-untyped-call] # torch gives it no types
        return state(module)

    agree(pair, run)


def test_optimiser_state_moves_from_a_plain_module_to_a_declared_one(pair: Pair) -> None:
    plain = AdamW(pair.plain.parameters(), lr=0.01)
    train(pair.plain, pair.input, plain)
    declared = AdamW(pair.declared.parameters(), lr=0.01)
    pair.declared.load_state_dict(pair.plain.state_dict())
    declared.load_state_dict(copy.deepcopy(plain.state_dict()))
    train(pair.plain, pair.input, plain)
    train(pair.declared, pair.input, declared)
    assert all(map(torch.equal, state(pair.declared), state(pair.plain)))


def test_gradients_are_clipped(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        module(pair.input).sum().backward()
        return [nn.utils.clip_grad_norm_(module.parameters(), 0.1), *gradients(module)]

    agree(pair, run)


def test_autocast_computes_in_the_lower_precision(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            out: Tensor = module(pair.input)
        return out

    agree(pair, run)


@pytest.mark.parametrize("reentrant", [False, True])
def test_activations_are_recomputed(pair: Pair, reentrant: bool) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        start = torch.ones((), requires_grad=True)

        def forward(factor: Tensor) -> Tensor:
            out: Tensor = module(pair.input) * factor
            return out

        checkpoint(forward, start, use_reentrant=reentrant).sum().backward()
        return gradients(module)

    agree(pair, run)


def test_a_checkpoint_wrapper_recomputes_and_keeps_the_names(pair: Pair) -> None:
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

    def run(module: nn.Module) -> list[Tensor]:
        wrapped = checkpoint_wrapper(module)
        assert wrapped.state_dict().keys() == module.state_dict().keys()
        wrapped(pair.input).sum().backward()
        return gradients(module)

    agree(pair, run)


def test_every_kind_of_hook_runs(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        seen: list[Tensor] = []
        child = list(module.children())[-1]

        def add_one(module: nn.Module, args: object, out: Tensor) -> Tensor:
            return out + 1

        for hooked in (module, child):
            hooked.register_forward_pre_hook(lambda *_: seen.append(torch.tensor(1)))
            hooked.register_forward_hook(add_one)
        child.register_full_backward_pre_hook(lambda _, grads: seen.extend(grads))
        child.register_full_backward_hook(lambda _, __, grads: seen.extend(grads))
        seen.append(module(pair.input))
        seen[-1].sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [*seen, *gradients(module)]

    agree(pair, run)


def test_weights_are_averaged(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        averaged = AveragedModel(module)
        for _ in range(2):
            averaged.update_parameters(module)
            train(module, pair.input, SGD(module.parameters(), lr=0.01), steps=1)
        averaged.update_parameters(module)
        out: Tensor = averaged(pair.input)
        return out

    agree(pair, run)
