from collections.abc import Callable
from typing import Generic, ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
# Without the bound, mypy takes `list[Box]` of `boxes: list[Box] = module(x)` for the type of `forward`.
F = TypeVar("F", bound=Callable[..., object])
F_co = TypeVar("F_co", covariant=True)
M_co = TypeVar("M_co", covariant=True)

class _HasForward(Protocol[F_co]):
    @property
    def forward(self) -> F_co: ...

class _HasThisForward(Protocol[F]):
    """An object whose `forward` has this very type: one that has overloads does not have the type of one of them."""

    forward: F

class _Forwards(Protocol[P, R_co]):
    @property
    def forward(self) -> Callable[P, R_co]: ...

class _Call(Protocol[P, R_co]):
    """What a call gives. mypy takes the target of `module: Module = module(x)` for the type of a plain callable, without end."""

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R_co: ...

class DeclaredCall(Generic[M_co]):
    """`module(x)` has the type of `module.forward`; `M_co` is the class of the module."""

    # For ty, which by the other widens the type variables of a generic class to their bounds.
    @overload
    def __get__(self, obj: _HasThisForward[Callable[P, R]], owner: object = None, /) -> _Call[P, R]: ...
    @overload
    def __get__(self, obj: _HasForward[F], owner: object = None, /) -> F: ...
    # pyright asks this where a module is passed as a function, and for its signature.
    def __call__(self: DeclaredCall[_Forwards[P, R]], *args: P.args, **keywords: P.kwargs) -> R: ...
