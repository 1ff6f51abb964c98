"""Which random numbers a deferred module gets, and where the generators stand before and after."""

from __future__ import annotations

import random

import numpy
import pytest
import torch
from torch import Tensor, nn

from qten_gen import deferred_init, materialize_module, materialize_tensor


def _linear() -> nn.Linear:
    return nn.Linear(3, 3)


def _two_in_a_row(seed: int) -> tuple[nn.Linear, nn.Linear, Tensor]:
    torch.manual_seed(seed)
    return _linear(), _linear(), torch.randn(2)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_deferred_modules_in_a_row_get_the_numbers_of_two_eager_ones(order: tuple[int, int]) -> None:
    first, second, after = _two_in_a_row(0)
    torch.manual_seed(0)
    deferred = [deferred_init(_linear), deferred_init(_linear)]
    for index in order:
        materialize_module(deferred[index])
    assert torch.equal(deferred[0].weight, first.weight)
    assert torch.equal(deferred[1].weight, second.weight)
    assert torch.equal(torch.randn(2), after)


def test_many_deferred_modules_in_a_row_can_be_made_from_the_last_on() -> None:
    torch.manual_seed(0)
    eager = [nn.Linear(1, 1) for _ in range(60)]
    torch.manual_seed(0)
    deferred = [deferred_init(nn.Linear, 1, 1) for _ in range(60)]
    materialize_module(deferred[-1])
    assert torch.equal(deferred[-1].weight, eager[-1].weight)


def test_a_module_that_is_dropped_counts_for_the_next_one() -> None:
    _, second, after = _two_in_a_row(0)
    torch.manual_seed(0)
    deferred_init(_linear)
    module = deferred_init(_linear)
    materialize_module(module)
    assert torch.equal(module.weight, second.weight)
    assert torch.equal(torch.randn(2), after)


def test_the_generators_of_python_and_numpy_are_used_when_the_constructor_runs() -> None:
    def drawn() -> Tensor:
        return torch.full((2,), random.random() + numpy.random.rand())

    found = []
    for make in (drawn, lambda: materialize_tensor(deferred_init(drawn))):
        random.seed(0)
        numpy.random.seed(0)
        found.append((make().tolist(), random.random(), numpy.random.rand()))
    assert found[0] == found[1]


def test_the_same_seed_gives_the_same_module_again() -> None:
    torch.manual_seed(0)
    first = deferred_init(_linear)
    torch.manual_seed(0)
    second = deferred_init(_linear)
    materialize_module(first)
    materialize_module(second)
    assert torch.equal(first.weight, second.weight)


def test_numbers_drawn_in_between_are_neither_those_of_the_module_nor_left_to_chance() -> None:
    def between(seed: int) -> tuple[Tensor, nn.Linear]:
        torch.manual_seed(seed)
        module = deferred_init(_linear)
        drawn = torch.empty(9).uniform_(-(3**-0.5), 3**-0.5)
        materialize_module(module)
        return drawn, module

    drawn, module = between(0)
    assert torch.equal(drawn, between(0)[0])
    assert not torch.equal(drawn, module.weight.detach().reshape(-1))
    torch.manual_seed(0)
    assert torch.equal(module.weight, _linear().weight)


def test_a_generator_that_was_seeded_in_the_meantime_is_left_alone() -> None:
    module = deferred_init(_linear)
    torch.manual_seed(7)
    materialize_module(module)
    drawn = torch.randn(3)
    torch.manual_seed(7)
    assert torch.equal(drawn, torch.randn(3))


def test_a_function_that_draws_nothing_leaves_the_generator_as_it_is() -> None:
    state = torch.get_rng_state()
    deferred_init(nn.LayerNorm, 3)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_seed_that_a_generator_reports_stays() -> None:
    torch.manual_seed(41)
    deferred_init(_linear)
    assert torch.initial_seed() == 41


def test_a_generator_that_is_given_gets_to_where_the_call_would_have_left_it() -> None:
    generator = torch.Generator().manual_seed(4)
    expected = [torch.randn(3, generator=generator) for _ in range(3)]
    generator.manual_seed(4)
    first = deferred_init(torch.randn, 3, generator=generator)
    second = deferred_init(torch.randn, 3, generator=generator)
    assert torch.equal(materialize_tensor(second), expected[1])
    assert torch.equal(materialize_tensor(first), expected[0])
    assert torch.equal(torch.randn(3, generator=generator), expected[2])


def test_materializing_takes_nothing_from_the_default_generator() -> None:
    first, second = deferred_init(_linear), deferred_init(_linear)
    state = torch.get_rng_state()
    materialize_tensor(second.weight)
    materialize_tensor(first.weight)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_thousand_draws_share_the_state_that_they_go_on_from() -> None:
    torch.manual_seed(0)
    module = deferred_init(lambda: nn.ParameterList(torch.randn(2) for _ in range(1000)))
    materialize_tensor(module[999])
    streams = next(iter(module.parameters())).fake_mode.recorder.streams  # type: ignore[attr-defined] # a fake
    assert len(streams.given) == 1
