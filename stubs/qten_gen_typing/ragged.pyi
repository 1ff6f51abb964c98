from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar, overload

from torch import Tensor

from qten_gen.runtime.tensorclass.ragged import Ragged
from qten_gen.runtime.tensorclass.tensorclass import TensorClass

R = TypeVar("R", bound=Tensor | TensorClass)

RaggedInput: TypeAlias = Ragged[R] | R | Sequence[R] | Sequence[Sequence[R]] | Sequence[Sequence[Sequence[R]]]
"""What a `Ragged[R]` field takes: lists as deep as there are batch dimensions, of which three are spelled out."""

class RaggedField(Generic[R]):
    """A `Ragged[R]` field: given and set as lists of rows, read as a Ragged."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> Ragged[R]: ...
    @overload
    def __get__(self, obj: object, owner: type[object] | None = None, /) -> Ragged[R]: ...
    def __set__(self, obj: object, value: RaggedInput[R], /) -> None: ...
