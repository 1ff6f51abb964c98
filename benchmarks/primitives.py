"""Which primitives are worth their lines in every generated class: each written out for three tensors, and as a loop over fields.

Where the loop takes no time that can be measured, it stands once in the ground class (`runtime/tensorclass/core/stored.py`), and
nothing is generated for classes whose fields are all single tensors that carry the batch.

Parameters are `Any` here: the class is built in memory, so checkers do not know its private attributes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Size, Tensor

from qten_gen import TensorClass

from .timing import Row, keep_memory, table, time_statements

Primitive = Callable[..., Any]  # each has parameters of its own


class Three(TensorClass):
    """Three tensors that carry the batch."""

    q: Tensor
    k: Tensor
    v: Tensor


def written_map(self: Any, fn: Any) -> Any:
    return object.__new__(type(self))._fill(
        fn(self._q), fn(self._k), fn(self._v), self._batch_size, self._device, self._names
    )


def looped_map(self: Any, fn: Any) -> Any:
    values = [fn(value) for value in self._field_values()[0]]
    return object.__new__(type(self))._fill(*values, self._batch_size, self._device, self._names)


def written_map_with(self: Any, fn: Any, argument: Any, device: Any) -> Any:
    return object.__new__(type(self))._fill(
        fn(self._q, argument), fn(self._k, argument), fn(self._v, argument), self._batch_size, device, self._names
    )


def looped_map_with(self: Any, fn: Any, argument: Any, device: Any) -> Any:
    values = [fn(value, argument) for value in self._field_values()[0]]
    return object.__new__(type(self))._fill(*values, self._batch_size, device, self._names)


def written_rearrange(self: Any, fn: Any, argument: Any, batch_size: Size) -> Any:
    return object.__new__(type(self))._fill(
        fn(self._q, argument), fn(self._k, argument), fn(self._v, argument), batch_size, self._device
    )


def looped_rearrange(self: Any, fn: Any, argument: Any, batch_size: Size) -> Any:
    out = self._map_with(fn, argument, self._device)
    out._batch_size = batch_size
    out._names = None
    return out


def written_zip(self: Any, fn: Any, other: Any) -> Any:
    return object.__new__(type(self))._fill(
        fn(self._q, other._q),
        fn(self._k, other._k),
        fn(self._v, other._v),
        self._batch_size,
        self._device,
        self._names,
    )


def looped_zip(self: Any, fn: Any, other: Any) -> Any:
    values = [fn(a, b) for a, b in zip(self._field_values()[0], other._field_values()[0], strict=True)]
    return object.__new__(type(self))._fill(*values, self._batch_size, self._device, self._names)


def written_index_put(self: Any, index: Any, value: Any) -> None:
    self._q[index] = value._q
    self._k[index] = value._k
    self._v[index] = value._v


def looped_index_put(self: Any, index: Any, value: Any) -> None:
    for mine, theirs in zip(self._field_values()[0], value._field_values()[0], strict=True):
        mine[index] = theirs


def written_join(self: Any, fn: Any, items: Any, batch_size: Size) -> Any:
    return object.__new__(type(self))._fill(
        fn([item._q for item in items]),
        fn([item._k for item in items]),
        fn([item._v for item in items]),
        batch_size,
        self._device,
    )


def looped_join(self: Any, fn: Any, items: Any, batch_size: Size) -> Any:
    columns = zip(*[item._field_values()[0] for item in items], strict=True)
    return object.__new__(type(self))._fill(*[fn([*column]) for column in columns], batch_size, self._device)


def written_split(self: Any, fn: Any, argument: Any, batch_sizes: Any) -> Any:
    pieces = zip(fn(self._q, argument), fn(self._k, argument), fn(self._v, argument), batch_sizes, strict=True)
    return [object.__new__(type(self))._fill(*values, self._device) for values in pieces]


def looped_split(self: Any, fn: Any, argument: Any, batch_sizes: Any) -> Any:
    pieces = zip(*[fn(value, argument) for value in self._field_values()[0]], batch_sizes, strict=True)
    return [object.__new__(type(self))._fill(*values, self._device) for values in pieces]


def written_leaves(self: Any) -> list[Tensor]:
    return [self._q, self._k, self._v]


def looped_leaves(self: Any) -> list[Tensor]:
    return [*self._field_values()[0]]


def written_to_dict(self: Any) -> dict[str, object]:
    return {"q": self._q, "k": self._k, "v": self._v}


def looped_to_dict(self: Any) -> dict[str, object]:
    return dict(zip(self._fields, self._field_values()[0], strict=True))


ROWS: tuple[tuple[str, Primitive, Primitive, str], ...] = (
    ("_map, clone", written_map, looped_map, "a, clone"),
    ("_map_with, to(dtype)", written_map_with, looped_map_with, "a, cast, double, None"),
    ("_rearrange, reshape", written_rearrange, looped_rearrange, "a, reshape, (2, 2, 3), size"),
    ("_zip, add", written_zip, looped_zip, "a, add, b"),
    ("_index_put, a[1] = b[1]", written_index_put, looped_index_put, "a, 1, item"),
    ("_join, stack of two", written_join, looped_join, "a, stack, [a, b], stacked"),
    ("_split, unbind", written_split, looped_split, "a, unbind, 0, sizes"),
    ("_leaves", written_leaves, looped_leaves, "a"),
    ("_to_dict", written_to_dict, looped_to_dict, "a"),
)


def namespace() -> dict[str, object]:
    """What the statements are about: objects of 4 x 3 numbers, and functions of torch."""
    torch.manual_seed(0)
    a, b = (Three(torch.rand(4, 3), torch.rand(4, 3), torch.rand(4, 3), batch_size=4) for _ in range(2))
    return {
        "a": a,
        "b": b,
        "item": b[1],
        "clone": Tensor.clone,
        "cast": Tensor.type,
        "double": torch.float64,
        "reshape": Tensor.reshape,
        "size": Size((2, 2)),
        "add": torch.add,
        "stack": torch.stack,
        "stacked": Size((2, 4)),
        "unbind": Tensor.unbind,
        "sizes": [Size()] * 4,
    }


def measured(rounds: int) -> list[Row]:
    """A row for each primitive."""
    names = namespace()
    return [
        Row(name, time_statements(_statements(written, looped, arguments, names), rounds))
        for name, written, looped, arguments in ROWS
    ]


def _statements(
    written: Primitive, looped: Primitive, arguments: str, names: Mapping[str, object]
) -> dict[str, tuple[str, Mapping[str, object]]]:
    return {
        "loop": (f"call({arguments})", {**names, "call": looped}),
        "written out": (f"call({arguments})", {**names, "call": written}),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.primitives", description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    keep_memory("benchmarks.primitives")
    torch.set_num_threads(1)
    print(table(measured(options.rounds), lambda first, other: f"{first / other:.2f}", "/"))


if __name__ == "__main__":
    main()
