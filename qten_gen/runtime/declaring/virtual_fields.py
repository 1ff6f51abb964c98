"""The specifier of tensors that a module derives when they are read: `@virtual`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar, overload

import torch
from torch import Tensor, nn

from ...common import language
from ...common.fingerprint_rows import RecordedCall
from .fields import refuse_misplaced

T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V", bound=Tensor)

Materializer = Callable[[Any, torch.dtype, torch.device], V]
"""Computes a derived tensor: a method of the module, which is why `self` can be anything."""


@dataclass(frozen=True, slots=True)
class Virtual(Generic[T_co]):
    """A function decorated with `virtual`. A type checker reads it as a read-only attribute of the function's result type."""

    function: Callable[..., T_co]
    cached: bool = False
    cast: bool = False

    def __specifier_call__(self) -> RecordedCall:
        return RecordedCall(language.VIRTUAL, (self.function,), {"cached": self.cached, "cast": self.cast})

    def __set_name__(self, owner: type, name: str) -> None:
        refuse_misplaced(owner, name, language.VIRTUAL)

    if TYPE_CHECKING:

        @overload
        def __get__(self, obj: None, owner: type[object], /) -> property: ...
        @overload
        def __get__(self, obj: nn.Module, owner: type[object] | None = None, /) -> T_co: ...
        def __get__(self, obj: nn.Module | None, owner: type[object] | None = None, /) -> property | T_co: ...

        def __set__(self, obj: Never, value: Never, /) -> None: ...


@overload
def virtual(function: Materializer[V], /) -> Virtual[V]: ...
@overload
def virtual(*, cached: bool = False, cast: bool = False) -> Callable[[Materializer[V]], Virtual[V]]: ...
def virtual(
    function: Materializer[V] | None = None, /, *, cached: bool = False, cast: bool = False
) -> Virtual[V] | Callable[[Materializer[V]], Virtual[V]]:
    """Decorate a method of a Module: its result becomes a read-only attribute that follows the module's dtype and device.

    The method is called when the attribute is read, with the dtype and device of the module's first parameter (see
    `qten_gen.runtime.module.virtual_tensors`). Its result is moved to the device, and keeps its shape and dtype. It is never in
    the state dict.

    >>> class Mask(Module):
    ...     dim: int
    ...     @virtual(cached=True)
    ...     def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
    ...         return torch.ones(self.dim, self.dim, dtype=torch.bool, device=device).tril()
    >>> Mask(2).causal.tolist()
    [[True, False], [True, True]]

    Args:
        function: The method, where the decorator is used without parentheses.
        cached: Whether the result is kept until something else has its place that the method reads, in methods of the class
            too: config fields, derived values, plain attributes; or until the module has another dtype, device or training mode.
            Where a list or another object that can change in place is among them, nothing is kept.
        cast: Whether a floating point result is cast to the module's dtype. Other results are not.

    Raises:
        DeclarationError: the result is cached, and the method reads a parameter, a buffer or a child, or passes the module on.
    """
    if function is not None:
        return Virtual(function)
    return lambda function: Virtual(function, cached, cast)
