"""What `materialize` gives: the constants of eager, its distributions, and numbers that depend on seed and name alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen import Module, param, submodule

from .declared import Block, Decoder, assert_same, tensors


def test_everything_has_a_value_and_the_kind_that_eager_gives() -> None:
    module = Decoder.on_meta(7, 4, depth=2).materialize("cpu", seed=0)
    real = tensors(Decoder(7, 4, depth=2))

    assert list(tensors(module)) == list(real)
    for name, tensor in tensors(module).items():
        twin = real[name]
        assert tensor.device.type == "cpu", name
        assert (tensor.shape, tensor.dtype, tensor.stride()) == (twin.shape, twin.dtype, twin.stride()), name
        assert (type(tensor), tensor.requires_grad) == (type(twin), twin.requires_grad), name
        assert bool(tensor.isfinite().all()), name


def test_constants_are_those_of_eager() -> None:
    module, real = Decoder.on_meta(7, 4).materialize("cpu", seed=0), Decoder(7, 4)
    drawn = ("weight", "frozen", "in_proj_weight", "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")

    compared = [name for name in tensors(real) if name.rpartition(".")[2] not in drawn and "heads" not in name]
    compared.remove("head")
    compared += ["blocks.0.norm.weight", "statistics.weight"]
    assert len(compared) > 20
    for name in compared:
        torch.testing.assert_close(tensors(module)[name], tensors(real)[name], rtol=0, atol=0, msg=name)
    assert module.embed.weight[0].tolist() == [0.0] * 4  # the padding
    assert module.blocks[0].causal.tolist() == real.blocks[0].causal.tolist()


INITIALISERS: dict[str, Callable[[Tensor], Any]] = {
    "kaiming_uniform": nn.init.kaiming_uniform_,
    "kaiming_normal": nn.init.kaiming_normal_,
    "xavier_uniform": nn.init.xavier_uniform_,
    "xavier_normal": nn.init.xavier_normal_,
    "uniform": partial(nn.init.uniform_, a=-2.0, b=1.0),
    "normal": partial(nn.init.normal_, mean=1.0, std=0.5),
    "trunc_normal": partial(nn.init.trunc_normal_, std=0.5, a=-0.7, b=0.9),
    "one's own": lambda tensor: tensor.exponential_(2.0).sub_(1).neg_(),
}


@pytest.mark.parametrize("initializer", INITIALISERS.values(), ids=INITIALISERS)
def test_the_moments_of_random_values_are_those_of_eager(initializer: Callable[[Tensor], Any]) -> None:
    class Net(Module):
        weight: nn.Parameter = param(300, 400, initializer=initializer)

    torch.manual_seed(0)
    mine, real = Net.on_meta().materialize("cpu", seed=3).weight.detach(), Net().weight.detach()

    error = float(real.std()) / 300  # six standard errors of the mean of 120,000 numbers and more
    assert float(mine.mean()) == pytest.approx(float(real.mean()), abs=6 * error)
    assert float(mine.std()) == pytest.approx(float(real.std()), rel=0.02)
    assert float(mine.max()) == pytest.approx(float(real.max()), rel=0.6)
    assert len(set(mine.flatten().tolist())) > 50_000  # no part of it repeats
    torch.testing.assert_close(mine.std(0).mean(), real.std(0).mean(), rtol=0.02, atol=0)
    torch.testing.assert_close(mine.std(1).mean(), real.std(1).mean(), rtol=0.02, atol=0)


def test_the_same_seed_gives_the_same_values_and_another_seed_others() -> None:
    one, same, other = (Decoder.on_meta(7, 4).materialize("cpu", seed=seed) for seed in (1, 1, 2))

    assert_same(one, same)
    assert not torch.equal(one.blocks[0].weight, other.blocks[0].weight)


def test_the_generator_of_torch_gives_the_seed_where_none_is_given() -> None:
    torch.manual_seed(4)
    one = Decoder.on_meta(7, 4).materialize("cpu")
    second = Decoder.on_meta(7, 4).materialize("cpu")
    torch.manual_seed(4)
    again = Decoder.on_meta(7, 4).materialize("cpu")

    assert_same(one, again)
    assert not torch.equal(one.embed.weight, second.embed.weight)


def test_a_seed_leaves_the_generator_of_torch_alone() -> None:
    state = torch.get_rng_state()
    Decoder.on_meta(7, 4).materialize("cpu", seed=0)
    assert torch.equal(torch.get_rng_state(), state)


class Seeding(Module):
    """Seeds the global generator, as some repositories do to get the same weights in each process."""

    dim: int = 3
    weight: nn.Parameter = param("dim", initializer=nn.init.normal_)

    def reset_parameters(self) -> None:
        torch.manual_seed(5)
        super().reset_parameters()


def test_a_reset_parameters_that_seeds_has_its_own_values_and_leaves_the_generator_alone() -> None:
    module = Seeding.on_meta()
    state = torch.get_rng_state()
    module.materialize("cpu", seed=0)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(module.weight, Seeding().weight)


@settings(max_examples=10, deadline=None)
@given(
    order=st.permutations(["embed", "blocks.0", "blocks.1", "blocks.0.attention", "recurrent"]), count=st.integers(0, 5)
)
def test_parts_can_be_materialised_in_any_order(order: list[str], count: int) -> None:
    module, whole = Decoder.on_meta(7, 4), Decoder.on_meta(7, 4).materialize("cpu", seed=5)

    for name in order[:count]:
        part = module.get_submodule(name)
        if isinstance(part, Module):
            part.materialize("cpu", seed=5, prefix=name)
    module.materialize("cpu", seed=5)

    assert_same(module, whole)
    assert module.head is module.embed.weight


def test_a_name_counts_from_the_module_that_is_materialised_unless_a_prefix_is_given() -> None:
    whole = Decoder.on_meta(7, 4).materialize("cpu", seed=5)
    alone = Block.on_meta(4, layer=1).materialize("cpu", seed=5)
    placed = Block.on_meta(4, layer=1).materialize("cpu", seed=5, prefix="blocks.1")

    assert not torch.equal(alone.weight, whole.blocks[1].weight)
    assert_same(placed, whole.blocks[1])


def test_a_block_has_the_values_of_its_name_however_many_there_are() -> None:
    few, many = (Decoder.on_meta(7, 4, depth=depth).materialize("cpu", seed=5) for depth in (1, 3))
    assert_same(few.blocks[0], many.blocks[0])


def test_the_order_of_the_fields_does_not_count() -> None:
    class Here(Module):
        first: nn.Linear = submodule(nn.Linear, 3, 3)
        second: nn.Linear = submodule(nn.Linear, 3, 3)

    class There(Module):
        second: nn.Linear = submodule(nn.Linear, 3, 3)
        first: nn.Linear = submodule(nn.Linear, 3, 3)

    here, there = Here.on_meta().materialize("cpu", seed=5), There.on_meta().materialize("cpu", seed=5)
    assert_same(here.first, there.first)
    assert_same(here.second, there.second)


def test_a_dtype_rounds_the_values_and_leaves_declared_dtypes() -> None:
    single = Decoder.on_meta(7, 4).materialize("cpu", seed=0)
    half = Decoder.on_meta(7, 4).materialize("cpu", seed=0, dtype=torch.bfloat16)

    for name, tensor in tensors(half).items():
        twin = tensors(single)[name]
        declared = name.endswith("exact") or not twin.is_floating_point()
        assert tensor.dtype == (twin.dtype if declared else torch.bfloat16), name
        torch.testing.assert_close(tensor, twin.to(tensor.dtype), rtol=0, atol=0, msg=name)
