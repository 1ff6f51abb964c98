"""The types in annotations of fields: lists and dicts of modules that know the class of their children, and `Unbatched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from torch import nn

Child_ = TypeVar("Child_", bound=nn.Module)

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    S = TypeVarWithDefault("S", bound=nn.Module, default=nn.Module)
else:
    S = TypeVar("S", bound=nn.Module)

if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
    from typing import Self, overload

    from torch import Tensor


class ModuleList(nn.ModuleList, Generic[Child_]):
    """`torch.nn.ModuleList` of children of one class: `blocks[0]` is a `Block` in a `ModuleList[Block]`.

    >>> class Net(Module):
    ...     depth: int
    ...     blocks: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat="depth")
    >>> Net(3).blocks[-1].weight.shape
    torch.Size([2, 2])
    """

    if TYPE_CHECKING:

        def __init__(self, modules: Iterable[Child_] | None = None) -> None: ...
        @overload
        def __getitem__(self, idx: slice) -> ModuleList[Child_]: ...
        @overload
        def __getitem__(self, idx: int) -> Child_: ...
        def __getitem__(self, idx: int | slice) -> Child_ | ModuleList[Child_]: ...
        def __setitem__(self, idx: int, module: Child_) -> None: ...  # type: ignore[override] # children of one class
        def __iter__(self) -> Iterator[Child_]: ...
        def __iadd__(self, modules: Iterable[Child_]) -> Self: ...  # type: ignore[misc, override, unused-ignore] # children of one class; stubtest sees more than mypy
        def __add__(self, other: Iterable[Child_]) -> ModuleList[Child_]: ...  # type: ignore[override] # children of one class
        def pop(self, key: int | slice) -> Child_: ...
        def insert(self, index: int, module: Child_) -> None: ...  # type: ignore[override] # children of one class
        def append(self, module: Child_) -> Self: ...  # type: ignore[override] # children of one class
        def extend(self, modules: Iterable[Child_]) -> Self: ...  # type: ignore[override] # children of one class


class Sequential(nn.Sequential, Generic[S]):
    """`torch.nn.Sequential` of children of known classes: `body[0]` is a `Linear | ReLU` in a `Sequential[Linear | ReLU]`.

    To type checkers it takes a tensor and returns one. Without brackets, its children are modules.

    >>> class Net(Module):
    ...     body: Sequential[nn.Linear | nn.ReLU] = sequential(submodule(nn.Linear, 2, 2), nn.ReLU)
    >>> list(Net().state_dict()), Net().body(torch.ones(1, 2)).shape
    (['body.0.weight', 'body.0.bias'], torch.Size([1, 2]))
    """

    if TYPE_CHECKING:

        @overload
        def __init__(self, *args: S) -> None: ...
        @overload
        def __init__(self, arg: OrderedDict[str, S], /) -> None: ...
        def __init__(self, *args: object) -> None: ...
        @overload
        def __getitem__(self, idx: slice) -> Sequential[S]: ...
        @overload
        def __getitem__(self, idx: int) -> S: ...
        def __getitem__(self, idx: int | slice) -> S | Sequential[S]: ...
        def __setitem__(self, idx: int, module: S) -> None: ...  # type: ignore[override] # children of these classes
        def __iter__(self) -> Iterator[S]: ...
        def __call__(self, input: Tensor) -> Tensor: ...


class ModuleDict(nn.ModuleDict, Generic[Child_]):
    """`torch.nn.ModuleDict` of children of one class: `heads["topic"]` is a `Head` in a `ModuleDict[Head]`.

    >>> class Net(Module):
    ...     heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, 2, keys=("topic", "tone"))
    >>> list(Net().heads), Net().heads["tone"].weight.shape
    (['topic', 'tone'], torch.Size([2, 2]))
    """

    if TYPE_CHECKING:

        def __init__(self, modules: Mapping[str, Child_] | None = None) -> None: ...
        def __getitem__(self, key: str) -> Child_: ...
        def __setitem__(self, key: str, module: Child_) -> None: ...  # type: ignore[override] # children of one class
        def items(self) -> ItemsView[str, Child_]: ...
        def values(self) -> ValuesView[Child_]: ...
        def pop(self, key: str) -> Child_: ...
        def update(self, modules: Mapping[str, Child_]) -> None: ...  # type: ignore[override] # children of one class


T = TypeVar("T")

Unbatched = Annotated[T, "qten_gen.Unbatched"]
"""A tensor of a TensorClass that is the same for all items of the batch, of any shape: a lookup table, class weights.

    class Batch(TensorClass):
        tokens: Tensor
        table: Unbatched[Tensor]

To a type checker it is a Tensor. Indexing, reshaping and what else rearranges the batch pass it on as it is; what applies to
every value (`to`, `clone`, `* 2`) applies to it. Objects that are put together must have one and the same.
"""
