"""Objects on disk: a generated class, what an expert writes by hand, and tensordict where it is installed.

Each measurement has a folder of its own, removed while the clock stands. Nothing waits for the disk: what is timed is the way
into the page cache and out of it. The hand-written functions write each tensor with `write` and describe it in one JSON file;
they check nothing but the sizes of files, and a process that is killed leaves what it leaves. Before anything is timed, all
columns are checked to load what was saved.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from types import new_class
from typing import Any

import torch
from torch import Tensor

from qten_gen import TensorClass

from .timing import Row, interleaved, table, write_json

SMALL, LARGE = (4, 3), (65536, 80)
"""Shapes of each of three tensors: 48 bytes, and 21 MB."""

Saved = Mapping[str, Tensor]


class Batch(TensorClass):
    """Queries, keys and values."""

    q: Tensor
    k: Tensor
    v: Tensor


class Column:
    """How one way saves, loads and allocates `q`, `k` and `v`."""

    name: str

    def made(self, tensors: Saved) -> Any:
        """The object, before the clock runs."""
        raise NotImplementedError

    def save(self, made: Any, folder: str) -> object:
        raise NotImplementedError

    def load(self, folder: str) -> Any:
        raise NotImplementedError

    def like(self, made: Any, folder: str) -> object:
        raise NotImplementedError

    def tensors(self, loaded: Any) -> Saved:
        """What was loaded, to compare it."""
        return {name: getattr(loaded, name) for name in "qkv"}


class OfClass(Column):
    """A TensorClass, ours or tensordict's."""

    def __init__(self, name: str, cls: Any) -> None:
        self.name, self.cls = name, cls

    def made(self, tensors: Saved) -> Any:
        return self.cls(**tensors, batch_size=[len(tensors["q"])])

    def save(self, made: Any, folder: str) -> object:
        return made.memmap(folder)

    def load(self, folder: str) -> Any:
        return self.cls.load_memmap(folder)

    def like(self, made: Any, folder: str) -> object:
        return made.memmap_like(folder)


class ByHand(Column):
    """A dict of tensors."""

    name = "hand"

    def made(self, tensors: Saved) -> Any:
        return tensors

    def save(self, made: Any, folder: str) -> object:
        return self._save(made, folder, empty=False)

    def like(self, made: Any, folder: str) -> object:
        return self._save(made, folder, empty=True)

    def _save(self, made: Saved, folder: str, empty: bool) -> object:
        os.makedirs(folder, exist_ok=True)
        described = {}
        for name, tensor in made.items():
            size = tensor.numel() * tensor.itemsize
            descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            if empty:
                os.ftruncate(descriptor, size)
            else:
                os.write(descriptor, (ctypes.c_char * size).from_address(tensor.data_ptr()))
            os.close(descriptor)
            described[name] = [str(tensor.dtype).removeprefix("torch."), list(tensor.shape)]
        with open(f"{folder}/meta.json", "w") as file:
            json.dump(described, file)
        return self.load(folder)

    def load(self, folder: str) -> Any:
        with open(f"{folder}/meta.json") as file:
            described = json.load(file)
        loaded = {}
        for name, (dtype, shape) in described.items():
            size, kind = torch.Size(shape), getattr(torch, dtype)
            if os.path.getsize(f"{folder}/{name}") != size.numel() * kind.itemsize:
                raise ValueError(name)
            loaded[name] = torch.from_file(f"{folder}/{name}", True, size.numel(), dtype=kind).view(size)
        return loaded

    def tensors(self, loaded: Any) -> Saved:
        return loaded  # type: ignore[no-any-return] # a dict already


def columns() -> list[Column]:
    """Ours first."""
    found: list[Column] = [OfClass("generated", Batch), ByHand()]
    if find_spec("tensordict") is not None:
        base: type = import_module("tensordict").TensorClass
        body = {"__annotations__": dict.fromkeys("qkv", Tensor), "__module__": __name__}
        found.append(OfClass("tensordict", new_class("Peer", (base,), exec_body=lambda scope: scope.update(body))))
    return found


