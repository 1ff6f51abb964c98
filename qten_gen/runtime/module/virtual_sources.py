"""What a cached virtual tensor was derived from, in a form that a later read can compare."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Parameter

from ..declaring.arithmetic import Derived
from .core.module_base import ModuleBase
from .virtual_names import attributes_read, class_attribute
from .virtual_reads import Read

_CONSTANTS: tuple[type, ...] = (
    NoneType,
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    enum.Enum,
    type,
    FunctionType,
    BuiltinFunctionType,
)
"""Types whose values do not change."""


class Source(NamedTuple):
    """Something that a value was computed from, as it was then."""

    home: str | None
    """`_parameters` or `_buffers`; None for the instance dict."""
    name: str
    value: Any
    """The object. None also where there was none."""
    look: Callable[[Tensor], tuple[object, ...]] | None = None
    """What was read of a tensor: `contents` or `description`; None for anything else."""
    seen: tuple[object, ...] | None = None
    """What `look` gave."""


def contents(tensor: Tensor) -> tuple[object, ...]:
    """What stays while a tensor has the same elements, as long as everybody who changes them counts."""
    return tensor._version, tensor.data_ptr(), tensor.requires_grad


def description(tensor: Tensor) -> tuple[object, ...]:
    """What `virtual_reads.DESCRIBING` says of a tensor depends on no more than this."""
    return tensor.dtype, tensor.device, tensor.shape


def attribute_sources(
    module: ModuleBase, function: Callable[..., object], declared: tuple[str, ...] | None
) -> tuple[Source, ...] | None:
    """The attributes that a function can read of a module, those declared or those that its code mentions.

    Parameters and buffers are left out. None where one of the attributes can change in place.
    """
    own = None if declared is None else tuple(name for name in declared if _is_value(module, name))
    names = attributes_read(module, function) if own is None else own
    state = vars(module)
    if names is None or not all(is_constant(state[n] if n in state else _of_class(module, n)) for n in names):
        return None
    return tuple(Source(None, name, state.get(name)) for name in names)


def _is_value(module: ModuleBase, name: str) -> bool:
    """Whether a declared name is a constructor argument or a derived value."""
    return name in module._config or isinstance(module._specifiers.get(name), Derived)


def _of_class(module: ModuleBase, name: str) -> object:
    """What a class gives its instances; None where that is a function, which `attributes_read` has followed."""
    found = class_attribute(type(module), name)
    return None if hasattr(type(found), "__get__") else found


def tensor_source(module: ModuleBase, read: Read) -> Source | None:
    """A parameter or buffer of a module, as it was; None for any tensor that others can change unnoticed."""
    tensor = read.tensor
    if type(tensor) not in (Tensor, Parameter) or tensor.layout is not torch.strided:
        return None
    for home in ("_parameters", "_buffers"):
        for name, registered in vars(module)[home].items():
            if registered is not tensor:
                continue
            if not read.contents:
                return Source(home, name, tensor, description, description(tensor))
            if tensor._version == read.version and has_own_memory(tensor):
                return Source(home, name, tensor, contents, contents(tensor))
    return None


def has_own_memory(tensor: Tensor) -> bool:
    """Whether the memory of a tensor is torch's and this process's: neither NumPy's, nor a file's, nor shared."""
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided:
        return True
    storage = tensor.untyped_storage()
    return storage.resizable() and not storage.is_shared()


def is_constant(value: object) -> bool:
    """Whether an object that stays where it is cannot change: numbers, strings, and tuples and frozen dataclasses of them."""
    if isinstance(value, tuple | frozenset):
        return all(map(is_constant, value))
    if is_dataclass(value) and not isinstance(value, type):
        parameters: object = getattr(type(value), "__dataclass_params__", None)
        return getattr(parameters, "frozen", False) and all(is_constant(getattr(value, f.name)) for f in fields(value))
    return isinstance(value, _CONSTANTS)
