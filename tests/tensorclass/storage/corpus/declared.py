"""Classes and objects of the corpus. Pickles name this module and its classes: both stay, and what is new gets new names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from qten_gen import PerItem, Ragged, TensorClass, Unbatched


class Plain(TensorClass):
    """A tensor, an optional one, and a number that becomes one."""

    x: Tensor
    mask: Tensor | None = None
    rate: float = 0.5


class Nested(TensorClass):
    """Objects in an object."""

    part: Plain
    other: Plain | None = None


class Containers(TensorClass):
    """Dicts and lists of tensors, and tensors without the batch size."""

    by_name: dict[str, Tensor]
    by_place: list[Tensor]
    table: Unbatched[Tensor]
    tables: Unbatched[dict[str, Tensor]]


class Items(TensorClass):
    """A Python value for each item, and items with rows, which are tensors or objects."""

    spans: PerItem[tuple[int, int]]
    words: Ragged[Tensor] | None = None
    objects: Ragged[Plain] | None = None


class Frozen(TensorClass, frozen=True, nocast=True):
    """An object that nothing changes, with a number that stays one and any static value."""

    x: Tensor
    rate: float = 0.5
    note: Any = None


DTYPES = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 bfloat16 float16 float32 float64 complex64 float8_e4m3fn"
STATIC: list[object] = [
    *(None, True, 1, -(2**100), 2.5, -0.0, 1e300, torch.inf, -torch.inf, torch.nan, "", "é\n\0\ud800", b"\0\xff"),
    *([], [1, "a", None], {}, {"a": {"b": [1]}}, {"$": 1}, {"$": "tuple", "value": [1]}, (), (1, (2, [3])), 3 - 2j),
    *({1: "a", (2, 3): "b", None: "c", False: 4.0}, {1, 2}, frozenset({"a"}), Path("data/train.txt"), torch.bfloat16),
    *(torch.device("cuda", 1), torch.Size([2, 3]), (torch.nan, [complex(torch.nan, torch.inf)])),
]


def counted(*shape: int) -> Tensor:
    """A tensor of different numbers."""
    return torch.ones(shape).flatten().cumsum(0).reshape(shape) / 4


def plain(*size: int) -> Plain:
    """An object with values in all fields."""
    return Plain(counted(*size, 3), counted(*size) > 0.5, 2, batch_size=size, device="cpu")


OBJECTS: dict[str, Any] = {
    "tensor": plain(2),
    "optional": Plain(counted(2, 3), batch_size=2),
    "nested": Nested(plain(2), plain(2, 4), batch_size=2),
    "containers": Containers({"b/c.d": counted(2)}, [counted(2), counted(2, 0)], counted(5), {}, batch_size=2),
    "dtypes": Containers({}, [], counted(), {name: counted(3).to(getattr(torch, name)) for name in DTYPES.split()}),
    "per_item": Items(PerItem([(at, 2) for at in range(6)], (2, 3)), batch_size=(2, 3)),
    "ragged": Items([(1, 2)] * 2, Ragged.of([counted(3), counted(0)]), Ragged.of([plain(1), plain(2)]), batch_size=2),
    "number": Plain(counted(), rate=3),
    "nocast": Frozen(counted(2), 3.0, batch_size=2),
    "static": Frozen(counted(2), note=STATIC, batch_size=2),
    "batch_dimensions_and_names": Nested(plain(2, 3), batch_size=(2, 3), names=["time", None]),
    "frozen": Frozen(counted(2), note="a", batch_size=2),
}
