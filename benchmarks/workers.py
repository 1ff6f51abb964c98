"""Batches that workers of a DataLoader send: packed, field by field, and as tensordict sends them, where it is installed.

A worker makes nothing but the message. Every number is the time of one batch, of many from two workers, the first ones left out.
It varies by a factor of two with what else the machine does. `--message` does without workers: it times the processor while this
process makes a message, pickles it as a worker does, and unpickles it. `--sizes` times fields of several sizes, from which the
largest that is packed was chosen.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from time import perf_counter, process_time
from types import new_class
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torch.utils.data._utils import worker

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.storage import pickling
from qten_gen.runtime.tensorclass.torch_tools import datasets, packing

from .timing import Row, interleaved, table, write_json

FIELDS = 20
OBJECTS = 64

Fields: type[TensorClass] = new_class(
    "Fields",
    (TensorClass,),
    exec_body=lambda names: names.update(
        __module__=__name__, __annotations__={f"f{at}": Tensor for at in range(FIELDS)}
    ),
)
"""A class of twenty fields."""


def fields(size: int, items: int) -> dict[str, Tensor]:
    return {f"f{at}": torch.rand(items, size) for at in range(FIELDS)}


def ours(size: int, items: int) -> Any:
    make: Any = Fields
    return make(**fields(size, items), batch_size=[items])


def theirs(size: int, items: int, consolidated: bool = False) -> Any:
    from tensordict import TensorDict

    made = TensorDict(fields(size, items), batch_size=[items])
    return made.consolidate() if consolidated else made


def listed(make: Callable[[int, int], Any], size: int, items: int) -> list[Any]:
    """Objects of different lengths, which cannot be stacked."""
    return [make(size, at % 8 + 1) for at in range(items)]


class Batches(Dataset[Any]):
    """Gives one message many times."""

    def __init__(self, make: Callable[[], Any], count: int) -> None:
        self.make, self.count = make, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.make()


def the_only_one(items: list[Any]) -> Any:
    return items[0]


def field_by_field(number: int) -> None:
    """Let a worker send every tensor by itself."""
    pickling.__dict__["codes_to_send"] = lambda _: {}
    datasets.__dict__["LARGEST"] = 0


def raised(number: int) -> None:
    """Let a worker pack tensors of every size."""
    packing.__dict__["LARGEST"] = 2**40


def measure(make: Callable[[], Any], count: int, start: Callable[[int], None] | None = None) -> float:
    """Seconds for a batch, without the first ones."""
    loader = DataLoader(Batches(make, count), 1, collate_fn=the_only_one, num_workers=2, worker_init_fn=start)
    begin = 0.0
    for at, _ in enumerate(loader):
        if at == 3:
            begin = perf_counter()
    return (perf_counter() - begin) / (count - 4)


def message_time(make: Callable[[], Any], count: int) -> float:
    """Seconds of the processor for one message, made and pickled as in a worker and unpickled: the least of several."""
    best = float("inf")
    for _ in range(count // 4):
        worker._worker_info = worker.WorkerInfo(id=0, num_workers=2, seed=0, dataset=Batches(make, 1))
        begin = process_time()
        sent = ForkingPickler.dumps(make())
        worker._worker_info = None
        received = pickle.loads(sent)
        best = min(best, process_time() - begin)
        del received
    return best


def rows(rounds: int, without_workers: bool) -> list[Row]:
    found = []
    measured = message_time if without_workers else measure
    for name, as_list, size, items, count in (
        (f"{FIELDS} fields of 8 KiB", False, 32, 64, 60),
        (f"list of {OBJECTS} objects of {FIELDS} fields", True, 32, OBJECTS, 16),
    ):

        def message(
            make: Callable[[int, int], Any], as_list: bool = as_list, size: int = size, items: int = items
        ) -> Any:
            return partial(listed, make, size, items) if as_list else partial(make, size, items)

        columns = {"packed": partial(measured, message(ours), count)}
        if not without_workers:
            columns["field by field"] = partial(measure, message(ours), count, field_by_field)
        if find_spec("tensordict"):
            if not without_workers:
                columns["tensordict"] = partial(measure, message(theirs), count)
            columns["consolidate"] = partial(measured, message(partial(theirs, consolidated=True)), count)
        found.append(Row(name, interleaved(columns, rounds), "" if without_workers else "0.50"))
    return found


def sizes(rounds: int) -> list[Row]:
    """Packing of every size beside sending each tensor by itself."""
    found = []
    for kib in (4, 16, 64, 128, 256, 512, 1024, 4096):
        make = partial(ours, kib * 4, 64)
        columns = {
            "packed": partial(measure, make, 24, raised),
            "field by field": partial(measure, make, 24, field_by_field),
        }
        found.append(Row(f"{FIELDS} fields of {kib} KiB", interleaved(columns, rounds), ""))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--message", action="store_true", help="time the processor, without workers")
    parser.add_argument("--sizes", action="store_true", help="time fields of several sizes instead")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = sizes(options.rounds) if options.sizes else rows(options.rounds, options.message)
    print(table(found, lambda ours, other: f"{ours / other:.2f}", "/"))
    if options.json:
        write_json(options.json, found)


if __name__ == "__main__":
    main()
