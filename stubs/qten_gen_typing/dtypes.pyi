from typing import Self

class Dtypes:
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
