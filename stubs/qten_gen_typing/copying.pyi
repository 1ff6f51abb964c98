from typing import Self

from qten_gen.runtime.tensorclass.methods.moving import CastFilter

class Copying:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    def float(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float32`, the others as they are."""
    def double(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float64`, the others as they are."""
    def half(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float16`, the others as they are."""
    def bfloat16(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.bfloat16`, the others as they are."""
    def float16(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float16`, the others as they are."""
    def float32(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float32`, the others as they are."""
    def float64(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.float64`, the others as they are."""
    def complex64(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.complex64`, the others as they are."""
    def complex128(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Floating point tensors as `torch.complex128`, the others as they are."""
    def int(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.int32`."""
    def int8(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.int8`."""
    def int16(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.int16`."""
    def int32(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.int32`."""
    def int64(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.int64`."""
    def uint8(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.uint8`."""
    def bool(self, *, cast_filter: CastFilter | None = None) -> Self:
        """Every tensor as `torch.bool`."""
    def clone(self, recurse: bool = True) -> Self:
        """A copy of every tensor. Static values are shared, and with `recurse=False` the tensors too, as by `copy`."""
    def detach(self) -> Self:
        """The object with each tensor as `Tensor.detach` gives it: the same memory, without gradient history."""
    def detach_(self) -> Self:
        """`detach`, in place."""
    def contiguous(self) -> Self:
        """The object with every tensor contiguous in memory; one that is contiguous already is shared, not copied."""
