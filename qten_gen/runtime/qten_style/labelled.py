"""Tensors with labelled dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.utils import _pytree

from .devices import Device, DeviceBounded
from .labelled_functions import KEEPS

if TYPE_CHECKING:
    from typing import Self


def _binary(
    function: Callable[[Any, Any], Any],
) -> Callable[[LabelledTensor, LabelledTensor | Tensor | complex], LabelledTensor]:
    def method(self: LabelledTensor, other: LabelledTensor | Tensor | complex) -> LabelledTensor:
        if not isinstance(other, LabelledTensor | Tensor | int | float | complex):
            return NotImplemented
        return cast(LabelledTensor, _keep(function, (self, other), {}))

    return method


def _reflected(
    function: Callable[[Any, Any], Any],
) -> Callable[[LabelledTensor, LabelledTensor | Tensor | complex], LabelledTensor]:
    return _binary(lambda right, left: function(left, right))


def _unary(function: Callable[[Any], Any]) -> Callable[[LabelledTensor], LabelledTensor]:
    def method(self: LabelledTensor) -> LabelledTensor:
        return cast(LabelledTensor, _keep(function, (self,), {}))

    return method


class LabelledTensor(DeviceBounded):
    """A tensor with a label for each dimension. It cannot be changed; its data can.

        weight = LabelledTensor(torch.rand(3, 4), ("row", "column"))
        weight * 2                  # labelled as weight is
        torch.sum(weight)           # a plain tensor
        weight + weight_of_others   # ValueError where the labels differ

    A label is anything hashable. Operators, and the functions of torch that leave each dimension where it is
    (`labelled_functions.py`), give a LabelledTensor: labelled arguments must have the same labels, plain ones
    broadcast to them. Every other function of torch works on the data and gives plain tensors. A pytree of one leaf, the data.

    Assigned to an attribute of a Module, its data is copied into a parameter or buffer, and the attribute is a LabelledTensor
    whose data is always the module's.

    Args:
        data: The tensor, of any shape, dtype and device; not copied.
        dims: One label for each of its dimensions.

    Raises:
        TypeError: `data` is not a tensor, `dims` is a string, or a label is not hashable.
        ValueError: there are more labels than dimensions, or fewer.
    """

    __slots__ = ("__weakref__", "_data", "_dims")
    _data: Tensor
    _dims: tuple[Hashable, ...]

    def __init__(self, data: Tensor, dims: Iterable[Hashable]) -> None:
        if not isinstance(data, Tensor):
            raise TypeError(f"a LabelledTensor is made of a tensor, got {type(data).__name__}")
        if isinstance(dims, str):
            raise TypeError(f"dims is a tuple of labels, got the string {dims!r}")
        labels = tuple(dims)
        hash(labels)
        if len(labels) != data.ndim:
            raise ValueError(f"a tensor of shape {tuple(data.shape)} takes {data.ndim} labels, got {labels}")
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_dims", labels)

    @property
    def data(self) -> Tensor:
        """The tensor without labels."""
        return self._data

    @property
    def dims(self) -> tuple[Hashable, ...]:
        """The labels, one for each dimension."""
        return self._dims

    @property
    def shape(self) -> torch.Size:
        """The sizes of the dimensions."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.data.ndim

    @property
    def dtype(self) -> torch.dtype:
        """The type of the elements."""
        return self.data.dtype

    @property
    def device(self) -> Device:
        """Where the data is."""
        return Device.of(self.data.device)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded for gradients."""
        return self.data.requires_grad

    @property
    def grad(self) -> LabelledTensor | None:
        """The gradient of the data, labelled as the data is."""
        grad = self.data.grad
        return None if grad is None else labelled(grad, self._dims)

    def attach(self) -> LabelledTensor:
        """This tensor if it requires gradients; otherwise a copy that does, and is a leaf of its own."""
        if self.data.requires_grad:
            return self
        return labelled(self.data.detach().clone().requires_grad_(), self._dims)

    def detach(self) -> LabelledTensor:
        """The same data without its history."""
        return labelled(self.data.detach(), self._dims)

    def clone(self) -> LabelledTensor:
        """A copy that stays part of the graph."""
        return labelled(self.data.clone(), self._dims)

    def to_device(self, device: Device) -> Self:
        """A copy on `device`, or this tensor if it is there already.

        Raises:
            RuntimeError: a gpu, and the machine has none.
        """
        moved = self.data.to(device.torch_device())
        return self if moved is self.data else labelled(moved, self._dims)  # type: ignore[return-value] # has no subclasses

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # what the function gives
        keywords = {} if kwargs is None else kwargs
        if func in KEEPS:
            return _keep(func, args, keywords)
        return func(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})

    __add__ = _binary(operator.add)
    __radd__ = _reflected(operator.add)
    __sub__ = _binary(operator.sub)
    __rsub__ = _reflected(operator.sub)
    __mul__ = _binary(operator.mul)
    __rmul__ = _reflected(operator.mul)
    __truediv__ = _binary(operator.truediv)
    __rtruediv__ = _reflected(operator.truediv)
    __floordiv__ = _binary(operator.floordiv)
    __rfloordiv__ = _reflected(operator.floordiv)
    __mod__ = _binary(operator.mod)
    __rmod__ = _reflected(operator.mod)
    __pow__ = _binary(operator.pow)
    __rpow__ = _reflected(operator.pow)
    __and__ = _binary(operator.and_)
    __rand__ = _reflected(operator.and_)
    __or__ = _binary(operator.or_)
    __ror__ = _reflected(operator.or_)
    __xor__ = _binary(operator.xor)
    __rxor__ = _reflected(operator.xor)
    __lt__ = _binary(operator.lt)
    __le__ = _binary(operator.le)
    __gt__ = _binary(operator.gt)
    __ge__ = _binary(operator.ge)
    __eq__ = _binary(operator.eq)  # type: ignore[assignment] # compared element by element, as tensors are
    __ne__ = _binary(operator.ne)  # type: ignore[assignment]
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __invert__ = _unary(operator.invert)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __len__(self) -> int:
        return len(self.data)

    # Hidden from checkers, for which it would make every attribute assignable.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return labelled, (self.data, self._dims)

    def __repr__(self) -> str:
        return f"LabelledTensor({self.data!r}, dims={self._dims!r})"


def _keep(function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Call a function that keeps labels, and label its result.

    Raises:
        ValueError: the labels of two arguments differ, or a plain argument adds dimensions.
    """
    found = [value for value in (*args, *keywords.values()) if isinstance(value, LabelledTensor)]
    dims, rank = found[0]._dims, found[0].ndim
    for other in found:
        if other._dims != dims:
            raise ValueError(f"{_name(function)}: the labels {dims} and {other._dims} differ")
    result = function(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})
    if not isinstance(result, Tensor):
        return result
    # Inside vmap there is a dimension less than there are labels, so labels are not counted.
    if result.ndim != rank:
        raise ValueError(f"{_name(function)}: a plain tensor adds dimensions without label to {dims}")
    return labelled(result, dims)


