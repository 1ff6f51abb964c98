"""`Unbatched[Tensor]`: the annotation of a tensor that the batch does not carry."""

from __future__ import annotations

from typing import Annotated, TypeVar

T = TypeVar("T")

Unbatched = Annotated[T, "qten_gen.Unbatched"]
"""A tensor of a TensorClass that is the same for all items of the batch, of any shape: a lookup table, class weights.

    class Batch(TensorClass):
        tokens: Tensor
        table: Unbatched[Tensor]

To a type checker it is a Tensor. Indexing, reshaping and what else rearranges the batch pass it on as it is; what applies to
every value (`to`, `clone`, `* 2`) applies to it. Objects that are put together must have one and the same.
"""