def check(column: Column, folder: str, tensors: Saved) -> None:
    """Raises `SystemExit` where a column does not load what it saved, or allocates other shapes."""
    made = column.made(tensors)
    column.save(made, folder)
    loaded = column.tensors(column.load(folder))
    shutil.rmtree(folder)
    column.like(made, folder)
    like = column.tensors(column.load(folder))
    shutil.rmtree(folder)
    for name, tensor in tensors.items():
        if not torch.equal(loaded[name], tensor) or like[name].shape != tensor.shape or like[name].any():
            raise SystemExit(f"{column.name}: {name} is not what was saved")


def timed(call: Callable[[], object], before: Callable[[], object], after: Callable[[], object], times: int) -> float:
    """The shortest of some calls; what comes before and after each is not timed."""
    best = float("inf")
    for _ in range(times):
        before()
        start = perf_counter()
        kept = call()
        best = min(best, perf_counter() - start)
        del kept
        after()
    return best


def measurements(column: Column, folder: str, tensors: Saved, times: int) -> dict[str, Callable[[], float]]:
    """What is timed of a column, by name."""
    made = column.made(tensors)
    gone = partial(shutil.rmtree, folder, ignore_errors=True)
    there = partial(column.save, made, folder)

    def nothing() -> None: ...

    return {
        "save": partial(timed, lambda: column.save(made, folder), gone, gone, times),
        "save over another": partial(timed, lambda: column.save(made, folder), there, gone, times),
        "load": partial(timed, lambda: column.load(folder), there, gone, times),
        "load and read all": partial(
            timed,
            lambda: [tensor.sum() for tensor in column.tensors(column.load(folder)).values()],
            there,
            nothing,
            times,
        ),
        "allocate": partial(timed, lambda: column.like(made, folder), gone, gone, times),
    }


def compare(size: str, shape: tuple[int, ...], rounds: int, times: int, folder: str) -> list[Row]:
    """Check, then time, every column."""
    torch.manual_seed(0)
    tensors = {name: torch.rand(shape) for name in "qkv"}
    found: dict[str, dict[str, Callable[[], float]]] = {}
    for column in columns():
        check(column, f"{folder}/check", tensors)
        found[column.name] = measurements(column, f"{folder}/{size}-{column.name}", tensors, times)
    return [
        Row(f"{name}, {size}", interleaved({column: rows[name] for column, rows in found.items()}, rounds))
        for name in next(iter(found.values()))
    ]


def pickles(rounds: int) -> Row:
    """A pickle of a small object and back, beside one of its tensors."""
    batch = Batch(*(torch.rand(SMALL) for _ in range(3)), batch_size=[SMALL[0]])
    plain = [batch.q, batch.k, batch.v]
    if not all(map(torch.equal, pickle.loads(pickle.dumps(batch, 5)).values(), plain)):
        raise SystemExit("the pickle is not what was pickled")

    def nothing() -> None: ...

    def measure(value: object) -> float:
        return timed(lambda: pickle.loads(pickle.dumps(value, 5)), nothing, nothing, 50)

    seconds = interleaved({"generated": partial(measure, batch), "three tensors": partial(measure, plain)}, rounds)
    return Row("pickle and back, protocol 5", seconds, "0.50")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where to write; the folder for temporary files by default")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = [
            *compare("small", SMALL, options.rounds, 20, folder),
            *compare("64 MB", LARGE, options.rounds, 1, folder),
        ]
    pickled = [pickles(options.rounds)]
    for part in (rows, pickled):
        print(table(part, lambda ours, other: f"{ours / other:.2f}", "/") + "\n")
    if options.json:
        write_json(options.json, [*rows, *pickled])


if __name__ == "__main__":
    main()
