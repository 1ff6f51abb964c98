from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import ClassVar, Generic, Self, TypeAlias, overload

from torch import Tensor, nn
from typing_extensions import TypeVar

from qten_gen.runtime.declaring.children import ModuleList

from .attributes import NoOtherAttribute

M = TypeVar("M", bound=nn.Module)
S = TypeVar("S", bound=nn.Module, default=nn.Module)

Member: TypeAlias = M | type[M] | ModuleList[M] | None
"""A member of `sequential(...)`; None for one that may be missing."""

class ListOf(nn.ModuleList, Generic[M]):
    """`nn.ModuleList` of children of one class."""

    __getattr__: ClassVar[NoOtherAttribute]  # type: ignore[assignment, misc] # narrower on purpose

    def __init__(self, modules: Iterable[M] | None = None) -> None: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> M: ...
    def __setitem__(self, idx: int, module: M) -> None: ...  # type: ignore[override] # children of one class
    def __iter__(self) -> Iterator[M]: ...
    def __iadd__(self, modules: Iterable[M]) -> Self: ...  # type: ignore[misc, override, unused-ignore]
    def __add__(self, other: Iterable[M]) -> Self: ...  # type: ignore[override]
    def pop(self, key: int | slice) -> M: ...
    def insert(self, index: int, module: M) -> None: ...  # type: ignore[override]
    def append(self, module: M) -> Self: ...  # type: ignore[override]
    def extend(self, modules: Iterable[M]) -> Self: ...  # type: ignore[override]

class SequenceOf(nn.Sequential, Generic[S]):
    """`nn.Sequential` of children of known classes, which takes a tensor and returns one."""

    @overload
    def __init__(self, *args: S) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, S], /) -> None: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> S: ...
    @overload
    def __getitem__(self, idx: slice | int) -> S | Self: ...
    def __setitem__(self, idx: int, module: S) -> None: ...  # type: ignore[override] # children of these classes
    def __iter__(self) -> Iterator[S]: ...
    def __call__(self, input: Tensor) -> Tensor: ...

class DictOf(nn.ModuleDict, Generic[M]):
    """`nn.ModuleDict` of children of one class."""

    def __init__(self, modules: Mapping[str, M] | None = None) -> None: ...
    def __getitem__(self, key: str) -> M: ...
    def __setitem__(self, key: str, module: M) -> None: ...  # type: ignore[override] # children of one class
    def items(self) -> ItemsView[str, M]: ...
    def values(self) -> ValuesView[M]: ...
    def pop(self, key: str) -> M: ...
    def update(self, modules: Mapping[str, M]) -> None: ...  # type: ignore[override]
