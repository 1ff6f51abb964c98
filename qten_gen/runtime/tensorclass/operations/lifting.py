"""`lifted(torch.hypot)`: functions of torch with the types that they have for objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from torch import Tensor

from ..core.stored import Stored
from .torch_functions import find, refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

P = ParamSpec("P")
T = TypeVar("T", bound=Stored)


class Unary(Protocol[P]):
    """Takes an object where the function takes a tensor, and gives one."""

    def __call__(self, obj: T, /, *args: P.args, **keywords: P.kwargs) -> T: ...


class Binary(Protocol[P]):
    """Takes two objects, or an object and a tensor or number, where the function takes two tensors."""

    @overload
    def __call__(self, obj: T, other: T | Tensor | complex, /, *args: P.args, **keywords: P.kwargs) -> T: ...
    @overload
    def __call__(self, tensor: Tensor, obj: T, /, *args: P.args, **keywords: P.kwargs) -> T: ...


class Comparison(Protocol[P]):
    """Compares two objects as a whole."""

    def __call__(self, obj: T, other: T, /, *args: P.args, **keywords: P.kwargs) -> bool: ...


class Pair(Protocol[P]):
    """Gives two objects where the function gives two tensors: values and indices, for instance."""

    def __call__(self, obj: T, /, *args: P.args, **keywords: P.kwargs) -> tuple[T, T]: ...


class Joining(Protocol[P]):
    """Makes one object of several."""

    def __call__(self, objects: Sequence[T], /, *args: P.args, **keywords: P.kwargs) -> T: ...


class Gradient(Protocol[P]):
    """Gives the gradients with respect to an object."""

    def __call__(self, outputs: Tensor, inputs: T, /, *args: P.args, **keywords: P.kwargs) -> tuple[T, ...]: ...


@overload
def lifted(function: Callable[Concatenate[Tensor, Tensor, P], bool], /) -> Comparison[P]: ...
@overload
def lifted(function: Callable[Concatenate[Tensor, Tensor, P], Tensor], /) -> Binary[P]: ...
@overload
def lifted(function: Callable[Concatenate[Tensor, P], Tensor], /) -> Unary[P]: ...
@overload
def lifted(function: Callable[Concatenate[Tensor, Tensor, P], tuple[Tensor, ...]], /) -> Gradient[P]: ...
@overload
def lifted(function: Callable[Concatenate[Tensor, P], tuple[Tensor, Tensor]], /) -> Pair[P]: ...
@overload
def lifted(function: Callable[Concatenate[list[Tensor], P], Tensor], /) -> Joining[P]: ...
def lifted(function: Callable[..., Any], /) -> Any:
    """The function itself, to type checkers one of objects: torch's own signature says that it takes and gives tensors.

    >>> from qten_gen import lifted
    >>> batch = Batch(torch.tensor([3.0, 0.0]), batch_size=2)
    >>> lifted(torch.hypot)(batch, torch.tensor([4.0, 1.0])).tokens
    tensor([5., 1.])

    Where torch has several signatures, the first one counts. A method, such as `batch.exp()` or `Batch.stack([a, b])`, needs no
    `lifted`.

    Raises:
        TypeError: the function has no form for objects; the message says what to write.
    """
    if find(function) is None:
        raise TypeError(refusal(function, "a TensorClass"))
    return function
