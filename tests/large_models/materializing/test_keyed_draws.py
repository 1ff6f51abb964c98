"""Random numbers that depend on a key and their place alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from qten_gen.large_models.materializing.keyed_draws import BLOCK, Draw, Key, generator_of

from .recorded import record

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool]
DRAWS: list[tuple[Callable[[Tensor], object], list[torch.dtype]]] = [
    (lambda x: x.normal_(1.0, 2.0), [*FLOATS, torch.complex64]),
    (lambda x: x.uniform_(-3, 5), FLOATS),
    (lambda x: x.bernoulli_(0.3), [*FLOATS, *INTEGERS]),
    (lambda x: x.exponential_(2.0), FLOATS),
    (lambda x: x.random_(), [*FLOATS, *INTEGERS]),
    (lambda x: x.random_(7), [*FLOATS, torch.int64, torch.uint8]),
    (lambda x: x.random_(-7, 9), [*FLOATS, torch.int64]),
    (lambda x: x.log_normal_(0.5, 0.25), FLOATS),
    (lambda x: x.cauchy_(0.5, 2.0), FLOATS),
    (lambda x: x.geometric_(0.25), [*FLOATS, torch.int64]),
    (lambda x: torch.nn.init.trunc_normal_(x, 0.0, 1.0, -0.5, 2.0), FLOATS),
]
"""Operations that fill a tensor, and the dtypes that torch draws in."""

SIZE = (3, BLOCK // 2)
"""One block and a half."""


@pytest.mark.parametrize(
    ("fill", "dtype"),
    [pytest.param(fill, dtype, id=f"{row}-{dtype}") for row, (fill, dtypes) in enumerate(DRAWS) for dtype in dtypes],
)
def test_a_block_of_a_draw_is_what_torch_draws_from_the_generator_of_the_block(
    fill: Callable[[Tensor], object], dtype: torch.dtype
) -> None:
    found = record(fill, SIZE, dtype, seed=3)
    assert not found.needs_whole
    expected = torch.empty(SIZE[0] * SIZE[1], dtype=dtype)
    with torch.random.fork_rng(), torch.no_grad():
        for block, piece in enumerate(torch.split(expected, BLOCK)):
            torch.set_rng_state(generator_of(Key(3, "weight", 0), block).get_state())
            fill(piece)
    assert torch.equal(found.whole().view(-1), expected)
    assert (expected != expected[0]).any()


def test_values_have_the_distribution_that_is_asked_for() -> None:
    normal = record(lambda x: x.normal_(1.0, 2.0), (1000, 1000)).whole()
    assert abs(normal.mean().item() - 1.0) < 0.01
    assert abs(normal.std().item() - 2.0) < 0.01
    uniform = record(lambda x: x.uniform_(-1, 3), (1000, 1000)).whole()
    assert abs(uniform.mean().item() - 1.0) < 0.01
    assert -1 <= uniform.min().item() < -0.99 < 2.99 < uniform.max().item() <= 3


def test_blocks_of_a_draw_and_draws_of_other_keys_differ() -> None:
    def first(key: Key, block: int = 0) -> float:
        return torch.rand(1, generator=generator_of(key, block), dtype=torch.float64).item()

    keys = [Key(seed, name, index) for seed in (0, 1, 2**40) for name in ("a", "b", "a0", "ä") for index in (0, 1)]
    found = [first(key, block) for key in keys for block in (0, 1, 2**33)]
    assert len(set(found)) == len(found)


def test_seeds_that_agree_in_their_lowest_32_bits_give_other_numbers() -> None:
    low, high = (generator_of(Key(seed, "a", 0), 0) for seed in (5, 5 + 2**32))
    assert not torch.equal(torch.rand(4, generator=low), torch.rand(4, generator=high))


def test_numbers_are_the_same_in_every_process_and_version() -> None:
    generator = generator_of(Key(1, "layers.0.weight", 2), 3)
    assert torch.randint(2**31, (4,), generator=generator).tolist() == [80145748, 1148366376, 2012855248, 275897012]


def test_any_range_of_a_draw_is_the_range_of_the_whole_draw() -> None:
    draw = Draw(lambda tensor, generator: tensor.normal_(generator=generator), Key(0, "a", 0), 2 * BLOCK + 100)
    whole = torch.empty(draw.numel)
    draw.into(whole)
    for start, stop in [(0, 1), (5, BLOCK), (BLOCK - 1, BLOCK + 1), (1, 2 * BLOCK + 100), (2 * BLOCK, 2 * BLOCK + 7)]:
        part = torch.empty(stop - start)
        draw.into(part, start)
        assert torch.equal(part, whole[start:stop])


@pytest.mark.parametrize(
    "initialiser",
    [
        lambda x: x.copy_(torch.randn_like(x)),
        lambda x: x.copy_(torch.randint(-5, 5, x.shape)),
        lambda x: x.copy_(torch.randperm(x.numel()).view(x.shape)),
        lambda x: x.copy_(torch.multinomial(torch.ones(x.numel()), x.numel()).view(x.shape)),
        lambda x: x.copy_(torch.bernoulli(torch.full_like(x, 0.5))),
        lambda x: x.bernoulli_(torch.full_like(x, 0.5)),
        lambda x: x.copy_(torch.normal(torch.zeros_like(x), 1.0)),
        lambda x: x.copy_(torch.poisson(torch.ones_like(x))),
        lambda x: x.copy_(torch.nn.functional.dropout(torch.ones_like(x))),
    ],
)
def test_other_random_operations_draw_from_one_generator(initialiser: Callable[[Tensor], object]) -> None:
    found = record(initialiser, (40, 5), seed=1)
    torch.manual_seed(0)
    state = torch.get_rng_state()
    whole = found.whole()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(1)
    assert torch.equal(found.whole(), whole)
    assert torch.equal(found.part(((3, 9), (1, 4))), whole[3:9, 1:4])
    assert len(whole.unique()) > 1  # type: ignore[no-untyped-call] # the same
    assert not torch.equal(record(initialiser, (40, 5), seed=2).whole(), whole)


def test_the_default_generator_stays_as_it_is() -> None:
    state = torch.get_rng_state()
    record(torch.nn.init.kaiming_uniform_, (30, 5)).whole()
    record(torch.nn.init.orthogonal_, (30, 5)).whole()
    assert torch.equal(torch.get_rng_state(), state)


def test_a_generator_of_its_own_is_refused() -> None:
    generator = torch.Generator().manual_seed(0)
    with pytest.raises(
        ValueError, match=r"^weight: aten::normal_ draws from a generator of its own at .*test_keyed_draws"
    ):
        record(lambda x: x.normal_(generator=generator), (3, 4))


def test_threads_do_not_change_a_value() -> None:
    def values() -> list[Tensor]:
        def chain(x: Tensor) -> None:
            x.uniform_(-0.9, 0.9).erfinv_().mul_(0.3).exp_()

        return [record(fill, (7, 30_011), seed=1).whole() for fill in (chain, torch.Tensor.exponential_)]

    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = values()
        torch.set_num_threads(3)
        assert all(torch.equal(first, second) for first, second in zip(one, values(), strict=True))
    finally:
        torch.set_num_threads(threads)
