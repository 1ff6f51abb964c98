"""Attributes of a Module that are labelled tensors: assigning, reading and removing them.

Assigning a LabelledTensor copies its data into a parameter `tensor:NAME`, or a buffer `buffer:NAME` where the class says so with
`nograd_tensors`. The labels are kept in the instance dict. Reading the attribute gives a LabelledTensor that reads its data from
the module each time, so it cannot be stale, whatever replaced the storage in between.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .devices import DeviceBounded, device, place
from .labelled import LabelledTensor, register_pytree

ABSENT = object()
"""Stands for an attribute that is not there."""


class Kind(NamedTuple):
    """The behaviour of a kind of attribute, given the module and the name.

    `read` gives the value, or ABSENT. `make_way` is called before another value takes the name: it clears what is stored, or
    raises; True means that the value itself is what it keeps. `remove` deletes the attribute; False if it is not of this kind.
    """

    read: Callable[[nn.Module, str], object]
    make_way: Callable[[nn.Module, str, object], bool]
    remove: Callable[[nn.Module, str], bool]


class InstanceProperty(property):
    """The property for one name, with the kinds that instances have under it."""

    name: str
    kinds: list[Kind]
    otherwise: object

    def __reduce__(self) -> tuple[Callable[..., InstanceProperty], tuple[object, ...]]:
        """cloudpickle sends classes that cannot be imported whole."""
        behind = () if self.otherwise is ABSENT else (self.otherwise,)
        return _property, (self.name, self.kinds, *behind)


def give(cls: type, name: str, kind: Kind) -> bool:
    """Give a class a property for `name`; False if it has one of its own, which no instance property can replace."""
    found = class_attribute(cls, name)
    if isinstance(found, InstanceProperty):
        if kind not in found.kinds:
            found.kinds.append(kind)
        return True
    # Python asks such an attribute of the class for every instance.
    if hasattr(type(found), "__set__"):
        return False
    # In the class that was written: a parametrization and FSDP derive from it, and what they derive may go again.
    home = next((ancestor for ancestor in cls.__mro__ if "_declaration" in vars(ancestor)), cls)
    setattr(home, name, _property(name, [kind], found))
    return True


def make_way(module: nn.Module, name: str, value: object) -> bool:
    """Tell the kinds of a name that `value` takes its place, as `Kind.make_way` says."""
    found = class_attribute(type(module), name)
    return isinstance(found, InstanceProperty) and _make_way(found.kinds, module, name, value)


def class_attribute(cls: type, name: str) -> Any:  # anything can be in a class
    """The value of the class, or of the nearest of its bases, under a name, as it stands there; ABSENT if there is none."""
    return next((vars(ancestor)[name] for ancestor in cls.__mro__ if name in vars(ancestor)), ABSENT)


def _make_way(kinds: list[Kind], module: nn.Module, name: str, value: object) -> bool:
    kept = [kind.make_way(module, name, value) for kind in kinds]  # every kind has to hear of it
    return any(kept)


def _property(name: str, kinds: list[Kind], otherwise: Any = ABSENT) -> InstanceProperty:
    """The property; `otherwise` is what the class has under the name for instances without a value."""

    # `torch.jit.script` compiles the properties of a class otherwise.
    @torch.jit.unused
    def get(module: nn.Module) -> object:
        for kind in kinds:
            value = kind.read(module, name)
            if value is not ABSENT:
                return value
        if name in vars(module):
            return vars(module)[name]
        if otherwise is ABSENT or name in module._parameters or name in module._buffers or name in module._modules:
            raise AttributeError(name)  # Python asks nn.Module's __getattr__ next
        return otherwise.__get__(module, type(module)) if hasattr(otherwise, "__get__") else otherwise

    def put(module: nn.Module, value: object) -> None:
        if not _make_way(kinds, module, name, value):
            vars(module)[name] = value

    def delete(module: nn.Module) -> None:
        if any(kind.remove(module, name) for kind in kinds):
            return
        if name not in vars(module):
            raise AttributeError(f"{type(module).__name__!r} object has no attribute {name!r}")
        del vars(module)[name]

    made = InstanceProperty(get, put, delete)
    made.name, made.kinds, made.otherwise = name, kinds, otherwise
    return made


TENSOR_PARAM_PREFIX = "tensor:"
"""The prefix of an attribute's name in the name of the parameter that holds its data."""

TENSOR_BUFFER_PREFIX = "buffer:"
"""The prefix of an attribute's name in the name of the buffer that holds its data."""

