"""A part of a tensor is made as the part of the whole tensor is, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen.large_models.materializing.keyed_draws import BLOCK
from qten_gen.large_models.sharding.placements import Part, slices

from .recorded import record

Initialiser = Callable[[Tensor], object]


def part_of(size: tuple[int, ...]) -> st.SearchStrategy[Part]:
    """Any part of a tensor, empty ones included."""
    ends = [st.tuples(st.integers(0, extent), st.integers(0, extent)) for extent in size]
    return st.tuples(*(pair.map(lambda pair: (min(pair), max(pair))) for pair in ends))


STEPS: list[Initialiser] = [
    lambda x: x.normal_(0.5, 0.2),
    lambda x: x[0].zero_(),
    lambda x: x[-1].fill_(3.0),
    lambda x: x[1:3].normal_(),
    lambda x: x.view(-1)[3:].uniform_(),
    lambda x: nn.init.trunc_normal_(x, 0.5, 0.3, 0.0, 0.7),
    lambda x: nn.init.kaiming_uniform_(x, a=math.sqrt(5)),
    lambda x: nn.init.constant_(x, 0.3),
]
"""Steps that fill runs of memory."""


@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float64]),
    data=st.data(),
)
@settings(max_examples=25, deadline=None)
def test_steps_that_fill_runs_of_memory_give_a_part_what_they_give_the_whole(
    steps: list[Initialiser], dtype: torch.dtype, data: st.DataObject
) -> None:
    size = data.draw(st.sampled_from([(4, 3), (3, 40_000), (300, 401), (5, 70_001), (3, 2, 30_000)]))
    found = record(lambda x: [step(x.zero_()) if at == 0 else step(x) for at, step in enumerate(steps)], size, dtype)
    assert not found.needs_whole
    whole = found.whole()
    for _ in range(3):
        part = data.draw(part_of(size))
        assert same(found.part(part), whole[slices(part)])


def same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors have the same bytes. NaN equals NaN."""
    return torch.equal(first.contiguous().view(torch.uint8), second.contiguous().view(torch.uint8))


WHOLE: list[Initialiser] = [
    nn.init.orthogonal_,
    lambda x: nn.init.sparse_(x, 0.25),
    nn.init.eye_,
    lambda x: x.copy_(torch.arange(x.numel()).view(x.shape)),
    lambda x: x.copy_(torch.linspace(0, 1, x.shape[1])),
    lambda x: x.normal_().div_(x.norm()),
    lambda x: x.normal_().mul_(1.5),
    lambda x: x.copy_(torch.rand_like(x)),
    lambda x: x.copy_(torch.ones_like(x).tril()),
    lambda x: x[:, 1:].mul_(2.0),
    lambda x: x[:, 0].fill_(1.0),
    lambda x: x.t().normal_(),
    lambda x: x[:, ::2].normal_(),
]
"""Initialisers that need the whole tensor."""


@pytest.mark.parametrize("initialiser", WHOLE, ids=range(len(WHOLE)))
@pytest.mark.parametrize("part", [((0, 12), (0, 20)), ((3, 9), (0, 20)), ((0, 12), (4, 5)), ((12, 12), (0, 20))])
def test_what_needs_the_whole_tensor_is_cut_afterwards(initialiser: Initialiser, part: Part) -> None:
    found = record(lambda x: initialiser(x.zero_()), (12, 20))
    assert found.needs_whole
    assert same(found.part(part), found.whole()[slices(part)])


def test_the_whole_tensor_has_the_properties_that_its_initialiser_promises() -> None:
    orthogonal = record(nn.init.orthogonal_, (12, 20)).whole()
    assert torch.allclose(orthogonal @ orthogonal.t(), torch.eye(12), atol=1e-5)
    sparse = record(lambda x: nn.init.sparse_(x, 0.25), (12, 20)).whole()
    assert ((sparse == 0).sum(0) == 3).all()
    assert torch.equal(record(nn.init.eye_, (12, 20)).whole(), torch.eye(12, 20))


def test_an_initialisation_that_another_one_overwrites_is_not_drawn() -> None:
    once = record(lambda x: x.normal_(), (3, 40_000), seed=1)
    twice = record(lambda x: x.uniform_().mul_(3).normal_(), (3, 40_000), seed=1)
    again = record(lambda x: x.uniform_().normal_(), (3, 40_000), seed=1)
    assert same(twice.whole(), again.whole())
    assert not same(twice.whole(), once.whole()), "the draw has another place on the tensor"


def test_a_draw_that_two_tensors_share_gives_both_the_same() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from qten_gen.large_models.deferred.recording import Recorder
    from qten_gen.large_models.materializing.evaluation import draw_keys, evaluate

    mode = FakeTensorMode()
    with mode:
        first, second = torch.empty(4, 5), torch.empty(4, 5)
    recorder = Recorder(mode)
    recorder.add_input(first), recorder.add_input(second)
    with recorder:
        noise = torch.randn(4, 5)
        first.copy_(noise)
        second.copy_(noise).mul_(2)
    recorder.streams.put_back()
    slots = {"first": recorder.slot(first), "second": recorder.slot(second)}
    keys = draw_keys(recorder.tape, slots, 0)
    made = {name: torch.empty(4, 5) for name in slots}
    for name, slot in slots.items():
        evaluate(recorder.tape, slot, keys, made[name])
    assert torch.equal(made["second"], made["first"] * 2)


def test_values_are_cast_to_the_dtype_of_the_result() -> None:
    found = record(lambda x: x.normal_(), (3, 40_000))
    assert torch.equal(found.into(torch.empty(3, 40_000, dtype=torch.bfloat16)), found.whole().bfloat16())


def test_a_result_of_another_layout_gets_the_same_values() -> None:
    found = record(lambda x: x.normal_(), (200, 401))
    transposed = torch.empty(401, 200).t()
    assert torch.equal(found.into(transposed), found.whole())
    assert torch.equal(found.into(torch.empty(400, 401)[::2]), found.whole())
    part = ((5, 100), (7, 300))
    assert torch.equal(found.into(torch.empty(293, 95).t(), part), found.whole()[slices(part)])


def test_the_default_dtype_of_the_recording_counts() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        found = record(lambda x: x.copy_(torch.arange(6).view(2, 3) / 7), (2, 3), torch.float64)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found.whole(), torch.arange(6, dtype=torch.float64).view(2, 3) / 7)


def test_a_tensor_without_elements_needs_nothing() -> None:
    assert record(lambda x: x.normal_(), (0, 5)).whole().shape == (0, 5)
    assert record(nn.init.eye_, (3, 5)).part(((0, 3), (2, 2))).shape == (3, 0)


def test_a_block_has_the_size_that_seeds_mean() -> None:
    assert BLOCK == 65_536
