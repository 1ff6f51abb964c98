"""A function applied to the chunks of an object in worker processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pickle import PicklingError
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from tests import fresh_process
from tests.tensorclass.declared import Batch, Flat, assert_applied, batch, flat

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class Sum(TensorClass):
    """Another class for results."""

    total: Tensor


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads, for what does not depend on processes: they start at once."""
    with ThreadPoolExecutor(2) as made:
        yield made


def doubled(part: Flat) -> Flat:
    return part * 2


def unchanged(part: Batch) -> Batch:
    return part


def totals(part: Flat) -> Sum:
    return Sum(part.x.sum(-1), batch_size=part.batch_size)


def summed(part: Flat) -> Tensor:
    return part.x.sum(-1)


def nothing(part: Flat) -> None:
    assert part.batch_size


def length(part: Flat) -> Tensor:
    return torch.tensor([len(part)])


def process(part: Flat) -> Tensor:
    return torch.tensor([os.getpid()])


def numbers(part: Flat) -> Tensor:
    return torch.rand(2)


def broken(part: Flat) -> Flat:
    raise ArithmeticError(f"cannot work on {len(part)} items")


def ended(part: Flat) -> Flat:
    os._exit(3)


def mixed(part: Flat) -> Any:
    return part if len(part) == 2 else part.x


def wrong(part: Flat) -> Any:
    return "text"


def threads(part: Flat) -> Tensor:
    return torch.tensor([torch.get_num_threads()])


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_results_of_workers_are_put_together_in_order(method: str) -> None:
    fresh_process.with_torch()
    value = flat(5)
    made = value.map(doubled, num_workers=2, chunksize=2, mp_start_method=method)
    assert_applied(made, value, lambda tensor: tensor * 2)


def test_every_kind_of_field_travels() -> None:
    value = batch(4).to("cpu")
    made = value.map(unchanged, num_workers=1, num_chunks=2)
    assert_applied(made, value, lambda tensor: tensor)
    assert (made.source, made.tags, made.device) == ("test", ["a"], torch.device("cpu"))


def test_work_is_done_by_other_processes() -> None:
    assert os.getpid() not in flat(4).map(process, num_workers=2, chunksize=1).tolist()


def test_the_error_of_a_worker_shows_where_it_came_from() -> None:
    with pytest.raises(ArithmeticError, match="cannot work on 3 items") as caught:
        flat(3).map(broken, num_workers=1)
    assert "in broken" in str(caught.value.__cause__)


def test_a_worker_that_ends_is_an_error_and_no_wait() -> None:
    with pytest.raises(BrokenProcessPool):
        flat(4).map(ended, num_workers=1)


def test_random_numbers_depend_on_the_seed_and_the_chunk_alone() -> None:
    def run(workers: int, seed: int) -> list[float]:
        generator = torch.Generator().manual_seed(seed)
        found: list[float] = flat(4).map(numbers, num_workers=workers, chunksize=1, generator=generator).tolist()
        return found

    first = run(1, 0)
    assert len(set(first)) == 8
    assert run(2, 0) == first
    assert run(2, 1) != first


def test_workers_have_one_thread_of_torch() -> None:
    assert flat(2).map(threads, num_workers=1).tolist() == [1]


def test_workers_are_started_as_asked_for() -> None:
    fresh_process.with_torch()
    assert flat(2).map(threads, num_workers=1, mp_start_method="forkserver").tolist() == [1]


def test_an_executor_can_be_given(pool: ThreadPoolExecutor) -> None:
    value = flat(4)
    assert_applied(value.map(doubled, pool=pool, chunksize=3), value, lambda tensor: tensor * 2)
    assert pool.submit(int).result() == 0


def test_a_result_may_be_of_another_class(pool: ThreadPoolExecutor) -> None:
    value = flat(4)
    assert torch.equal(value.map(totals, pool=pool, chunksize=1).total, value.x.sum(-1))


