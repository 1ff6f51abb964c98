from typing import Generic, TypeVar, overload

from torch import Tensor

N = TypeVar("N", bound=complex | None, contravariant=True)

class AsTensorField(Generic[N]):
    """An `AsTensor[N]` field: given and set as a number or a tensor, read as a tensor. Of `AsTensor[int | None]`, None may be read."""

    # One that takes None also, contravariant, fits AsTensorField[None].
    @overload
    def __get__(self: AsTensorField[None], obj: object, owner: object = None, /) -> Tensor | None: ...
    @overload
    def __get__(self, obj: object, owner: object = None, /) -> Tensor: ...
    def __set__(self, obj: object, value: N | Tensor, /) -> None: ...
