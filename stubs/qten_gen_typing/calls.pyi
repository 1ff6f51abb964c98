from collections.abc import Callable
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from qten_gen.runtime.tensorclass.tensorclass import TensorClass

P = ParamSpec("P")
R = TypeVar("R")
# Without the bound, mypy takes `list[Box]` of `boxes: list[Box] = module(x)` for the type of `forward`.
F = TypeVar("F", bound=Callable[..., object])
F_co = TypeVar("F_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)

class _Unrelated: ...

TakesAnything = TypeVar("TakesAnything", bound=Callable[Concatenate[_Unrelated, ...], object])

class _HasForward(Protocol[F_co]):
    @property
    def forward(self) -> F_co: ...

class _HasThisForward(Protocol[F]):
    """An object whose `forward` has this very type: one that has overloads does not have the type of one of them."""

    forward: F

class Dispatching(Protocol[P, R_co]):
    """The signature of a `forward`, and objects of TensorClass, which may have handlers.

    Which handlers a module has stands in no annotation. The stub of its generated module has an overload for each.
    """

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, obj: TensorClass, /, **keywords: Any) -> Any: ...

class DeclaredCall:
    """`module(x)` has the type of `module.forward`, and takes objects of TensorClass too.

    A `forward` with overloads lists all that the module takes, so nothing is added to it, and nothing to one that takes anything.
    """

    @overload
    def __get__(self, obj: _HasForward[TakesAnything], owner: object = None, /) -> TakesAnything: ...
    @overload
    def __get__(self, obj: _HasThisForward[Callable[P, R]], owner: object = None, /) -> Dispatching[P, R]: ...
    @overload
    def __get__(self, obj: _HasForward[F], owner: object = None, /) -> _Forward[F]: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

class _Forward(Generic[F]):
    """A second step for mypy, to which a method is nothing that has `_HasThisForward`, while a variable is."""

    forward: F
    __call__: ClassVar[_ForwardCall]

class _ForwardCall:
    @overload
    def __get__(self, obj: _HasThisForward[Callable[P, R]], owner: object = None, /) -> Dispatching[P, R]: ...
    @overload
    def __get__(self, obj: _Forward[F], owner: object = None, /) -> F: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...
