# mypy: disable-error-code="override"
# pyright: reportIncompatibleMethodOverride=false

from collections import OrderedDict
from collections.abc import ItemsView, Iterator, KeysView
from typing import Generic, Literal, Never, Protocol, TypeVar, overload, type_check_only

import torch
from torch import Tensor, nn

from qten_gen.runtime.declaring.containers import ModuleDict

K = TypeVar("K", bound=object)
N = TypeVar("N", bound=object)
K_contra = TypeVar("K_contra", contravariant=True)
N_contra = TypeVar("N_contra", contravariant=True)
V_contra = TypeVar("V_contra", contravariant=True)
I_contra = TypeVar("I_contra", contravariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
L_contra = TypeVar("L_contra", contravariant=True)
M = TypeVar("M", bound=nn.Module)
S = TypeVar("S", bound=str)
V = TypeVar("V")
D = TypeVar("D")

@type_check_only
class KeyedState(OrderedDict[str, V], Generic[S, V]):
    """A state dict whose keys are known: `KeyedState[Literal["weight", "bias"], Tensor]`. Others can be added."""

    def __getitem__(self, key: S, /) -> V: ...
    def __delitem__(self, key: S, /) -> None: ...
    def __iter__(self) -> Iterator[S]: ...
    def keys(self) -> KeysView[S]: ...  # type: ignore[override]
    def items(self) -> ItemsView[S, V]: ...  # type: ignore[override]
    @overload
    def get(self, key: S, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: S, default: D, /) -> V | D: ...
    @overload
    def pop(self, key: S) -> V: ...
    @overload
    def pop(self, key: S, default: D) -> V | D: ...

@type_check_only
class KeyedModules(ModuleDict[M], Generic[S, M]):
    """Children whose names are known: `KeyedModules[Literal["left", "right"], Layer]`."""

    def __getitem__(self, key: S) -> M: ...
    def __setitem__(self, key: S, module: M) -> None: ...
    def __delitem__(self, key: S) -> None: ...
    def __iter__(self) -> Iterator[S]: ...
    def keys(self) -> KeysView[S]: ...
    def items(self) -> ItemsView[S, M]: ...
    def pop(self, key: S) -> M: ...

@type_check_only
class KeyedParameters(nn.ParameterDict, Generic[S]):
    """Parameters whose names are known: `KeyedParameters[Literal["left", "right"]]`."""

    def __getitem__(self, key: S) -> nn.Parameter: ...
    def __setitem__(self, key: S, value: Tensor) -> None: ...
    def __delitem__(self, key: S) -> None: ...
    def __iter__(self) -> Iterator[S]: ...
    def keys(self) -> KeysView[S]: ...
    def items(self) -> ItemsView[S, nn.Parameter]: ...
    def values(self) -> Iterator[nn.Parameter]: ...
    def pop(self, key: S) -> nn.Parameter: ...

class _Stackable(Protocol[K_contra, N_contra]):
    """A generated class, which says by which keys a stack of its objects is read: those of tensors, and those of None too."""

    # pyright forgets literals that a result has, and keeps those that a parameter has.
    def __stacked__(self, key: K_contra, or_none: N_contra, /) -> None: ...

class Listed(Protocol[K_contra, V_contra, I_contra, D_contra, A_contra, L_contra]):
    """A generated class, which says what `keys`, `values`, `items`, `to_dict` and `numpy` of its objects give, and what leaves it has.

    So TensorClass has their signatures once, and a generated class only what differs from class to class.
    """

    def __listed__(
        self,
        keys: K_contra,
        values: V_contra,
        items: I_contra,
        to_dict: D_contra,
        numpy: A_contra,
        leaves: L_contra,
        /,
    ) -> None: ...

class _StackOf(Protocol[K_contra, N_contra]):
    """A lazy stack of objects of such a class."""

    @property
    def objects(self) -> tuple[_Stackable[K_contra, N_contra], ...]: ...

class StackedGet:
    """`LazyStack.get`: it takes the keys that the class of the objects says, or any key."""

    @overload
    def __get__(self, obj: _StackOf[K, N], owner: object = None, /) -> _Get[K, N]: ...
    @overload
    def __get__(self, obj: object, owner: object = None, /) -> _Get[Never, str | tuple[str, ...]]: ...

class _Get(Protocol[K_contra, N_contra]):
    @overload
    def __call__(
        self,
        key: K_contra | N_contra,
        *,
        as_list: Literal[False] = False,
        as_padded_tensor: Literal[False] = False,
        as_nested_tensor: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def __call__(self, key: K_contra, *, as_list: Literal[True]) -> list[Tensor]: ...
    @overload
    def __call__(self, key: N_contra, *, as_list: Literal[True]) -> list[Tensor | None]: ...
    @overload
    def __call__(
        self, key: K_contra | N_contra, *, as_padded_tensor: Literal[True], padding_value: float = 0.0
    ) -> Tensor: ...
    @overload
    def __call__(
        self, key: K_contra | N_contra, *, as_nested_tensor: Literal[True], layout: torch.layout = ...
    ) -> Tensor: ...
