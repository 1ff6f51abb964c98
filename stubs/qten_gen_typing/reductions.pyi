from collections.abc import Sequence
from typing import Literal, Self, overload

import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.core.sizes import Dim
from qten_gen.runtime.tensorclass.operations.reduction_ops import Dims
from qten_gen.runtime.tensorclass.operations.reductions import ValuesAndIndices

class Reductions:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    @overload
    def sum(
        self,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The sum."""
    @overload
    def sum(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, reduce: Literal[True]
    ) -> Tensor:
        """The sum."""
    @overload
    def mean(
        self,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The mean."""
    @overload
    def mean(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, reduce: Literal[True]
    ) -> Tensor:
        """The mean."""
    @overload
    def prod(
        self,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The product."""
    @overload
    def prod(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, reduce: Literal[True]
    ) -> Tensor:
        """The product."""
    @overload
    def nansum(
        self,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The sum, NaN counted as 0."""
    @overload
    def nansum(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, reduce: Literal[True]
    ) -> Tensor:
        """The sum, NaN counted as 0."""
    @overload
    def nanmean(
        self,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The mean, NaN left out."""
    @overload
    def nanmean(
        self, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, reduce: Literal[True]
    ) -> Tensor:
        """The mean, NaN left out."""
    @overload
    def std(
        self,
        dim: Dims = None,
        *,
        unbiased: bool | None = None,
        correction: float = 1,
        keepdim: bool = False,
        reduce: Literal[False] = False,
    ) -> Self:
        """The standard deviation."""
    @overload
    def std(
        self,
        dim: Dims = None,
        *,
        unbiased: bool | None = None,
        correction: float = 1,
        keepdim: bool = False,
        reduce: Literal[True],
    ) -> Tensor:
        """The standard deviation."""
    @overload
    def var(
        self,
        dim: Dims = None,
        *,
        unbiased: bool | None = None,
        correction: float = 1,
        keepdim: bool = False,
        reduce: Literal[False] = False,
    ) -> Self:
        """The variance."""
    @overload
    def var(
        self,
        dim: Dims = None,
        *,
        unbiased: bool | None = None,
        correction: float = 1,
        keepdim: bool = False,
        reduce: Literal[True],
    ) -> Tensor:
        """The variance."""
    @overload
    def amin(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self:
        """The smallest number."""
    @overload
    def amin(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """The smallest number."""
    @overload
    def amax(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self:
        """The largest number."""
    @overload
    def amax(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """The largest number."""
    @overload
    def logsumexp(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self:
        """The logarithm of the sum of exponentials."""
    @overload
    def logsumexp(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """The logarithm of the sum of exponentials."""
    @overload
    def min(self, dim: None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self:
        """The smallest number and, along one dimension, where it is."""
    @overload
    def min(self, dim: Dim, keepdim: bool = False, *, reduce: Literal[False] = False) -> ValuesAndIndices[Self]:
        """The smallest number and, along one dimension, where it is."""
    @overload
    def min(self, dim: Dim | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """The smallest number and, along one dimension, where it is."""
    @overload
    def max(self, dim: None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> Self:
        """The largest number and, along one dimension, where it is."""
    @overload
    def max(self, dim: Dim, keepdim: bool = False, *, reduce: Literal[False] = False) -> ValuesAndIndices[Self]:
        """The largest number and, along one dimension, where it is."""
    @overload
    def max(self, dim: Dim | None = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """The largest number and, along one dimension, where it is."""
    @overload
    def all(self, dim: None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> bool:
        """Whether every number is nonzero."""
    @overload
    def all(
        self, dim: Dim | Sequence[Dim] | Literal["feature"], keepdim: bool = False, *, reduce: Literal[False] = False
    ) -> Self:
        """Whether every number is nonzero."""
    @overload
    def all(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """Whether every number is nonzero."""
    @overload
    def any(self, dim: None = None, keepdim: bool = False, *, reduce: Literal[False] = False) -> bool:
        """Whether a number is nonzero."""
    @overload
    def any(
        self, dim: Dim | Sequence[Dim] | Literal["feature"], keepdim: bool = False, *, reduce: Literal[False] = False
    ) -> Self:
        """Whether a number is nonzero."""
    @overload
    def any(self, dim: Dims = None, keepdim: bool = False, *, reduce: Literal[True]) -> Tensor:
        """Whether a number is nonzero."""
    @overload
    def norm(
        self,
        p: float = 2,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[False] = False,
    ) -> Self:
        """The norm of order `p`."""
    @overload
    def norm(
        self,
        p: float = 2,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        dtype: torch.dtype | None = None,
        reduce: Literal[True],
    ) -> Tensor:
        """The norm of order `p`."""
    @overload
    def quantile(
        self,
        q: float | Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
        reduce: Literal[False] = False,
    ) -> Self:
        """The quantile `q`; a tensor of several adds a batch dimension in front."""
    @overload
    def quantile(
        self,
        q: float | Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
        reduce: Literal[True],
    ) -> Tensor:
        """The quantile `q`; a tensor of several adds a batch dimension in front."""
    def cumsum(self, dim: Dim, *, dtype: torch.dtype | None = None) -> Self:
        """The sum so far along a batch dimension."""
    def cumprod(self, dim: Dim, *, dtype: torch.dtype | None = None) -> Self:
        """The product so far along a batch dimension."""
    def cummin(self, dim: Dim) -> ValuesAndIndices[Self]:
        """The smallest number so far, and where it was."""
    def cummax(self, dim: Dim) -> ValuesAndIndices[Self]:
        """The largest number so far, and where it was."""
    def softmax(self, dim: Dim, *, dtype: torch.dtype | None = None) -> Self:
        """Exponentials that add up to 1 along a batch dimension."""
