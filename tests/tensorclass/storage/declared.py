"""Objects that the tests here save."""

from __future__ import annotations

import io
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from qten_gen import PerItem, TensorClass, field


class Colour(Enum):
    """A static value."""

    RED = 1
    GREEN = 2


class Inner(TensorClass):
    """A nested class."""

    q: Tensor
    label: str = "inner"


class Outer(TensorClass):
    """Every kind of field."""

    x: Tensor
    inner: Inner
    mask: Tensor | None = None
    other: Inner | None = None
    source: str = "train"
    tags: list[str] = field(default_factory=list)


class Frozen(TensorClass, frozen=True):
    """Immutable, with an object in it."""

    x: Tensor
    inner: Inner


class Noted(TensorClass):
    """Any static value."""

    x: Tensor
    note: Any = None


class Titled(TensorClass):
    """A value for each item, of a type that JSON has and of one that it has not."""

    x: Tensor
    titles: PerItem[str]
    spans: PerItem[tuple[int, int]] | None = None


def outer(*batch_size: int, full: bool = True, seed: int = 0) -> Outer:
    """An object with values in every field, or in the required ones only. The optional object has a longer batch size."""
    random = torch.Generator().manual_seed(seed)
    return Outer(
        torch.rand(*batch_size, 3, generator=random),
        Inner(torch.randint(100, batch_size, generator=random), f"inner {seed}", batch_size=batch_size),
        torch.rand(batch_size, generator=random) > 0.5 if full else None,
        Inner(torch.rand(*batch_size, 2, 2, generator=random).double(), batch_size=(*batch_size, 2)) if full else None,
        source=f"source {seed}",
        tags=["a", "é"],
        batch_size=batch_size,
    )


TENSORS = {
    "scalar": torch.tensor(3.5),
    "empty": torch.zeros(0, 3),
    "bool": torch.tensor([True, False]),
    "bfloat16": torch.rand(3).bfloat16(),
    "half": torch.rand(3).half(),
    "uint16": torch.arange(5).to(torch.uint16),
    "special numbers": torch.tensor([float("nan"), float("inf"), -0.0]),
    "complex": torch.rand(3) * 1j,
    "conjugate": (torch.rand(3) * 1j).conj(),
    "negative": (torch.rand(3) * 1j).conj().imag,
    "slice": torch.rand(8)[2:5],
    "strided": torch.rand(2, 3, 4)[:, ::2, 1:],
    "transposed": torch.rand(2, 3, 4).permute(2, 0, 1),
    "expanded": torch.rand(1, 3).expand(5, 3),
    "gradient": torch.rand(3, requires_grad=True),
    "parameter": nn.Parameter(torch.rand(3)),
    "meta": torch.zeros(3, device="meta"),
    "sparse": torch.eye(3).to_sparse(),
}
"""A tensor of each form that there is."""


def shown(value: object) -> object:
    """A value with the types and bits of everything in it, as what compares: all of an object but its device and lock."""
    if isinstance(value, Tensor):
        bits = value.detach().clone(memory_format=torch.contiguous_format)
        return value.dtype, value.shape, bits.flatten().view(torch.uint8).tolist()
    if isinstance(value, TensorClass):
        return type(value), value.batch_size, value.names, shown(dict(value.items()))
    if isinstance(value, list):
        return list, shown(dict(enumerate(value)))
    return [(repr(key), shown(item)) for key, item in value.items()] if isinstance(value, dict) else repr(value)


def through_torch(state: object) -> Any:
    """What a safe `torch.load` makes of a saved state dict."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


def assert_equal(got: TensorClass, expected: TensorClass) -> None:
    """Two objects of one class hold the same: tensors with their dtypes, static values, batch sizes, names."""
    assert shown(got) == shown(expected)


def files_in(folder: Path) -> set[str]:
    """The files in a folder and those below, by their paths in it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
