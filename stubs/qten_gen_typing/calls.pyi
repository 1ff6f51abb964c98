from collections.abc import Callable
from typing import Generic, ParamSpec, Protocol, TypeVar

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

class _Forwards(Protocol[P, R_co]):
    @property
    def forward(self) -> Callable[P, R_co]: ...

class DeclaredCall(Generic[M_co]):
    """`module(x)` has the type of `module.forward`; `M_co` is the class of the module."""

    def __get__(self, obj: _HasForward[F], owner: object = None, /) -> F: ...
    # pyright asks this where a module is passed as a function, and for its signature.
    def __call__(self: DeclaredCall[_Forwards[P, R]], *args: P.args, **keywords: P.kwargs) -> R: ...