def _plain(value: Any) -> Any:
    """An argument of a torch function without labels; a list of tensors is one argument."""
    if isinstance(value, LabelledTensor):
        return value.data
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", "operator"))


def labelled(data: Tensor, dims: tuple[Hashable, ...]) -> LabelledTensor:
    """A LabelledTensor of what is known to fit, or of what stands for a tensor in a tree."""
    made = object.__new__(LabelledTensor)
    object.__setattr__(made, "_data", data)
    object.__setattr__(made, "_dims", dims)
    return made


def _flatten(tensor: LabelledTensor) -> tuple[list[Tensor], tuple[Hashable, ...]]:
    return [tensor.data], tensor.dims


def _flatten_keyed(tensor: LabelledTensor) -> tuple[list[tuple[Any, Tensor]], tuple[Hashable, ...]]:
    return [(_pytree.GetAttrKey("data"), tensor.data)], tensor.dims


def _unflatten(children: Iterable[Tensor], dims: tuple[Hashable, ...]) -> LabelledTensor:
    (data,) = children
    return labelled(data, dims)


def register_pytree(cls: type[LabelledTensor]) -> None:
    """Make a class known to pytree; what comes out of a tree is a LabelledTensor that belongs to nobody."""
    _pytree.register_pytree_node(cls, _flatten, _unflatten, flatten_with_keys_fn=_flatten_keyed)


register_pytree(LabelledTensor)
torch.serialization.add_safe_globals([labelled])
