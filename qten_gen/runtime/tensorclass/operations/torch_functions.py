"""Functions of torch that take a TensorClass where they take a tensor: `torch.sin(batch)`, `torch.stack([a, b])`.

Type checkers know torch's own signatures only, so `lifted(torch.sin)(batch)` is typed, and so are methods: `Batch.stack([a, b])`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import torch
from torch import Tensor

from ..core.stored import Stored
from ..torch_tools import differentiation
from .entries import under_torch_names
from .table import methods, torch_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .reductions import ValuesAndIndices

_GENERAL = "apply it to the tensors, with .apply or field by field"
_IN_PLACE = "a Tensor cannot become several; use the function without the underscore, whose result is an object"

_PIECES = "use .split or .chunk, whose dim is the batch dimension to cut"

INSTEAD: dict[str, str] = {
    "pad": "use .pad for batch dimensions, or .apply for those of the fields",
    "numel": "use .numel() for the number of items",
    "is_complex": "ask the tensors: batch.x.is_complex()",
    "is_nonzero": "ask .all() or .any()",
    "get_device": "read .device",
    "hsplit": _PIECES,
    "vsplit": _PIECES,
    "tensor_split": _PIECES,
    "dsplit": _PIECES,
    "unique": "use torch.unique on one field, and index the object with what it gives",
    "unique_consecutive": "use torch.unique_consecutive on one field, and index the object with what it gives",
    "nonzero": "use .nonzero() of one field, and index the object with it",
    "argwhere": "use torch.argwhere on one field, and index the object with it",
    "take": "index the object: batch.flatten()[positions]",
    "take_along_dim": "use .gather",
    "scatter": "use item assignment: batch[index] = other",
    "index_put": "use item assignment: batch[index] = other",
    "masked_scatter": "use item assignment: batch[mask] = other",
    "normalize": "say which dimensions are meant: .apply(lambda tensor: functional.normalize(tensor, dim=-1))",
    "__getitem__": "index a tensor with a tensor: tensor[batch.mask]",
    "__setitem__": "write a tensor into a tensor: tensor[index] = batch.x",
    "__contains__": "ask a tensor for a number or a tensor",
    "view_as": "read the shape of a tensor: tensor.view_as(batch.x). vector_to_parameters takes the tensors of an object: "
    "torch.utils._pytree.tree_leaves(batch)",
    "copy_": "copy a tensor: tensor.copy_(batch.x)",
}
"""Advice that ends the sentence `torch.unique is not defined for Batch; ...`, by the name of the function."""


def advice(name: str) -> str:
    """Advice about a function: `torch.nn.functional.pad`, `torch.Tensor.add_`."""
    short = name.rpartition(".")[2]
    if short in INSTEAD:
        return INSTEAD[short]
    if short.endswith("_") and not short.endswith("__"):
        return _IN_PLACE
    return _GENERAL


def _name(function: Callable[..., object]) -> str:
    """The name of a function in messages: `torch.sort`."""
    name = getattr(function, "__name__", function)
    if name == "wrapped" and isinstance(function, FunctionType):
        # While torch 2.14 and later trace a graph, `Tensor.__rsub__` and its like have the name of their decorator's function.
        name = function.__wrapped__.__name__  # type: ignore[attr-defined] # `functools.wraps` sets it
    return f"{getattr(function, '__module__', None) or 'torch'}.{name}"


_HANDLERS = torch_functions() | differentiation.torch_functions()

# `tensor.add(batch)` is `torch.add(tensor, batch)`.
for _method_name, _function in vars(torch._C.TensorBase).items():
    _same = _HANDLERS.get(getattr(torch, _method_name, None) or _function)
    if _same is not None and not _method_name.startswith("_"):
        _HANDLERS.setdefault(_function, _same)

# Methods of tensors that torch writes in Python, such as `Tensor.__rsub__`. They are recognised by name: while a graph is traced,
# a dictionary does not find them.
_METHODS = {
    _name(function): _HANDLERS.pop(function)
    for function in [*_HANDLERS]
    if isinstance(function, FunctionType) and function.__module__ == "torch._tensor"
}


def find(function: Callable[..., object]) -> Callable[..., object] | None:
    """The form of a torch function for objects; None if it has none."""
    return _HANDLERS.get(function) or _METHODS.get(_name(function))


def refusal(function: Callable[..., object], kind: str) -> str:
    """The message for a function that objects of a class have no form of."""
    name = _name(function)
    public = name.replace("torch._C._nn.", "torch.nn.functional.")
    if kind.startswith("Ragged"):
        return f"{public} is not defined for {kind}; compute with .rows, or with .map_rows, which keeps the lengths"
    # Only a module calls these on what it is called with.
    handler = f"; a handler of a module for {kind} has to be imported" if public.startswith("torch.nn.") else ""
    return f"{public} is not defined for {kind}; {advice(name)}{handler}"


def dispatch(
    cls: type[object],
    func: Callable[..., object],
    types: Sequence[type],
    args: tuple[object, ...] = (),
    kwargs: dict[str, object] | None = None,
) -> object:
    """The TensorClass form of a torch function; `__torch_function__` of TensorClass.

    Returns:
        Its result.

    Raises:
        TypeError: the function has no such form.
    """
    handler = _HANDLERS.get(func) or _METHODS.get(_name(func))
    if handler is None:
        if _name(func) in differentiation.CHECKPOINT_OPERATOR:
            return differentiation.checkpoint(*args, **(kwargs or {}))  # type: ignore[arg-type] # torch passes the function first
        if _name(func) in differentiation.REGION_OPERATOR:
            return differentiation.region(*args, **(kwargs or {}))  # type: ignore[arg-type] # as above
        raise TypeError(refusal(func, cls.__name__))
    return handler(*args, **under_torch_names(_name(func), kwargs)) if kwargs else handler(*args)


METHODS = {**methods(), "__torch_function__": dispatch}
"""The operations by name, which take the place of the stand-ins that `binding.py` gives TensorClass."""


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


class _Reduces(Protocol):
    def __call__(self, input: Tensor, *, dim: int, keepdim: bool) -> Tensor: ...


class Reduction(Protocol):
    """Reduces batch dimensions; without `dim`, everything."""

    def __call__(
        self,
        obj: T,
        /,
        dim: int | Sequence[int] | None = None,
        *,
        keepdim: bool = False,
        dtype: torch.dtype | None = None,
        correction: int = 1,
    ) -> T: ...


class _FindsExtremes(Protocol):
    def __call__(self, input: Tensor, *, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]: ...


class Extremum(Protocol):
    """`torch.min` and `torch.max`: of everything, along a dimension with the places, or of two objects."""

    @overload
    def __call__(self, obj: T, other: T | None = None, /) -> T: ...
    @overload
    def __call__(self, obj: T, /, dim: int, keepdim: bool = False) -> ValuesAndIndices[T]: ...


class _Clamps(Protocol):
    def __call__(self, input: Tensor, *, min: Tensor | None, max: Tensor | None) -> Tensor: ...


class Clamping(Protocol):
    """`torch.clamp`."""

    def __call__(
        self, obj: T, /, min: T | Tensor | complex | None = None, max: T | Tensor | complex | None = None
    ) -> T: ...


class Joining(Protocol[P]):
    """Makes one object of several."""

    def __call__(self, objects: Sequence[T], /, *args: P.args, **keywords: P.kwargs) -> T: ...


class Gradient(Protocol[P]):
    """Gives the gradients with respect to an object."""

    def __call__(self, outputs: Tensor, inputs: T, /, *args: P.args, **keywords: P.kwargs) -> tuple[T, ...]: ...


@overload  # the first that fits counts
def lifted(function: _Reduces, /) -> Reduction: ...  # type: ignore[overload-overlap]
@overload  # the first that fits counts
def lifted(function: _FindsExtremes, /) -> Extremum: ...  # type: ignore[overload-overlap]
@overload  # the first that fits counts
def lifted(function: _Clamps, /) -> Clamping: ...  # type: ignore[overload-overlap]
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

    Where torch has several signatures, the first one counts. A method, such as `batch.clone()` or `Batch.stack([a, b])`, needs no
    `lifted`.

    Raises:
        TypeError: the function has no form for objects; the message says what to write.
    """
    if find(function) is None:
        raise TypeError(refusal(function, "a TensorClass"))
    return function
