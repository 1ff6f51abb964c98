from collections.abc import Sequence
from typing import Self, overload

import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.core.construction import DeviceLike
from qten_gen.runtime.tensorclass.core.sizes import Dim

class Arranging:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    @overload
    def reshape(self, *shape: int) -> Self:
        """The same items in another batch shape; one size may be -1."""
    @overload
    def reshape(self, shape: Sequence[int], /) -> Self:
        """The same items in another batch shape; one size may be -1."""
    @overload
    def view(self, *shape: int) -> Self:
        """`reshape` that never copies."""
    @overload
    def view(self, shape: Sequence[int], /) -> Self:
        """`reshape` that never copies."""
    def flatten(self, start_dim: Dim = 0, end_dim: Dim = -1) -> Self:
        """Join the batch dimensions from `start_dim` to `end_dim` into one; without batch dimensions, add one of size 1."""
    def unflatten(self, dim: Dim, sizes: Sequence[int]) -> Self:
        """Divide one batch dimension into several; one size may be -1."""
    @overload
    def permute(self, *dims: Dim) -> Self:
        """Put the batch dimensions in another order."""
    @overload
    def permute(self, dims: Sequence[Dim], /) -> Self:
        """Put the batch dimensions in another order."""
    def transpose(self, dim0: Dim, dim1: Dim) -> Self:
        """Exchange two batch dimensions."""
    def movedim(self, source: Dim | Sequence[Dim], destination: int | Sequence[int]) -> Self:
        """Move batch dimensions to other places; the others keep their order."""
    def squeeze(self, dim: Dim | Sequence[Dim] | None = None) -> Self:
        """Drop batch dimensions of size 1: one, several or all of them. A dimension of another size stays."""
    def unsqueeze(self, dim: int) -> Self:
        """Insert a batch dimension of size 1; -1 is behind the last one."""
    @overload
    def expand(self, *shape: int) -> Self:
        """Repeat batch dimensions of size 1, and add some in front, without copying; -1 keeps a size."""
    @overload
    def expand(self, shape: Sequence[int], /) -> Self:
        """Repeat batch dimensions of size 1, and add some in front, without copying; -1 keeps a size."""
    @overload
    def repeat(self, *repeats: int) -> Self:
        """Copies of the batch along every batch dimension; more numbers than dimensions add dimensions in front."""
    @overload
    def repeat(self, repeats: Sequence[int], /) -> Self:
        """Copies of the batch along every batch dimension; more numbers than dimensions add dimensions in front."""
    def repeat_interleave(
        self, repeats: int | Tensor, dim: Dim | None = None, *, output_size: int | None = None
    ) -> Self:
        """Every item repeated in its place along a batch dimension; without `dim`, as if the batch were one row."""
    def roll(self, shifts: int | Sequence[int], dims: Dim | Sequence[Dim] | None = None) -> Self:
        """The items moved along batch dimensions, around the end; without `dims`, as if the batch were one row."""
    @overload
    def flip(self, *dims: Dim) -> Self:
        """The items in the opposite order along batch dimensions."""
    @overload
    def flip(self, dims: Sequence[Dim], /) -> Self:
        """The items in the opposite order along batch dimensions."""
    def pad(self, pad_size: Sequence[int], value: float = 0.0) -> Self:
        """Items of `value` before and after the batch, for the first batch dimension, then for the second, and so on."""
    @classmethod
    def stack(cls, items: Sequence[Self], dim: int = 0) -> Self:
        """Objects along a new batch dimension."""
    @classmethod
    def cat(cls, items: Sequence[Self], dim: Dim = 0) -> Self:
        """Objects one after the other along a batch dimension."""
    def split(self, split_size: int | Sequence[int], dim: Dim = 0) -> tuple[Self, ...]:
        """Pieces of `split_size` items, the last one perhaps smaller; or pieces of the given sizes."""
    def chunk(self, chunks: int, dim: Dim = 0) -> tuple[Self, ...]:
        """At most `chunks` pieces of one size, the last one perhaps smaller."""
    def unbind(self, dim: Dim = 0) -> tuple[Self, ...]:
        """The items along a batch dimension, without that dimension."""
    def gather(self, dim: Dim, index: Tensor) -> Self:
        """The items at the positions `index` along a batch dimension; the result has the batch size of `index`'s shape."""
    def masked_fill(self, mask: Self | Tensor, value: float) -> Self:
        """Another value where the mask is true."""
    def masked_fill_(self, mask: Self | Tensor, value: float) -> Self:
        """Write a number where the mask is true; it broadcasts over the batch size, or is an object of bool tensors."""
    def where(self, condition: Self | Tensor, other: Self | Tensor | complex) -> Self:
        """The object where the condition is true, another operand elsewhere."""
    @overload
    def new_zeros(
        self, *size: int, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """New tensors of zeros, with another batch size."""
    @overload
    def new_zeros(
        self,
        size: Sequence[int],
        /,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Self:
        """New tensors of zeros, with another batch size."""
    @overload
    def new_ones(
        self, *size: int, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """New tensors of ones, with another batch size."""
    @overload
    def new_ones(
        self,
        size: Sequence[int],
        /,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Self:
        """New tensors of ones, with another batch size."""
    @overload
    def new_empty(
        self, *size: int, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """New tensors with anything in them, with another batch size."""
    @overload
    def new_empty(
        self,
        size: Sequence[int],
        /,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Self:
        """New tensors with anything in them, with another batch size."""
    def new_full(
        self,
        size: int | Sequence[int],
        fill_value: complex,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Self:
        """New tensors full of a number, with another batch size."""
    @classmethod
    def zeros_like(
        cls, input: Self, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """Zeros in tensors of the same shapes."""
    @classmethod
    def ones_like(
        cls, input: Self, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """Ones in tensors of the same shapes."""
    @classmethod
    def empty_like(
        cls, input: Self, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """Tensors of the same shapes with anything in them."""
    @classmethod
    def full_like(
        cls,
        input: Self,
        fill_value: complex,
        *,
        dtype: torch.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Self:
        """A number in tensors of the same shapes."""
    @classmethod
    def rand_like(
        cls, input: Self, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """Random numbers from 0 to 1 in tensors of the same shapes."""
    @classmethod
    def randn_like(
        cls, input: Self, *, dtype: torch.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Self:
        """Normally distributed numbers in tensors of the same shapes."""
    def clone(self, recurse: bool = True) -> Self:
        """A copy of every tensor. Static values are shared, and with `recurse=False` the tensors too, as by `copy`."""
    def detach(self) -> Self:
        """The object with each tensor as `Tensor.detach` gives it: the same memory, without gradient history."""
    def detach_(self) -> Self:
        """`detach`, in place."""
    def contiguous(self) -> Self:
        """The object with every tensor contiguous in memory; one that is contiguous already is shared, not copied."""
