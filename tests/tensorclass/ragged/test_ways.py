"""The ways that objects with Ragged fields go: files, trees, other processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch.utils import _pytree
from torch.utils.data import DataLoader

from qten_gen.runtime.tensorclass.processes.sharing import schema, tensors_by_path

from ..storage.forms import ALL_FORMS, Form
from .declared import KINDS, RAGGED, Batch, Targets, assert_items, batch, equal, items, sample


def in_form(form: Form) -> Callable[[Batch, Path], Batch]:
    return lambda b, folder: form.save(b, folder)(type(b))


def by_state_dict(b: Batch, _: Path) -> Batch:
    same, other, alike = b * 0, b.flip(0), b[1:2].expand(3)
    alike.clone().load_state_dict(alike.state_dict())  # the lengths are expanded in both
    same.load_state_dict(b.state_dict())
    assert equal(same, b)
    if any(getattr(b, name) is not None for name in RAGGED):
        with pytest.raises(RuntimeError, match=r"lengths: expected items of the lengths \[1, 2, 0, 3\], got \[3, 0, "):
            other.load_state_dict(b.state_dict())
    other.load_state_dict(b.state_dict(), assign=True)
    return other


def by_tree(b: Batch, _: Path) -> Batch:
    leaves, spec = _pytree.tree_flatten(b)
    return _pytree.tree_unflatten(leaves, spec)  # type: ignore[no-any-return]


def by_all_gather(b: Batch, _: Path) -> Batch:
    torch.distributed.init_process_group("gloo", store=cast(Any, torch.distributed).HashStore(), rank=0, world_size=1)
    try:
        return b.all_gather()[0]
    finally:
        torch.distributed.destroy_process_group()


SAVED: dict[str, Callable[[Batch, Path], Batch]] = {
    **{form.name: in_form(form) for form in ALL_FORMS},
    "state dict to assign": by_state_dict,
    "pytree": by_tree,
    "all_gather": by_all_gather,
    "share_memory_": lambda b, _: b.share_memory_(),
    "tensordict": lambda b, _: type(b).from_tensordict(b.to_tensordict()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_or_taken_apart_comes_back(name: str, kind: str, tmp_path: Path) -> None:
    with torch.serialization.safe_globals([Targets]):
        found = SAVED[name](batch(kind), tmp_path)
    assert type(found.targets) is type(batch(kind).targets)
    assert_items(found, items(kind))
    assert_items(found[[2, 0]], [sample(2, 2, kind), sample(0, 3, kind)])


@pytest.mark.parametrize(("workers", "context"), [(0, None), (2, "fork"), (1, "spawn")])
def test_data_loaders_stack_items_and_index_batches(workers: int, context: str | None) -> None:
    options: Any = {"num_workers": workers, "multiprocessing_context": context}
    of_items = DataLoader(cast(Any, items()), batch_size=3, **options)
    assert_items(Batch.cat(list(of_items)), items())
    if context != "spawn":  # a process takes its time to start
        of_batch = DataLoader(cast(Any, batch()), batch_size=3, **options)
        assert_items(Batch.cat(list(of_batch)), items())


def test_a_queue_sends_objects_with_ragged_fields() -> None:
    queue: Any = multiprocessing.get_context("fork").Queue()
    queue.put(batch())
    assert_items(queue.get(), items())


@pytest.mark.parametrize(
    "damage",
    [{"lengths": torch.tensor([3, 0, 2, 2])}, {"lengths": torch.ones(4)}, {"lengths": None}, {"rows": None}],
)
def test_a_damaged_pickle_of_a_ragged_field_is_refused(damage: dict[str, Any]) -> None:
    make, arguments, state = cast(Any, batch().boxes.__reduce__())
    state["fields"] |= damage
    with pytest.raises(
        (TypeError, ValueError), match=r"Ragged in a file or pickle, which is damaged: expected .*, got"
    ):
        make(*arguments).__setstate__(state)


def test_a_damaged_file_of_a_ragged_field_is_refused(tmp_path: Path) -> None:
    b = batch().memmap(tmp_path)
    b.boxes.lengths[0] = 2
    with pytest.raises(
        ValueError, match=r"meta\.json.*Batch\.boxes.*expected lengths of 6 rows in all, got \[2, 0, 2, 1\]"
    ):
        Batch.load_memmap(tmp_path)


def test_processes_compare_lengths_and_send_rows_alone() -> None:
    assert [path for path in tensors_by_path(batch()) if "lengths" in path] == []
    one, other = schema("broadcast", batch()), schema("broadcast", batch().flip(0))
    assert [key for key in one if one[key] != other[key]] == [
        f"Batch.{name}.lengths" for name in ("boxes", "targets", "words")
    ]