def test_a_result_may_be_a_tensor_or_none(pool: ThreadPoolExecutor) -> None:
    value = flat(4, 5)
    assert torch.equal(value.map(summed, 1, pool=pool, chunksize=2), value.x.sum(-1))
    nothing_at_all: Any = value.map(nothing, pool=pool)
    assert nothing_at_all is None


def test_chunks_of_size_zero_are_items_whose_results_are_stacked(pool: ThreadPoolExecutor) -> None:
    value = flat(3, 4)
    assert_applied(value.map(doubled, dim=1, pool=pool, chunksize=0), value, lambda tensor: tensor * 2)
    assert torch.equal(value.map(summed, dim=1, pool=pool, chunksize=0), value.x.sum(-1))


def test_the_number_of_chunks_is_that_of_the_workers_unless_told_otherwise(pool: ThreadPoolExecutor) -> None:
    value = flat(12)
    assert value.map(length, num_workers=3, pool=pool).tolist() == [4, 4, 4]
    assert value.map(length, num_chunks=6, pool=pool).tolist() == [2] * 6
    assert value.map(length, chunksize=5, pool=pool).tolist() == [5, 5, 2]


def test_a_dimension_can_be_named(pool: ThreadPoolExecutor) -> None:
    value = Flat(torch.rand(2, 6), torch.rand(2, 6), batch_size=[2, 6], names=["run", "time"])
    made = value.map(doubled, "time", pool=pool, chunksize=4)
    assert_applied(made, value, lambda tensor: tensor * 2)
    assert made.names == ("run", "time")


def test_results_come_one_by_one(pool: ThreadPoolExecutor) -> None:
    value = flat(5)
    found = list(value.map_iter(doubled, pool=pool, chunksize=2))
    assert [each.batch_size for each in found] == [(2,), (2,), (1,)]
    assert_applied(Flat.cat(found), value, lambda tensor: tensor * 2)


def test_workers_are_only_a_few_chunks_ahead(pool: ThreadPoolExecutor) -> None:
    called: list[int] = []

    def counted(part: Flat) -> Flat:
        called.append(len(part))
        return part

    results = flat(20).map_iter(counted, num_workers=1, pool=pool, chunksize=1)
    assert called == []
    next(results)
    results.close()  # type: ignore[attr-defined] # an iterator to callers, a generator in fact
    assert len(called) <= 3


def test_chunks_can_be_taken_in_a_random_order(pool: ThreadPoolExecutor) -> None:
    value = Flat(torch.arange(8.0), torch.arange(8.0), batch_size=8)

    def order(seed: int) -> list[float]:
        generator = torch.Generator().manual_seed(seed)
        shuffled = value.map_iter(doubled, pool=pool, chunksize=1, shuffle=True, generator=generator)
        return [each.x.item() / 2 for each in shuffled]

    assert order(0) == order(0) != list(range(8))
    assert sorted(order(0)) == list(range(8))


def test_a_pool_of_processes_can_be_used_again() -> None:
    with ProcessPoolExecutor(1, mp_context=torch.multiprocessing.get_context("fork")) as made:
        value = flat(4)
        first = value.map(process, pool=made, chunksize=1)
        assert set(first.tolist()) == set(value.map(process, pool=made).tolist())


def test_what_cannot_work_is_refused(pool: ThreadPoolExecutor) -> None:
    with pytest.raises((AttributeError, PicklingError), match="<lambda>"):
        flat(4).map(lambda part: part, num_workers=1)
    with pytest.raises(ValueError, match=r"map: expected chunksize or num_chunks, got both"):
        flat(4).map(doubled, chunksize=1, num_chunks=2)
    with pytest.raises(ValueError, match=r"map: expected items in batch dimension 0 of Flat, got none"):
        flat(0).map(doubled)
    with pytest.raises(IndexError, match=r"dimension 1 is out of range: Flat has 1 batch dimension"):
        flat(4).map(doubled, dim=1)
    with pytest.raises(TypeError, match="expected objects of one class, got Flat and Tensor"):
        flat(3).map(mixed, pool=pool, chunksize=2)
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0, but got str"):
        flat(3).map(wrong, pool=pool)
