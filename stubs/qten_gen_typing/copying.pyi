from typing import Self

class Copying:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    def float(self) -> Self:
        """Floating point tensors as `torch.float32`, the others as they are."""
    def double(self) -> Self:
        """Floating point tensors as `torch.float64`, the others as they are."""
    def half(self) -> Self:
        """Floating point tensors as `torch.float16`, the others as they are."""
    def bfloat16(self) -> Self:
        """Floating point tensors as `torch.bfloat16`, the others as they are."""
    def float16(self) -> Self:
        """Floating point tensors as `torch.float16`, the others as they are."""
    def float32(self) -> Self:
        """Floating point tensors as `torch.float32`, the others as they are."""
    def float64(self) -> Self:
        """Floating point tensors as `torch.float64`, the others as they are."""
    def complex64(self) -> Self:
        """Floating point tensors as `torch.complex64`, the others as they are."""
    def complex128(self) -> Self:
        """Floating point tensors as `torch.complex128`, the others as they are."""
    def int(self) -> Self:
        """Every tensor as `torch.int32`."""
    def int8(self) -> Self:
        """Every tensor as `torch.int8`."""
    def int16(self) -> Self:
        """Every tensor as `torch.int16`."""
    def int32(self) -> Self:
        """Every tensor as `torch.int32`."""
    def int64(self) -> Self:
        """Every tensor as `torch.int64`."""
    def uint8(self) -> Self:
        """Every tensor as `torch.uint8`."""
    def bool(self) -> Self:
        """Every tensor as `torch.bool`."""
    def clone(self, recurse: bool = True) -> Self:
        """A copy of every tensor. Static values are shared, and with `recurse=False` the tensors too, as by `copy`."""
    def detach(self) -> Self:
        """The object with each tensor as `Tensor.detach` gives it: the same memory, without gradient history."""
    def detach_(self) -> Self:
        """`detach`, in place."""
    def contiguous(self) -> Self:
        """The object with every tensor contiguous in memory; one that is contiguous already is shared, not copied."""
