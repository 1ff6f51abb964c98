"""Typed TensorClasses and modules for PyTorch: declare fields, generate plain classes.

The names below are the language of declarations. They are loaded on first use, so that the command line tool, which never
imports torch, can import this package too.
"""

# Checkers take the name for typing's; importing typing would cost the command 5 ms.
TYPE_CHECKING = False

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .diagnostics import DeclarationError as DeclarationError
    from .runtime.containers import ModuleDict as ModuleDict
    from .runtime.containers import ModuleList as ModuleList
    from .runtime.devices import Device as Device
    from .runtime.devices import DeviceBounded as DeviceBounded
    from .runtime.dispatch import Functional as Functional
    from .runtime.fields import buffer as buffer
    from .runtime.fields import const as const
    from .runtime.fields import field as field
    from .runtime.fields import param as param
    from .runtime.fields import submodule as submodule
    from .runtime.fields import virtual as virtual
    from .runtime.frozen_dict import FrozenDict as FrozenDict
    from .runtime.jit import NotGeneratedError as NotGeneratedError
    from .runtime.jit import StaleWarning as StaleWarning
    from .runtime.labelled import LabelledTensor as LabelledTensor
    from .runtime.module import Module as Module
    from .runtime.ownership import TENSOR_BUFFER_PREFIX as TENSOR_BUFFER_PREFIX
    from .runtime.ownership import TENSOR_PARAM_PREFIX as TENSOR_PARAM_PREFIX
    from .runtime.ownership import ModuleType as ModuleType
    from .runtime.ownership import nograd_tensors as nograd_tensors
    from .runtime.tensorclass import TensorClass as TensorClass
    from .runtime.virtual_tensor import VirtualTensor as VirtualTensor

_HOMES = {
    "DeclarationError": "diagnostics",
    "Device": "runtime.devices",
    "DeviceBounded": "runtime.devices",
    "FrozenDict": "runtime.frozen_dict",
    "Functional": "runtime.dispatch",
    "LabelledTensor": "runtime.labelled",
    "Module": "runtime.module",
    "ModuleDict": "runtime.containers",
    "ModuleList": "runtime.containers",
    "ModuleType": "runtime.ownership",
    "NotGeneratedError": "runtime.jit",
    "StaleWarning": "runtime.jit",
    "TENSOR_BUFFER_PREFIX": "runtime.ownership",
    "TENSOR_PARAM_PREFIX": "runtime.ownership",
    "TensorClass": "runtime.tensorclass",
    "VirtualTensor": "runtime.virtual_tensor",
    "buffer": "runtime.fields",
    "const": "runtime.fields",
    "field": "runtime.fields",
    "nograd_tensors": "runtime.ownership",
    "param": "runtime.fields",
    "submodule": "runtime.fields",
    "virtual": "runtime.fields",
}

__all__ = [
    "TENSOR_BUFFER_PREFIX",
    "TENSOR_PARAM_PREFIX",
    "DeclarationError",
    "Device",
    "DeviceBounded",
    "FrozenDict",
    "Functional",
    "LabelledTensor",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ModuleType",
    "NotGeneratedError",
    "StaleWarning",
    "TensorClass",
    "VirtualTensor",
    "buffer",
    "const",
    "field",
    "nograd_tensors",
    "param",
    "submodule",
    "virtual",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