_OWNED = "_labelled"
"""Where the instance dict keeps, for each name of a labelled tensor, the name of its storage and its labels."""

_Entry = tuple[str, tuple[Hashable, ...]]


class BoundTensor(LabelledTensor):
    """The LabelledTensor that an attribute of a module gives: its data is the module's, now and later."""

    __slots__ = ("_key", "_module")
    _module: nn.Module
    _key: str

    @property
    def data(self) -> Tensor:
        """The parameter or buffer that the module has now."""
        module, key = self._module, self._key
        if key in module._parameters:
            return module._parameters[key]  # type: ignore[return-value] # storage is never registered as None
        return getattr(module, key)  # type: ignore[no-any-return] # a buffer, or computed by a parametrization


register_pytree(BoundTensor)


def own(module: nn.Module, name: str, value: DeviceBounded) -> bool:
    """Copy a labelled tensor into a module, on the module's device, and let `module.NAME` give it; False for other values.

    Raises:
        AttributeError: the module's own `__init__` assigns before it calls nn.Module's.
        TypeError: the tensor has no gradients, such as one of integers, and is not named by `nograd_tensors`.
    """
    if not isinstance(value, LabelledTensor):
        return False
    if "_parameters" not in vars(module):
        raise AttributeError("cannot assign labelled tensors before Module.__init__() call")
    is_buffer = name in getattr(type(module), "__nograd_tensors__", ())
    if not is_buffer and not (value.dtype.is_floating_point or value.dtype.is_complex):
        raise TypeError(
            f"{type(module).__name__}.{name}: a tensor of {value.dtype} has no gradients and cannot be a parameter;"
            f' name it in @nograd_tensors("{name}")'
        )
    if not give(type(module), name, _LABELLED):
        object.__setattr__(module, name, value)  # the class has a property of its own of that name
        return True
    make_way(module, name, value)
    data = value.data.detach()
    data = data.to(place(device(module), data.device), copy=True)
    key = (TENSOR_BUFFER_PREFIX if is_buffer else TENSOR_PARAM_PREFIX) + name
    if key not in module._parameters and key not in module._buffers and hasattr(module, key):
        setattr(module, key, data)  # a parametrization takes it apart
    elif is_buffer:
        module.register_buffer(key, data)
    else:
        module.register_parameter(key, nn.Parameter(data))
    # A plain value of that name would be back once the labelled tensor is deleted.
    vars(module).pop(name, None)
    vars(module).setdefault(_OWNED, {})[name] = (key, value.dims)
    return True


def release(module: nn.Module, name: str) -> bool:
    """Remove the storage of a labelled tensor; False where `name` is none."""
    entry = _owned(module).pop(name, None)
    if entry is None:
        return False
    key, _ = entry
    if parametrize.is_parametrized(module, key):
        parametrize.remove_parametrizations(module, key)
    delattr(module, key)
    return True


def exported(module: nn.Module, name: str) -> LabelledTensor:
    """A copy of a labelled tensor, without gradients.

    Raises:
        TypeError: the attribute is not a labelled tensor.
    """
    value = getattr(module, name)
    if not isinstance(value, LabelledTensor):
        raise TypeError(f"{type(module).__name__}.{name} is not a LabelledTensor but {type(value).__name__}")
    return value.detach().clone()


def all_exported(module: nn.Module) -> dict[str, LabelledTensor]:
    """Copies of the labelled tensors in a module and its children that have public names, by dotted name."""
    return {
        f"{prefix}.{name}" if prefix else name: exported(inner, name)
        for prefix, inner in module.named_modules(remove_duplicate=False)
        for name in _owned(inner)
        if not name.startswith("_")
    }


def restore(module: nn.Module) -> None:
    """Let the class of a module that was read from a pickle give its labelled tensors."""
    for name in _owned(module):
        give(type(module), name, _LABELLED)


def _owned(module: nn.Module) -> dict[str, _Entry]:
    return vars(module).get(_OWNED, {})  # type: ignore[no-any-return] # the instance dict holds anything


def _read(module: nn.Module, name: str) -> object:
    state = vars(module)
    if _OWNED not in state or name not in state[_OWNED]:
        return ABSENT
    made = object.__new__(BoundTensor)
    made._module, (made._key, made._dims) = module, state[_OWNED][name]
    return made


def _released_for(module: nn.Module, name: str, value: object) -> bool:
    if not isinstance(value, LabelledTensor):
        release(module, name)
    return False


_LABELLED = Kind(read=_read, make_way=_released_for, remove=release)
