"""The class that an expert writes by hand: three fields, private slots, checked setters, straight-line methods.

It checks what a generated class checks: the type and the leading shape of each field where one is stored, and equal batch sizes
where two objects meet. It is the measure for the generated class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Size, Tensor

Index = int | slice | Tensor


class Handwritten:
    """Queries, keys and values."""

    __slots__ = ("_batch_size", "_device", "_k", "_q", "_v")

    def __init__(
        self, q: Tensor, k: Tensor, v: Tensor, *, batch_size: Sequence[int] = (), device: torch.device | None = None
    ) -> None:
        size = batch_size if type(batch_size) is Size else Size(batch_size)
        n = len(size)
        if device is not None:
            q, k, v = q.to(device), k.to(device), v.to(device)
        if not isinstance(q, Tensor) or q.shape[:n] != size:
            raise self._wrong("q", q, size)
        if not isinstance(k, Tensor) or k.shape[:n] != size:
            raise self._wrong("k", k, size)
        if not isinstance(v, Tensor) or v.shape[:n] != size:
            raise self._wrong("v", v, size)
        self._q = q
        self._k = k
        self._v = v
        self._batch_size = size
        self._device = device

    @staticmethod
    def _wrong(name: str, value: object, batch_size: Size) -> TypeError | ValueError:
        if not isinstance(value, Tensor):
            return TypeError(f"{name} has to be a Tensor, not {type(value).__name__}")
        return ValueError(f"{name} of shape {tuple(value.shape)} does not start with {tuple(batch_size)}")

    def _checked(self, name: str, value: Tensor) -> Tensor:
        batch_size = self._batch_size
        if not isinstance(value, Tensor) or value.shape[: len(batch_size)] != batch_size:
            raise self._wrong(name, value, batch_size)
        return value if self._device is None else value.to(self._device)

    @property
    def batch_size(self) -> Size:
        return self._batch_size

    @property
    def q(self) -> Tensor:
        return self._q

    @q.setter
    def q(self, value: Tensor) -> None:
        self._q = self._checked("q", value)

    @property
    def k(self) -> Tensor:
        return self._k

    @k.setter
    def k(self, value: Tensor) -> None:
        self._k = self._checked("k", value)

    @property
    def v(self) -> Tensor:
        return self._v

    @v.setter
    def v(self, value: Tensor) -> None:
        self._v = self._checked("v", value)

    def _rebuilt(self, q: Tensor, k: Tensor, v: Tensor, batch_size: Size) -> Handwritten:
        out = Handwritten.__new__(Handwritten)
        out._q = q
        out._k = k
        out._v = v
        out._batch_size = batch_size
        out._device = self._device
        return out

    def __len__(self) -> int:
        return self._batch_size[0]

    def __getitem__(self, index: Index) -> Handwritten:
        q = self._q[index]
        batch_size = q.shape[: q.dim() - self._q.dim() + len(self._batch_size)]
        return self._rebuilt(q, self._k[index], self._v[index], batch_size)

    def __setitem__(self, index: Index, value: Handwritten) -> None:
        self._q[index] = value._q
        self._k[index] = value._k
        self._v[index] = value._v

    def clone(self) -> Handwritten:
        return self._rebuilt(self._q.clone(), self._k.clone(), self._v.clone(), self._batch_size)

    def detach(self) -> Handwritten:
        return self._rebuilt(self._q.detach(), self._k.detach(), self._v.detach(), self._batch_size)

    def reshape(self, *shape: int) -> Handwritten:
        n = len(self._batch_size)
        q = self._q.reshape(*shape, *self._q.shape[n:])
        k = self._k.reshape(*shape, *self._k.shape[n:])
        v = self._v.reshape(*shape, *self._v.shape[n:])
        return self._rebuilt(q, k, v, q.shape[: len(shape)])

    def unsqueeze(self, dim: int) -> Handwritten:
        n = len(self._batch_size)
        at = dim if dim >= 0 else dim + n + 1
        if not 0 <= at <= n:
            raise IndexError(f"dim {dim} is out of range for {n} batch dimensions")
        q = self._q.unsqueeze(at)
        return self._rebuilt(q, self._k.unsqueeze(at), self._v.unsqueeze(at), q.shape[: n + 1])

    def split(self, size: int) -> list[Handwritten]:
        n = len(self._batch_size)
        parts = zip(self._q.split(size), self._k.split(size), self._v.split(size), strict=True)  # type: ignore[no-untyped-call]  # torch does not annotate it
        return [self._rebuilt(q, k, v, q.shape[:n]) for q, k, v in parts]

    def unbind(self, dim: int) -> list[Handwritten]:
        n = len(self._batch_size)
        at = dim if dim >= 0 else dim + n
        if not 0 <= at < n:
            raise IndexError(f"dim {dim} is out of range for {n} batch dimensions")
        batch_size = self._batch_size[:at] + self._batch_size[at + 1 :]
        parts = zip(self._q.unbind(at), self._k.unbind(at), self._v.unbind(at), strict=True)
        return [self._rebuilt(q, k, v, batch_size) for q, k, v in parts]

    def apply(self, fn: Callable[[Tensor], Tensor]) -> Handwritten:
        batch_size = self._batch_size
        n = len(batch_size)
        q, k, v = fn(self._q), fn(self._k), fn(self._v)
        if q.shape[:n] != batch_size or k.shape[:n] != batch_size or v.shape[:n] != batch_size:
            raise ValueError("the function changed the batch size")
        return self._rebuilt(q, k, v, batch_size)

    def __add__(self, other: Handwritten) -> Handwritten:
        if self._batch_size != other._batch_size:
            raise ValueError(f"batch sizes differ: {self._batch_size} and {other._batch_size}")
        return self._rebuilt(self._q + other._q, self._k + other._k, self._v + other._v, self._batch_size)

    @staticmethod
    def stack(items: Sequence[Handwritten]) -> Handwritten:
        first = items[0]
        for item in items:
            if item._batch_size != first._batch_size:
                raise ValueError(f"batch sizes differ: {first._batch_size} and {item._batch_size}")
        q = torch.stack([item._q for item in items])
        k = torch.stack([item._k for item in items])
        v = torch.stack([item._v for item in items])
        return first._rebuilt(q, k, v, Size((len(items), *first._batch_size)))

    @staticmethod
    def cat(items: Sequence[Handwritten]) -> Handwritten:
        first = items[0]
        n = len(first._batch_size)
        for item in items:
            if item._batch_size[1:] != first._batch_size[1:]:
                raise ValueError(f"batch sizes differ: {first._batch_size} and {item._batch_size}")
        q = torch.cat([item._q for item in items])
        k = torch.cat([item._k for item in items])
        v = torch.cat([item._v for item in items])
        return first._rebuilt(q, k, v, q.shape[:n])
