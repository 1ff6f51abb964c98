from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar, overload

from qten_gen.runtime.tensorclass.fields.per_item import PerItem

T = TypeVar("T")

PerItemInput: TypeAlias = PerItem[T] | T | Sequence[T] | Sequence[Sequence[T]] | Sequence[Sequence[Sequence[T]]]
"""What a `PerItem[T]` field takes: lists as deep as there are batch dimensions, of which three are spelled out."""

class PerItemField(Generic[T]):
    """A `PerItem[T]` field: given and set as lists, read as a PerItem."""

    @overload
    def __get__(self, obj: None, owner: type[object], /) -> PerItem[T]: ...
    @overload
    def __get__(self, obj: object, owner: type[object] | None = None, /) -> PerItem[T]: ...
    def __set__(self, obj: object, value: PerItemInput[T], /) -> None: ...
