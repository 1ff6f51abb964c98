"""Objects in a DataLoader, as items and as the dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler, Subset, default_collate
from torch.utils.data._utils.pin_memory import pin_memory

from tests import fresh_process
from tests.tensorclass.declared import Batch, Flat, assert_applied, batch, flat, tensors

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class Items(Dataset[Batch]):
    """Makes an object for each position, the same one each time."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Batch:
        return whole()[index]


def whole() -> Batch:
    torch.manual_seed(0)
    return batch(6)


def batches(loader: DataLoader[Any]) -> list[Any]:
    return list(loader)


def assert_whole(found: Sequence[Batch]) -> None:
    assert [each.batch_size[0] for each in found] == [4, 2]
    assert_applied(Batch.cat(found), whole(), lambda tensor: tensor)
    assert all(each.source == "test" for each in found)


def test_items_are_collated_to_one_object() -> None:
    assert_whole(batches(DataLoader(Items(), batch_size=4)))


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_workers_collate_items_in_shared_memory(method: str) -> None:
    fresh_process.with_torch()
    loader = DataLoader(Items(), batch_size=4, num_workers=1, multiprocessing_context=method)
    found = batches(loader)
    assert_whole(found)
    assert all(tensor.is_shared() for each in found for tensor in tensors(each).values())  # type: ignore[no-untyped-call] # torch gives it no types


def test_items_whose_static_values_differ_are_refused() -> None:
    items = [whole()[0], whole()[1].replace(source="other")]
    with pytest.raises(ValueError, match=r"Batch\.source is the same for a whole batch"):
        default_collate(items)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_object_is_a_dataset_of_its_items(workers: int) -> None:
    loader = DataLoader(whole(), batch_size=4, num_workers=workers)
    assert_whole(batches(loader))


def test_a_batch_of_a_dataset_is_cut_out_by_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    value = flat(6)
    monkeypatch.setattr(Flat, "stack", None)
    made = value.__getitems__([4, 0])
    assert_applied(made, value, lambda tensor: tensor[[4, 0]], (2,))
    collated: Any = default_collate
    assert collated(made) is made


def test_subsets_samplers_and_shuffling_find_the_items_of_an_object() -> None:
    value: Any = flat(6)
    [found] = batches(DataLoader(Subset(value, [5, 1]), batch_size=2))
    assert_applied(found, value, lambda tensor: tensor[[5, 1]], (2,))
    sampler = BatchSampler(SequentialSampler(value), 3, drop_last=False)
    assert [len(each) for each in batches(DataLoader(value, batch_sampler=sampler))] == [3, 3]
    shuffled = Flat.cat(batches(DataLoader(value, batch_size=4, shuffle=True)))
    assert sorted(shuffled.y.tolist()) == sorted(value.y.tolist())


def test_a_collate_function_gets_the_items_to_iterate_over() -> None:
    value: Any = flat(4)
    [found] = batches(DataLoader(value, batch_size=4, collate_fn=lambda items: [item.batch_size for item in items]))
    assert found == [()] * 4


def test_a_loader_pins_the_memory_of_every_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[Tensor] = []

    def fake(tensor: Tensor) -> Tensor:
        pinned.append(tensor)
        return tensor.clone()

    monkeypatch.setattr(Tensor, "pin_memory", fake)
    value = batch(4)
    made: Any = pin_memory([value])  # type: ignore[no-untyped-call] # torch gives it no types
    assert_applied(made[0], value, lambda tensor: tensor)
    assert [id(tensor) for tensor in pinned] == [id(tensor) for tensor in tensors(value).values()]
    assert made[0].source == "test"
