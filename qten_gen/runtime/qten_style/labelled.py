"""Tensors with labelled dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.utils import _pytree

from .devices import Device, DeviceBounded, resolved
from .labelled_functions import EQUAL, KEEPS, is_number, name_of

if TYPE_CHECKING:
    from typing import Self

    _Operator = Callable[["LabelledTensor", "LabelledTensor | Tensor | complex"], "LabelledTensor"]


def _binary(function: Callable[[Any, Any], Any]) -> _Operator:
    def method(self: LabelledTensor, other: LabelledTensor | Tensor | complex) -> LabelledTensor:
        if not (isinstance(other, LabelledTensor | Tensor) or is_number(other)):
            return NotImplemented  # type: ignore[no-any-return] # Python asks the other operand
        return cast(LabelledTensor, _keep(function, (self, other), {}))

    return method


def _both_ways(function: Callable[[Any, Any], Any]) -> tuple[_Operator, _Operator]:
    """An operator, and its reflection for a left operand that does not know it."""
    return _binary(function), _binary(lambda right, left: function(left, right))


def _unary(function: Callable[[Any], Any]) -> Callable[[LabelledTensor], LabelledTensor]:
    def method(self: LabelledTensor) -> LabelledTensor:
        return cast(LabelledTensor, _keep(function, (self,), {}))

    return method


class LabelledTensor(DeviceBounded):
    """A tensor with a label for each dimension. It cannot be changed; its data can.

    A label is anything hashable. Operators, and the functions of torch that leave each dimension where it is
    (`labelled_functions.py`), give a LabelledTensor: labelled arguments must have the same labels, plain ones
    broadcast to them. Every other function of torch works on the data and gives plain tensors. A pytree of one leaf, the data.

    Assigned to an attribute of a Module, its data is copied into a parameter or buffer, whose data the attribute then shows.

    >>> wave = LabelledTensor(torch.ones(2, 3), ("site", "band"))
    >>> (wave * 2).dims
    ('site', 'band')
    >>> torch.sum(wave)
    tensor(6.)
    >>> wave + LabelledTensor(torch.ones(2, 3), ("site", "spin"))
    Traceback (most recent call last):
    ValueError: add: the labels ('site', 'band') and ('site', 'spin') differ

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
        # It would be a label for each character.
        if isinstance(dims, str):
            raise TypeError(f"dims is a tuple of labels, got the string {dims!r}")
        labels = tuple(dims)
        hash(labels)
        if len(labels) != data.ndim:
            raise ValueError(f"a tensor of shape {tuple(data.shape)} takes {data.ndim} labels, got {labels}")
        self._data = data
        self._dims = labels

    @property
    def data(self) -> Tensor:
        """The tensor without labels, of the same shape, dtype and device. It is not copied."""
        return self._data

    @property
    def dims(self) -> tuple[Hashable, ...]:
        """The labels, one for each dimension of the data, in order."""
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
        """True if operations on it are recorded for gradients."""
        return self.data.requires_grad

    @property
    def is_leaf(self) -> bool:
        """True if its gradient is kept: it was not computed from tensors that require gradients."""
        return self.data.is_leaf

    @property
    def grad(self) -> LabelledTensor | None:
        """The gradient of the data, with its shape, dtype and device, labelled as the data is; None before `backward`."""
        grad = self.data.grad
        return None if grad is None else labelled(grad, self._dims)

    def size(self, dim: int | None = None) -> torch.Size | int:
        """The sizes of all dimensions, or of the one at the position `dim`.

        >>> LabelledTensor(torch.ones(2), ("site",)).size(0)
        2

        Raises:
            IndexError: there is no such dimension.
        """
        return self.data.shape if dim is None else self.data.size(dim)

    def numel(self) -> int:
        """How many elements there are.

        >>> LabelledTensor(torch.ones(2, 3), ("site", "band")).numel()
        6
        """
        return self.data.numel()

    def item(self) -> bool | int | float | complex:
        """The one element, as a Python number.

        >>> LabelledTensor(torch.tensor([2.5]), ("site",)).item()
        2.5

        Raises:
            RuntimeError: there are several elements, or none.
        """
        return self.data.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers, or as one number where there are no dimensions.

        >>> LabelledTensor(torch.ones(2), ("site",)).tolist()
        [1.0, 1.0]
        """
        return self.data.tolist()

    def equal(self, other: LabelledTensor | Tensor) -> bool:
        """Return whether labels, shape and elements are the same; a plain `other` is compared without labels. So does
        `torch.equal`.

        >>> wave = LabelledTensor(torch.ones(2), ("site",))
        >>> wave.equal(wave.clone()), wave.equal(LabelledTensor(torch.ones(2), ("band",)))
        (True, False)

        Raises:
            RuntimeError: `other` has another dtype or device.
        """
        return torch.equal(self.data, _plain(other)) and (
            not isinstance(other, LabelledTensor) or self._dims == other._dims
        )

    def allclose(
        self, other: LabelledTensor | Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
    ) -> bool:
        """Return whether all elements are close: they differ by `atol` at most, or by the part `rtol` of what `other` has.

        >>> LabelledTensor(torch.ones(2), ("site",)).allclose(torch.tensor(1.0))
        True

        Args:
            other: What to compare with, of the same dtype, broadcast where it is plain.
            rtol, atol: The relative and the absolute difference that count as close.
            equal_nan: Whether NaN is close to NaN.

        Raises:
            ValueError: the labels differ.
            RuntimeError: `other` has another dtype or device.
        """
        options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
        return bool(_keep(torch.allclose, (self, other), options))

    def backward(
        self,
        gradient: LabelledTensor | Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Compute the gradients of what this tensor was computed from, and add them to their `grad`.

        >>> wave = LabelledTensor(torch.ones(2), ("site",)).attach()
        >>> (wave * 3).backward(torch.ones(2))
        >>> wave.grad
        LabelledTensor(tensor([3., 3.]), dims=('site',))

        Args:
            gradient: The gradient of this tensor, of its shape, dtype and device. A tensor of one element needs none.
            retain_graph: Whether the graph stays, for another call; it does where `create_graph` is True.
            create_graph: Whether the gradients have gradients of their own.

        Raises:
            ValueError: `gradient` has other labels.
            RuntimeError: nothing requires gradients, or there are several elements and no `gradient`.
        """
        if isinstance(gradient, LabelledTensor) and gradient._dims != self._dims:
            raise ValueError(f"backward: the labels {self._dims} and {gradient._dims} differ")
        torch.autograd.backward(self.data, _plain(gradient), retain_graph, create_graph)

    def attach(self) -> LabelledTensor:
        """This tensor if it requires gradients; otherwise a copy that does, and is a leaf of its own.

        >>> LabelledTensor(torch.ones(2), ("site",)).attach().requires_grad
        True

        Raises:
            RuntimeError: the elements are neither floating point nor complex.
        """
        if self.data.requires_grad:
            return self
        return labelled(self.data.detach().clone().requires_grad_(), self._dims)

    def detach(self) -> LabelledTensor:
        """The same labels and data without gradients: what is written into one is seen in the other.

        >>> LabelledTensor(torch.ones(2), ("site",)).attach().detach().requires_grad
        False
        """
        return labelled(self.data.detach(), self._dims)

    def clone(self) -> LabelledTensor:
        """A copy with the same labels, shape, dtype and device. It stays part of the graph.

        >>> LabelledTensor(torch.ones(2), ("site",)).clone()
        LabelledTensor(tensor([1., 1.]), dims=('site',))
        """
        return labelled(self.data.clone(), self._dims)

    def to(self, *args: Any, **keywords: Any) -> LabelledTensor:
        """This tensor with another dtype or torch device, as `Tensor.to` takes them; itself where nothing changes.

        >>> LabelledTensor(torch.ones(2), ("site",)).to(torch.float64).dtype
        torch.float64

        Raises:
            TypeError: `Tensor.to` does not take the arguments.
        """
        moved = self.data.to(*args, **keywords)
        return self if moved is self.data else labelled(moved, self._dims)

    def to_device(self, device: Device) -> Self:
        """A copy on `device`, or this tensor if it is there already.

        >>> LabelledTensor(torch.ones(2), ("site",)).to_device(Device("meta")).device
        Device(name='meta', index=None)

        Raises:
            TypeError: `device` is not a Device.
            RuntimeError: a gpu, and the machine has none.
        """
        moved = self.data.to(resolved(device))
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
        if func in EQUAL:
            ours, other = sorted((*args, *keywords.values()), key=lambda given: not isinstance(given, cls))
            return ours.equal(other)
        return func(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})

    __add__, __radd__ = _both_ways(operator.add)
    __sub__, __rsub__ = _both_ways(operator.sub)
    __mul__, __rmul__ = _both_ways(operator.mul)
    __truediv__, __rtruediv__ = _both_ways(operator.truediv)
    __floordiv__, __rfloordiv__ = _both_ways(operator.floordiv)
    __mod__, __rmod__ = _both_ways(operator.mod)
    __pow__, __rpow__ = _both_ways(operator.pow)
    __lshift__, __rlshift__ = _both_ways(operator.lshift)
    __rshift__, __rrshift__ = _both_ways(operator.rshift)
    __and__, __rand__ = _both_ways(operator.and_)
    __or__, __ror__ = _both_ways(operator.or_)
    __xor__, __rxor__ = _both_ways(operator.xor)
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

    def __matmul__(self, other: LabelledTensor | Tensor) -> Tensor:
        return _product(self, other)

    def __rmatmul__(self, other: LabelledTensor | Tensor) -> Tensor:
        return _product(other, self)

    def __getitem__(self, index: Any) -> Tensor:
        return self.data[_plain(index)]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.data)

    def __contains__(self, element: Any) -> bool:
        return _plain(element) in self.data

    def __bool__(self) -> bool:
        return bool(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __complex__(self) -> complex:
        return complex(self.data)

    def __index__(self) -> int:
        return operator.index(self.data)

    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.data.numpy()
        return array.astype(dtype or array.dtype, copy=bool(copy))

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else str(self)

    def __len__(self) -> int:
        return len(self.data)

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
            raise ValueError(f"{name_of(function)}: the labels {dims} and {other._dims} differ")
    result = function(*map(_plain, args), **{name: _plain(value) for name, value in keywords.items()})
    if not isinstance(result, Tensor):
        return result
    # Inside vmap there is a dimension less than there are labels, so labels are not counted.
    if result.ndim != rank:
        raise ValueError(f"{name_of(function)}: a plain tensor adds dimensions without label to {dims}")
    return labelled(result, dims)


def _product(left: LabelledTensor | Tensor, right: LabelledTensor | Tensor) -> Tensor:
    if not (isinstance(left, LabelledTensor | Tensor) and isinstance(right, LabelledTensor | Tensor)):
        return NotImplemented
    return torch.matmul(_plain(left), _plain(right))


def _plain(value: Any) -> Any:
    """An argument of a torch function without labels; a list of tensors is one argument."""
    if isinstance(value, LabelledTensor):
        return value.data
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def labelled(data: Tensor, dims: tuple[Hashable, ...]) -> LabelledTensor:
    """Build without checks: in a tree, something else may stand for the tensor."""
    made = object.__new__(LabelledTensor)
    made._data = data
    made._dims = dims
    return made


def register_pytree(cls: type[LabelledTensor]) -> None:
    """Make a class known to pytree, with one leaf, the data. What comes out of a tree belongs to nobody."""
    _pytree.register_pytree_node(
        cls,
        lambda tensor: ([tensor.data], tensor.dims),
        lambda children, dims: labelled(next(iter(children)), dims),
        flatten_with_keys_fn=_flatten_with_keys,
    )


def _flatten_with_keys(tensor: LabelledTensor) -> tuple[list[tuple[Any, Tensor]], tuple[Hashable, ...]]:
    return [(_pytree.GetAttrKey("data"), tensor.data)], tensor.dims


register_pytree(LabelledTensor)
torch.serialization.add_safe_globals([labelled])
