"""Which random numbers a deferred module gets, and where the generators stand before and after."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy
import pytest
import torch
from torch import Tensor, nn

from qten_gen import deferred_init, materialize_module, materialize_tensor

from .comparing import seeded


def _linear() -> nn.Linear:
    return nn.Linear(3, 3)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (2,), (1, 2)])
def test_deferred_modules_in_a_row_get_the_numbers_of_eager_ones_also_where_others_are_dropped(
    order: tuple[int, ...],
) -> None:
    eager, after = seeded(lambda: ([_linear() for _ in range(3)], torch.randn(2)))
    deferred = seeded(lambda: [deferred_init(_linear) for _ in range(3)])
    for index in order:
        materialize_module(deferred[index])
        assert torch.equal(deferred[index].weight, eager[index].weight)
    assert torch.equal(torch.randn(2), after)


def test_the_generators_of_python_and_numpy_are_used_when_the_constructor_runs() -> None:
    def drawn() -> Tensor:
        return torch.full((2,), random.random() + numpy.random.rand())

    makes: list[Callable[[], Tensor]] = [drawn, lambda: materialize_tensor(deferred_init(drawn))]
    one, other = (
        seeded(lambda make=make: (make().tolist(), random.random(), numpy.random.rand()))  # type: ignore[misc] # bound
        for make in makes
    )
    assert one == other


def test_numbers_drawn_in_between_are_neither_those_of_the_module_nor_left_to_chance() -> None:
    def between() -> tuple[Tensor, nn.Linear]:
        module = deferred_init(_linear)
        drawn = torch.empty(9).uniform_(-(3**-0.5), 3**-0.5)
        materialize_module(module)
        return drawn, module

    drawn, module = seeded(between)
    assert torch.equal(drawn, seeded(between)[0])
    assert not torch.equal(drawn, module.weight.detach().reshape(-1))
    assert torch.equal(module.weight, seeded(_linear).weight)


def test_a_generator_that_was_seeded_in_the_meantime_is_left_alone_and_so_is_one_that_nothing_draws_from() -> None:
    module = seeded(lambda: deferred_init(_linear), 41)
    assert torch.initial_seed() == 41
    torch.manual_seed(7)
    state = torch.get_rng_state()
    materialize_module(module)
    deferred_init(nn.LayerNorm, 3)
    assert torch.equal(torch.get_rng_state(), state)
    deferred = deferred_init(_linear)
    state = torch.get_rng_state()
    materialize_tensor(deferred.weight)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_generator_that_is_given_gets_to_where_the_call_would_have_left_it() -> None:
    generator = torch.Generator().manual_seed(4)
    expected = [torch.randn(3, generator=generator) for _ in range(3)]
    generator.manual_seed(4)
    first, second = (deferred_init(torch.randn, 3, generator=generator) for _ in range(2))
    assert torch.equal(materialize_tensor(second), expected[1])
    assert torch.equal(materialize_tensor(first), expected[0])
    assert torch.equal(torch.randn(3, generator=generator), expected[2])
