"""Virtual tensors for any nn.Module: attributes that a function computes from others.

What the module keeps is the function, under the attribute's name, and an empty buffer that says dtype and device. Reading the
attribute gives a VirtualTensor that holds the module; the module holds none. So there is neither a cycle nor a weak reference,
and copies and pickles of the module have their own.
"""

from __future__ import annotations

import keyword
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import ismethod
from typing import Any, ClassVar, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .labelled_assignment import ChecksAssignment
from .labelled_attributes import ABSENT, InstanceProperty, Kind, class_attribute, give

M = TypeVar("M", bound=nn.Module)

_TABLE = "_virtual_tensors"
"""Where the instance dict of a module keeps its records, by name of the attribute."""


class VirtualTensorAttributes(NamedTuple):
    """Names of the attributes that a virtual tensor adds to its module."""

    ref: str
    """The buffer whose dtype and device the virtual tensor has."""


@dataclass(eq=False)
class _Record:
    """The record of a virtual tensor in its module: its class and attribute, and how it is computed."""

    cls: type[nn.Module]
    name: str
    materializer: str | Callable[[Any, torch.dtype, torch.device], Tensor]
    persist: bool
    is_assigned: bool = False

    @property
    def ref(self) -> str:
        return f"_{self.name}_ref"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _restored, (self.cls, self.name, self.materializer, self.persist, self.is_assigned)


