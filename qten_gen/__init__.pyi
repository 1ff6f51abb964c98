"""What is public, as checkers and editors see it: `__init__.py` imports each name at its first use."""

from .large_models.deferred.deferred_init import deferred_init as deferred_init
from .large_models.deferred.deferred_init import is_deferred as is_deferred
from .large_models.deferred.deferred_init import materialize_module as materialize_module
from .large_models.deferred.deferred_init import materialize_tensor as materialize_tensor
from .large_models.deferred.refill import refill as refill
from .large_models.fake.context import fake_mode as fake_mode
from .large_models.fake.context import is_fake as is_fake
from .large_models.fake.context import meta_like as meta_like
from .large_models.materializing.checkpoints import CheckpointError as CheckpointError
from .large_models.materializing.materialize import MaterializeReport as MaterializeReport
from .model.diagnostics import DeclarationError as DeclarationError
from .runtime.declaring.children import ModuleDict as ModuleDict
from .runtime.declaring.children import ModuleList as ModuleList
from .runtime.declaring.children import Sequential as Sequential
from .runtime.declaring.children import Unbatched as Unbatched
from .runtime.declaring.children import choice as choice
from .runtime.declaring.children import sequential as sequential
from .runtime.declaring.children import submodule as submodule
from .runtime.declaring.derived import check as check
from .runtime.declaring.derived import derived as derived
from .runtime.declaring.derived import virtual as virtual
from .runtime.declaring.fields import AsTensor as AsTensor
from .runtime.declaring.fields import buffer as buffer
from .runtime.declaring.fields import const as const
from .runtime.declaring.fields import field as field
from .runtime.declaring.fields import number as number
from .runtime.declaring.fields import param as param
from .runtime.declaring.in_memory import NotGeneratedError as NotGeneratedError
from .runtime.declaring.in_memory import StaleWarning as StaleWarning
from .runtime.module.functional import Functional as Functional
from .runtime.module.load_report import compare as compare
from .runtime.module.parameter_selection import audit as audit
from .runtime.module.parameter_selection import partition as partition
from .runtime.module.parameter_selection import select as select
from .runtime.module.ties import retie as retie
from .runtime.qten_style.devices import Device as Device
from .runtime.qten_style.devices import DeviceBounded as DeviceBounded
from .runtime.qten_style.frozen_dict import FrozenDict as FrozenDict
from .runtime.qten_style.labelled import LabelledTensor as LabelledTensor
from .runtime.qten_style.labelled_attributes import TENSOR_BUFFER_PREFIX as TENSOR_BUFFER_PREFIX
from .runtime.qten_style.labelled_attributes import TENSOR_PARAM_PREFIX as TENSOR_PARAM_PREFIX
from .runtime.qten_style.module import Module as Module
from .runtime.qten_style.module import ModuleType as ModuleType
from .runtime.qten_style.module import OpenModule as OpenModule
from .runtime.qten_style.module import nograd_tensors as nograd_tensors
from .runtime.qten_style.virtual_tensor import VirtualTensor as VirtualTensor
from .runtime.tensorclass.fields.per_item import PerItem as PerItem
from .runtime.tensorclass.operations.torch_functions import lifted as lifted
from .runtime.tensorclass.ragged import Ragged as Ragged
from .runtime.tensorclass.tensorclass import SizedTensorClass as SizedTensorClass
from .runtime.tensorclass.tensorclass import TensorClass as TensorClass
from .runtime.tensorclass.tensorclass import is_tensorclass as is_tensorclass

__version__: str

__all__ = [
    "TENSOR_BUFFER_PREFIX",
    "TENSOR_PARAM_PREFIX",
    "AsTensor",
    "CheckpointError",
    "DeclarationError",
    "Device",
    "DeviceBounded",
    "FrozenDict",
    "Functional",
    "LabelledTensor",
    "MaterializeReport",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ModuleType",
    "NotGeneratedError",
    "OpenModule",
    "PerItem",
    "Ragged",
    "Sequential",
    "SizedTensorClass",
    "StaleWarning",
    "TensorClass",
    "Unbatched",
    "VirtualTensor",
    "audit",
    "buffer",
    "check",
    "choice",
    "compare",
    "const",
    "deferred_init",
    "derived",
    "fake_mode",
    "field",
    "is_deferred",
    "is_fake",
    "is_tensorclass",
    "lifted",
    "materialize_module",
    "materialize_tensor",
    "meta_like",
    "nograd_tensors",
    "number",
    "param",
    "partition",
    "refill",
    "retie",
    "select",
    "sequential",
    "submodule",
    "virtual",
]
