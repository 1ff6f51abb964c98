"""The stub that other stubs import: what types a call by `forward`, hooks by their class, and containers by what they hold.

Each class takes one line for its calls, because a descriptor looks at the `forward` of the object. So a class that overrides
`forward` with other parameters has a call of its own, with nothing said of `__call__`.
"""

from __future__ import annotations

NAME = "qten_gen_module_types"
"""The module. It exists for type checkers only."""

TYPES = "_types"
"""What stubs call the module."""

IMPORTS = f"from typing import ClassVar as _ClassVar, Generic as _Generic\n\nimport {NAME} as _types"

CALL = "__call__: _ClassVar[_types.Call]"
ANY_CALL = "__call__: _types.AnyCall"
HOOKS = (
    "register_forward_hook: _ClassVar[_types.ForwardHook]",
    "register_forward_pre_hook: _ClassVar[_types.ForwardPreHook]",
    "register_full_backward_hook: _ClassVar[_types.BackwardHook]",
    "register_full_backward_pre_hook: _ClassVar[_types.BackwardPreHook]",
)
ANY = "_types.Any"
PARAMETER = "_types.Parameter"
TENSOR = "_types.Tensor"

TEXT = '''\
"""Types that the stubs of this folder share. There is no such module at run time."""

from collections.abc import Callable
from typing import Any as Any, Generic, Literal, Protocol, overload

from torch import Tensor as Tensor
from torch.nn import Module, Parameter as Parameter
from torch.utils.hooks import RemovableHandle
from typing_extensions import TypeAlias, TypeVar

MYPY: Literal[False]
"""True for mypy, which knows the name."""

Element = TypeVar("Element", bound=Module, covariant=True, default=Any)
Other = TypeVar("Other", bound=Module)
Result = TypeVar("Result", covariant=True, default=Any)

_T = TypeVar("_T", bound=Callable[..., Any])
_T_co = TypeVar("_T_co", covariant=True)
_M = TypeVar("_M")
_M_co = TypeVar("_M_co", covariant=True)
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)

class _HasForward(Protocol[_T_co]):
    @property
    def forward(self) -> _T_co: ...

class _Module(Protocol[_M_co, _R_co]):
    def eval(self) -> _M_co: ...
    @property
    def forward(self) -> Callable[..., _R_co]: ...

class Returning(Protocol[_R_co]):
    @property
    def forward(self) -> Callable[..., _R_co]: ...

class Call:
    @overload
    def __get__(self, obj: None, owner: Any = None, /) -> Callable[..., Any]: ...
    @overload
    def __get__(self, obj: _HasForward[_T], owner: Any = None, /) -> _T: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class ForwardHook:
    @overload
    def __get__(self, obj: None, owner: Any = None, /) -> Callable[..., RemovableHandle]: ...
    @overload
    def __get__(self, obj: _Module[_M, _R], owner: Any = None, /) -> _RegisterForwardHook[_M, _R]: ...

class _RegisterForwardHook(Generic[_M, _R]):
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...], _R], Any],
        *,
        prepend: bool = False,
        with_kwargs: Literal[False] = False,
        always_call: bool = False,
    ) -> RemovableHandle: ...
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...], dict[str, Any], _R], Any],
        *,
        prepend: bool = False,
        with_kwargs: Literal[True],
        always_call: bool = False,
    ) -> RemovableHandle: ...
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...], _R], Any] | Callable[[_M, tuple[Any, ...], dict[str, Any], _R], Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle: ...

class ForwardPreHook:
    @overload
    def __get__(self, obj: None, owner: Any = None, /) -> Callable[..., RemovableHandle]: ...
    @overload
    def __get__(self, obj: _Module[_M, Any], owner: Any = None, /) -> _RegisterForwardPreHook[_M]: ...

class _RegisterForwardPreHook(Generic[_M]):
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...]], Any],
        *,
        prepend: bool = False,
        with_kwargs: Literal[False] = False,
    ) -> RemovableHandle: ...
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any]] | None],
        *,
        prepend: bool = False,
        with_kwargs: Literal[True],
    ) -> RemovableHandle: ...
    @overload
    def __call__(
        self,
        hook: Callable[[_M, tuple[Any, ...]], Any]
        | Callable[[_M, tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any]] | None],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle: ...

_Gradients: TypeAlias = tuple[Tensor, ...] | Tensor

class BackwardHook:
    @overload
    def __get__(self, obj: None, owner: Any = None, /) -> Callable[..., RemovableHandle]: ...
    @overload
    def __get__(self, obj: _Module[_M, Any], owner: Any = None, /) -> _RegisterBackwardHook[_M]: ...

class _RegisterBackwardHook(Generic[_M]):
    def __call__(
        self, hook: Callable[[_M, _Gradients, _Gradients], _Gradients | None], prepend: bool = False
    ) -> RemovableHandle: ...

class BackwardPreHook:
    @overload
    def __get__(self, obj: None, owner: Any = None, /) -> Callable[..., RemovableHandle]: ...
    @overload
    def __get__(self, obj: _Module[_M, Any], owner: Any = None, /) -> _RegisterBackwardPreHook[_M]: ...

class _RegisterBackwardPreHook(Generic[_M]):
    def __call__(
        self, hook: Callable[[_M, _Gradients], _Gradients | None], prepend: bool = False
    ) -> RemovableHandle: ...
AnyCall: TypeAlias = Callable[..., Any]
'''
