from collections.abc import Sequence
from typing import Self, overload

import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.core.construction import DeviceLike
from qten_gen.runtime.tensorclass.core.sizes import Dim
from qten_gen.runtime.tensorclass.tensorclass import TensorClass

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
    def swapaxes(self, axis0: Dim, axis1: Dim) -> Self:
        """`transpose` under another name."""
    def swapdims(self, axis0: Dim, axis1: Dim) -> Self:
        """`transpose` under another name."""
    def movedim(self, source: Dim | Sequence[Dim], destination: int | Sequence[int]) -> Self:
        """Move batch dimensions to other places; the others keep their order."""
    def moveaxis(self, source: Dim | Sequence[Dim], destination: int | Sequence[int]) -> Self:
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
    def expand_as(self, other: TensorClass | Tensor) -> Self:
        """`expand` to the batch size of another object, or to the shape of a tensor."""
    def broadcast_to(self, size: Sequence[int]) -> Self:
        """`expand` under the name of `torch.broadcast_to`."""
    def atleast_1d(self) -> Self:
        """The object with a batch dimension of size 1 where it has none, as a view."""
    def atleast_2d(self) -> Self:
        """The object with at least two batch dimensions: new ones in front."""
    def atleast_3d(self) -> Self:
        """The object with at least three batch dimensions: one new one behind the others, more in front."""
    @overload
    def repeat(self, *repeats: int) -> Self:
        """Copies of the batch along every batch dimension; more numbers than dimensions add dimensions in front."""
    @overload
    def repeat(self, repeats: Sequence[int], /) -> Self:
        """Copies of the batch along every batch dimension; more numbers than dimensions add dimensions in front."""
    @overload
    def tile(self, *dims: int) -> Self:
        """`repeat` that takes fewer numbers than batch dimensions: they are for the last ones."""
    @overload
    def tile(self, dims: Sequence[int], /) -> Self:
        """`repeat` that takes fewer numbers than batch dimensions: they are for the last ones."""
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
    def fliplr(self) -> Self:
        """`flip` along the second batch dimension."""
    def flipud(self) -> Self:
        """`flip` along the first batch dimension."""
    def rot90(self, k: int = 1, dims: Sequence[Dim] = (0, 1)) -> Self:
        """The plane of two batch dimensions turned by `k` quarters, from the first towards the second."""
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
    def tensor_split(self, indices_or_sections: int | Sequence[int] | Tensor, dim: Dim = 0) -> tuple[Self, ...]:
        """Pieces along a batch dimension: so many, of sizes that differ by at most 1, or cut at the given positions."""
    def narrow(self, dim: Dim, start: int, length: int) -> Self:
        """`length` items from `start` on along a batch dimension, without copying."""
    def gather(self, dim: Dim, index: Self | Tensor) -> Self:
        """The items at the positions `index` along a batch dimension; the result has the batch size of `index`'s shape."""
    def masked_select(self, mask: Tensor) -> Self:
        """The items where a mask over the batch dimensions is true, in one row: `batch[mask]`."""
    def masked_fill(self, mask: Self | Tensor, value: float) -> Self:
        """Another value where the mask is true."""
    def masked_fill_(self, mask: Self | Tensor, value: float) -> Self:
        """`masked_fill`, in place."""
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
