from collections.abc import Sequence
from typing import Self, overload

from qten_gen.runtime.tensorclass.core.sizes import Dim

class Numbers:
    """Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""

    def fill_(self, value: complex) -> Self:
        """Write a number into every tensor, in place."""
    def zero_(self) -> Self:
        """Write 0 into every tensor, in place."""
    @overload
    def all(self, dim: None = None, keepdim: bool = False) -> bool:
        """True if every number is nonzero."""
    @overload
    def all(self, dim: Dim | Sequence[Dim], keepdim: bool = False) -> Self:
        """True if every number is nonzero."""
    @overload
    def any(self, dim: None = None, keepdim: bool = False) -> bool:
        """True if a number is nonzero."""
    @overload
    def any(self, dim: Dim | Sequence[Dim], keepdim: bool = False) -> Self:
        """True if a number is nonzero."""