class VirtualTensor(ChecksAssignment):
    """A tensor attribute that is computed from other attributes each time its value is read.

    >>> class Decay(nn.Module):
    ...     def __init__(self) -> None:
    ...         super().__init__()
    ...         self.rate = nn.Parameter(torch.zeros(3))
    ...         self.factor = VirtualTensor(self, "factor", "_factor")
    ...     def _factor(self, dtype: torch.dtype, device: torch.device) -> Tensor:
    ...         return torch.exp(-self.rate)
    >>> Decay().half().factor.value.dtype
    torch.float16

    It has the dtype and device of an empty buffer `_{name}_ref` in the owner, which moves with it. Functions of torch take a
    VirtualTensor for its value. The attribute takes no other value; deleting it removes what was added to the owner. A
    VirtualTensor that is never assigned removes it when it is no longer referred to.

    Args:
        owner: The module that gets the attribute.
        name: Name of the attribute.
        materializer: Computes the value: a function of owner, dtype and device, or the name of a method of the owner that
            takes dtype and device. Its result, of any shape, is cast to them.
        dtype: Type of the elements; torch's default when None.
        device: Where the value is; torch's default when None.
        persist: Whether dtype and device are in the state dict, and restored from it.

    Raises:
        AttributeError: the owner has no attribute of the materializer's name, or it has an attribute `name` already.
        TypeError: the attribute that the materializer names is not a method, or an argument has the wrong type.
        ValueError: `name` is not an identifier.
    """

    __slots__ = ("__weakref__", "_owner", "_record")
    _owner: nn.Module
    _record: _Record

    LinkedAttributes: ClassVar[type[VirtualTensorAttributes]] = VirtualTensorAttributes

    def __init__(
        self,
        owner: M,
        name: str,
        materializer: str | Callable[[M, torch.dtype, torch.device], Tensor],
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        persist: bool = False,
    ) -> None:
        _check_owner(owner, name)
        _check_materializer(owner, materializer)
        # Parametrizing gives a module a class of its own, which may go again.
        record = _Record(parametrize.type_before_parametrizations(owner), name, materializer, persist)
        if not give(record.cls, name, _VIRTUAL):
            raise AttributeError(f"{type(owner).__name__} has a property {name!r}")
        vars(owner).setdefault(_TABLE, {})[name] = record
        reference = torch.empty(0, dtype=dtype, device=torch.get_default_device() if device is None else device)
        owner.register_buffer(record.ref, reference, persistent=persist)
        if persist and not any(
            getattr(hook, "hook", None) is _load for hook in owner._load_state_dict_pre_hooks.values()
        ):
            owner.register_load_state_dict_pre_hook(_load)  # type: ignore[no-untyped-call] # torch gives it no types
        self._owner, self._record = owner, record
        weakref.finalize(self, _discard, weakref.ref(owner), record).atexit = False

    @classmethod
    def create(
        cls,
        owner: M,
        name: str,
        materializer: str | Callable[[M, torch.dtype, torch.device], Tensor],
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        persist: bool = False,
    ) -> None:
        """Make a virtual tensor an attribute: `owner.NAME = VirtualTensor(owner, name, ...)`, with the same arguments.

        >>> module = nn.Linear(2, 2)
        >>> VirtualTensor.create(module, "mask", lambda module, dtype, device: torch.ones(2, dtype=dtype))
        >>> module.mask.value
        tensor([1., 1.])

        Raises:
            AttributeError, TypeError, ValueError: where the constructor raises them.
        """
        make: Callable[..., VirtualTensor] = cls
        setattr(owner, name, make(owner, name, materializer, dtype, device, persist))

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self._record.name

    @property
    def owner(self) -> nn.Module | None:
        """The module whose attribute this is; None once it was deleted or replaced."""
        return self._owner if vars(self._owner).get(_TABLE, {}).get(self.name) is self._record else None

    @property
    def attributes(self) -> VirtualTensorAttributes:
        """Names of the attributes that were added to the owner."""
        return self.LinkedAttributes(self._record.ref)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype that the value is cast to; can be set. What it is computed from stays as it is."""
        return self._reference().dtype

    @dtype.setter
    def dtype(self, value: torch.dtype) -> None:
        self.to(dtype=value)

    @property
    def device(self) -> torch.device:
        """The device that the value is moved to; can be set. What it is computed from stays where it is."""
        return self._reference().device

    @device.setter
    def device(self, value: torch.device | str | int) -> None:
        self.to(device=value)

    def to(self, *args: Any, **kwargs: Any) -> None:
        """Set dtype and device, given as to `torch.Tensor.to`.

        >>> module = nn.Linear(2, 2)
        >>> VirtualTensor.create(module, "mask", lambda module, dtype, device: torch.ones(2))
        >>> module.mask.to(torch.float64)
        >>> module.mask.value.dtype
        torch.float64

        Raises:
            TypeError: `torch.Tensor.to` does not take the arguments.
        """
        now = self._reference()
        device, dtype, *_ = torch._C._nn._parse_to(*args, **kwargs)  # pyright: ignore[reportAttributeAccessIssue] # not in its stub
        made = torch.empty(0, dtype=dtype or now.dtype, device=device or now.device)  # there is nothing to copy
        setattr(self._owner, self._record.ref, made)

    @property
    def value(self) -> Tensor:
        """The tensor, computed now: of the shape that the materializer returns, cast to `dtype` and moved to `device`.

        Gradients flow through it.

        Raises:
            AttributeError: the attribute was deleted or replaced.
            TypeError: the materializer returned something other than a tensor.
        """
        record, reference = self._record, self._reference()
        dtype, device = reference.dtype, reference.device
        if isinstance(record.materializer, str):
            value = getattr(self._owner, record.materializer)(dtype, device)
        else:
            value = record.materializer(self._owner, dtype, device)
        if not isinstance(value, Tensor):
            raise TypeError(f"{record.cls.__name__}.{record.name}: expected a tensor, got {type(value).__name__}")
        return value.to(device=device, dtype=dtype)

    def check_assignment(self, module: nn.Module, name: str) -> None:
        """Refuse this as the attribute `name` of `module` where it was made for another one.

        >>> first, second = nn.Linear(2, 2), nn.Linear(2, 2)
        >>> VirtualTensor.create(first, "mask", lambda module, dtype, device: torch.ones(2))
        >>> first.mask.check_assignment(second, "mask")
        Traceback (most recent call last):
        TypeError: Linear.mask cannot be a virtual tensor that was made for Linear.mask: make one for each attribute

        Raises:
            TypeError: it is not the virtual tensor `name` of `module`.
        """
        if self.owner is not module or self.name != name:
            raise TypeError(
                f"{type(module).__name__}.{name} cannot be a virtual tensor that was made for"
                f" {type(self._owner).__name__}.{self.name}: make one for each attribute"
            )

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # what the function gives
        keywords = {} if kwargs is None else kwargs
        return func(*map(_valued, args), **{name: _valued(value) for name, value in keywords.items()})

    def __repr__(self) -> str:
        state = f"dtype={self.dtype}, device={self.device}" if self.owner is not None else "deleted"
        return f"VirtualTensor({self._record.cls.__name__}.{self.name}, {state})"

    def _reference(self) -> Tensor:
        owner = self.owner
        if owner is None:
            raise AttributeError(f"{type(self._owner).__name__} has no virtual tensor {self.name!r} any more")
        return getattr(owner, self._record.ref)  # type: ignore[no-any-return] # it is a buffer


def _check_owner(owner: nn.Module, name: str) -> None:
    """Raise unless `owner` is a module in which the attribute and its reference buffer can take their names."""
    if not isinstance(owner, nn.Module):
        raise TypeError(f"a virtual tensor belongs to an nn.Module, got {type(owner).__name__}")
    if not isinstance(name, str):
        raise TypeError(f"the name of a virtual tensor is a string, got {type(name).__name__}")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is not the name of an attribute")
    if name in vars(owner).get(_TABLE, {}):
        return
    for taken in (name, f"_{name}_ref"):
        in_class = class_attribute(type(owner), taken)
        if not (in_class is ABSENT or isinstance(in_class, InstanceProperty)) or hasattr(owner, taken):
            raise AttributeError(f"{type(owner).__name__} has an attribute {taken!r} already")


def _check_materializer(owner: nn.Module, materializer: object) -> None:
    """Raise where the materializer is neither a function nor the name of a method of the owner."""
    if isinstance(materializer, str):
        if not hasattr(owner, materializer):
            raise AttributeError(
                f"{type(owner).__name__} has no attribute {materializer!r} to compute a virtual tensor"
            )
        if not ismethod(getattr(owner, materializer)):
            raise TypeError(
                f"{type(owner).__name__}.{materializer} is not a method and cannot compute a virtual tensor"
            )
    elif not callable(materializer):
        raise TypeError(f"a materializer is a function or the name of a method, got {type(materializer).__name__}")


def _read(module: nn.Module, name: str) -> object:
    state = vars(module)
    if _TABLE not in state or name not in state[_TABLE] or not state[_TABLE][name].is_assigned:
        return ABSENT
    if name in module._modules:  # nn.Module registers a child without asking
        raise TypeError(f"{type(module).__name__}.{name} is a virtual tensor: a module was assigned to it")
    made = object.__new__(VirtualTensor)
    made._owner, made._record = module, state[_TABLE][name]
    return made


def _make_way(module: nn.Module, name: str, value: object) -> bool:
    """Take a virtual tensor that was made for this attribute; refuse anything else where one is assigned."""
    record = vars(module).get(_TABLE, {}).get(name)
    if isinstance(value, VirtualTensor):
        value.check_assignment(module, name)
        record.is_assigned = True
        return True
    if record is not None and record.is_assigned:
        raise TypeError(
            f"{type(module).__name__}.{name} is a virtual tensor, computed by {record.materializer!r}:"
            f" it cannot be set to {type(value).__name__}"
        )
    return False


def _remove(module: nn.Module, name: str) -> bool:
    record = vars(module).get(_TABLE, {}).pop(name, None)
    if record is None:
        return False
    delattr(module, record.ref)
    return True


_VIRTUAL = Kind(read=_read, make_way=_make_way, remove=_remove)


def _discard(owner: weakref.ref[nn.Module], record: _Record) -> None:
    """Remove what a virtual tensor added that was never assigned. One that has taken its name since then stays."""
    module = owner()
    if module is not None and not record.is_assigned and vars(module).get(_TABLE, {}).get(record.name) is record:
        _remove(module, record.name)


def _load(module: nn.Module, state_dict: Mapping[str, Any], prefix: str, *rest: object) -> None:
    """Before a state dict is loaded: give the references that are in it the dtype and device that they have there."""
    for record in vars(module).get(_TABLE, {}).values():
        saved = state_dict.get(prefix + record.ref)
        if record.persist and isinstance(saved, Tensor):
            setattr(module, record.ref, torch.empty(0, dtype=saved.dtype, device=saved.device))


def _restored(cls: type[nn.Module], name: str, *rest: Any) -> _Record:
    """The record of a copy or a pickle. In a new process the class does not have the property yet."""
    give(cls, name, _VIRTUAL)
    return _Record(cls, name, *rest)


def _valued(value: Any) -> Any:
    """An argument of a torch function with the values of virtual tensors; a list of tensors is one argument."""
    if isinstance(value, VirtualTensor):
        return value.value
    return type(value)(map(_valued, value)) if type(value) in (list, tuple) else value
