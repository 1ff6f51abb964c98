"""Typed TensorClasses and modules for PyTorch: declare fields, generate plain classes.

The names below are the language of declarations. They are imported at first use, because the command `qten-gen` imports this
package too, and must not import torch.
"""

# Type checkers treat any TYPE_CHECKING like that of typing. Importing typing would cost the command 5 ms.
TYPE_CHECKING = False

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .model.diagnostics import DeclarationError as DeclarationError
    from .runtime.declaring.compositions import choice as choice
    from .runtime.declaring.compositions import sequential as sequential
    from .runtime.declaring.containers import ModuleDict as ModuleDict
    from .runtime.declaring.containers import ModuleList as ModuleList
    from .runtime.declaring.containers import Sequential as Sequential
    from .runtime.declaring.fields import buffer as buffer
    from .runtime.declaring.fields import const as const
    from .runtime.declaring.fields import field as field
    from .runtime.declaring.fields import param as param
    from .runtime.declaring.fields import submodule as submodule
    from .runtime.declaring.in_memory import NotGeneratedError as NotGeneratedError
    from .runtime.declaring.in_memory import StaleWarning as StaleWarning
    from .runtime.declaring.unbatched import Unbatched as Unbatched
    from .runtime.declaring.virtual_fields import virtual as virtual
    from .runtime.deferred.deferred_init import deferred_init as deferred_init
    from .runtime.deferred.deferred_init import is_deferred as is_deferred
    from .runtime.deferred.deferred_init import materialize_module as materialize_module
    from .runtime.deferred.deferred_init import materialize_tensor as materialize_tensor
    from .runtime.fake.context import fake_mode as fake_mode
    from .runtime.fake.context import is_fake as is_fake
    from .runtime.fake.context import meta_like as meta_like
    from .runtime.materializing.checkpoints import CheckpointError as CheckpointError
    from .runtime.materializing.report import MaterializeReport as MaterializeReport
    from .runtime.module.dispatch import Functional as Functional
    from .runtime.qten_style.devices import Device as Device
    from .runtime.qten_style.devices import DeviceBounded as DeviceBounded
    from .runtime.qten_style.frozen_dict import FrozenDict as FrozenDict
    from .runtime.qten_style.labelled import LabelledTensor as LabelledTensor
    from .runtime.qten_style.labelled_attributes import TENSOR_BUFFER_PREFIX as TENSOR_BUFFER_PREFIX
    from .runtime.qten_style.labelled_attributes import TENSOR_PARAM_PREFIX as TENSOR_PARAM_PREFIX
    from .runtime.qten_style.module import Module as Module
    from .runtime.qten_style.module import ModuleType as ModuleType
    from .runtime.qten_style.module import nograd_tensors as nograd_tensors
    from .runtime.qten_style.virtual_tensor import VirtualTensor as VirtualTensor
    from .runtime.tensorclass.dataclass_types import from_dataclass as from_dataclass
    from .runtime.tensorclass.dataclass_types import is_tensorclass as is_tensorclass
    from .runtime.tensorclass.fields.per_item import PerItem as PerItem
    from .runtime.tensorclass.lazy_stack import LazyStack as LazyStack
    from .runtime.tensorclass.tensorclass import TensorClass as TensorClass

_HOMES = {
    "CheckpointError": "runtime.materializing.checkpoints",
    "DeclarationError": "model.diagnostics",
    "Device": "runtime.qten_style.devices",
    "DeviceBounded": "runtime.qten_style.devices",
    "FrozenDict": "runtime.qten_style.frozen_dict",
    "Functional": "runtime.module.dispatch",
    "LabelledTensor": "runtime.qten_style.labelled",
    "LazyStack": "runtime.tensorclass.lazy_stack",
    "MaterializeReport": "runtime.materializing.report",
    "Module": "runtime.qten_style.module",
    "ModuleDict": "runtime.declaring.containers",
    "ModuleList": "runtime.declaring.containers",
    "ModuleType": "runtime.qten_style.module",
    "NotGeneratedError": "runtime.declaring.in_memory",
    "PerItem": "runtime.tensorclass.fields.per_item",
    "Sequential": "runtime.declaring.containers",
    "StaleWarning": "runtime.declaring.in_memory",
    "TENSOR_BUFFER_PREFIX": "runtime.qten_style.labelled_attributes",
    "TENSOR_PARAM_PREFIX": "runtime.qten_style.labelled_attributes",
    "TensorClass": "runtime.tensorclass.tensorclass",
    "Unbatched": "runtime.declaring.unbatched",
    "VirtualTensor": "runtime.qten_style.virtual_tensor",
    "buffer": "runtime.declaring.fields",
    "choice": "runtime.declaring.compositions",
    "const": "runtime.declaring.fields",
    "deferred_init": "runtime.deferred.deferred_init",
    "fake_mode": "runtime.fake.context",
    "field": "runtime.declaring.fields",
    "from_dataclass": "runtime.tensorclass.dataclass_types",
    "is_deferred": "runtime.deferred.deferred_init",
    "is_fake": "runtime.fake.context",
    "is_tensorclass": "runtime.tensorclass.dataclass_types",
    "materialize_module": "runtime.deferred.deferred_init",
    "materialize_tensor": "runtime.deferred.deferred_init",
    "meta_like": "runtime.fake.context",
    "nograd_tensors": "runtime.qten_style.module",
    "param": "runtime.declaring.fields",
    "sequential": "runtime.declaring.compositions",
    "submodule": "runtime.declaring.fields",
    "virtual": "runtime.declaring.virtual_fields",
}

__all__ = [
    "TENSOR_BUFFER_PREFIX",
    "TENSOR_PARAM_PREFIX",
    "CheckpointError",
    "DeclarationError",
    "Device",
    "DeviceBounded",
    "FrozenDict",
    "Functional",
    "LabelledTensor",
    "LazyStack",
    "MaterializeReport",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ModuleType",
    "NotGeneratedError",
    "PerItem",
    "Sequential",
    "StaleWarning",
    "TensorClass",
    "Unbatched",
    "VirtualTensor",
    "buffer",
    "choice",
    "const",
    "deferred_init",
    "fake_mode",
    "field",
    "from_dataclass",
    "is_deferred",
    "is_fake",
    "is_tensorclass",
    "materialize_module",
    "materialize_tensor",
    "meta_like",
    "nograd_tensors",
    "param",
    "sequential",
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
