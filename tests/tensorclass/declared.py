"""Declarations that the tests here share, and the oracle: the same operation on plain tensors, field by field."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from qten_gen import TensorClass, field


class Point(TensorClass):
    """A nested class."""

    position: Tensor
    weight: Tensor = field(default_factory=lambda: torch.ones(()))


class Batch(TensorClass):
    """Every kind of field."""

    tokens: Tensor
    point: Point
    mask: Tensor | None = None
    other: Point | None = None
    source: str = "train"
    tags: list[str] = field(default_factory=list)


class Flat(TensorClass):
    """Two tensors."""

    x: Tensor
    y: Tensor


class Scale(nn.Module):
    """Takes an object and returns one."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, value: Flat) -> Flat:
        return Flat(self.linear(value.x), value.y * 2, batch_size=value.batch_size)


def point(*batch_size: int) -> Point:
    """A point whose batch size is the given one, with one dimension more in `position`."""
    return Point(torch.rand(*batch_size, 2), torch.rand(batch_size), batch_size=batch_size)


def batch(*batch_size: int, full: bool = True) -> Batch:
    """A batch with values in every field, or in the required ones only. The optional point has a longer batch size."""
    return Batch(
        torch.randint(100, (*batch_size, 3)),
        point(*batch_size),
        torch.rand(batch_size) > 0.5 if full else None,
        point(*batch_size, 2) if full else None,
        source="test",
        tags=["a"],
        batch_size=batch_size,
    )


def flat(*batch_size: int) -> Flat:
    """Two float tensors, one with a dimension more than the batch size."""
    return Flat(torch.rand(*batch_size, 3), torch.rand(batch_size), batch_size=batch_size)


def tensors(value: TensorClass, prefix: str = "") -> dict[str, Tensor]:
    """Every tensor by the path that leads to it."""
    found: dict[str, Tensor] = {}
    for name, held in value.items():
        if isinstance(held, Tensor):
            found[prefix + name] = held
        elif isinstance(held, TensorClass):
            found |= tensors(held, f"{prefix}{name}.")
    return found


def assert_applied(
    result: TensorClass, value: TensorClass, fn: Callable[[Tensor], Tensor], batch_size: tuple[int, ...] | None = None
) -> None:
    """`result` is `value` with `fn` applied to every tensor, has the batch size, and is sound: see `assert_sound`."""
    expected = {path: fn(tensor) for path, tensor in tensors(value).items()}
    got = tensors(result)
    assert type(result) is type(value)
    assert got.keys() == expected.keys()
    for path, tensor in expected.items():
        assert got[path].dtype == tensor.dtype, path
        assert torch.equal(got[path], tensor), path
    assert result.batch_size == (value.batch_size if batch_size is None else torch.Size(batch_size))
    assert_sound(result)


def assert_sound(value: TensorClass) -> None:
    """What always holds: every shape and every nested batch size starts with the batch size."""
    size = value.batch_size
    for held in dict(value.items()).values():
        if isinstance(held, Tensor):
            assert held.shape[: len(size)] == size
        elif isinstance(held, TensorClass):
            assert held.batch_size[: len(size)] == size
            assert_sound(held)
