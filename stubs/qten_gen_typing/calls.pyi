from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")
# Without the bound, mypy takes `list[Box]` of `boxes: list[Box] = module(x)` for the type of `forward`.
F = TypeVar("F", bound=Callable[..., object])
F_co = TypeVar("F_co", covariant=True)

class _HasForward(Protocol[F_co]):
    @property
    def forward(self) -> F_co: ...

class _HasThisForward(Protocol[F]):
    """An object whose `forward` has this very type: one that has overloads does not have the type of one of them."""

    forward: F

class DeclaredCall:
    """`module(x)` has the type of `module.forward`. No annotation says which handlers a module has; its stub does."""

    # For ty, which by the other widens the type variables of a generic class to their bounds.
    @overload
    def __get__(self, obj: _HasThisForward[Callable[P, R]], owner: object = None, /) -> Callable[P, R]: ...
    @overload
    def __get__(self, obj: _HasForward[F], owner: object = None, /) -> F: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...
