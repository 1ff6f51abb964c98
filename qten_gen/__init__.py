"""Typed TensorClasses and modules for PyTorch: declare fields, generate plain classes.

The names below are the language of declarations. They are imported at first use, because the command `qten-gen` imports this
package too, and must not import torch.
"""

__version__ = "0.1.0"

_HOMES = {
    "AsTensor": "runtime.declaring.fields",
    "CheckpointError": "large_models.materializing.checkpoints",
    "DeclarationError": "model.diagnostics",
    "Device": "runtime.qten_style.devices",
    "DeviceBounded": "runtime.qten_style.devices",
    "FrozenDict": "runtime.qten_style.frozen_dict",
    "Functional": "runtime.module.functional",
    "LabelledTensor": "runtime.qten_style.labelled",
    "MaterializeReport": "large_models.materializing.materialize",
    "Module": "runtime.qten_style.module",
    "ModuleDict": "runtime.declaring.children",
    "ModuleList": "runtime.declaring.children",
    "ModuleType": "runtime.qten_style.module",
    "NotGeneratedError": "runtime.declaring.in_memory",
    "OpenModule": "runtime.qten_style.module",
    "PerItem": "runtime.tensorclass.fields.per_item",
    "Ragged": "runtime.tensorclass.ragged",
    "Sequential": "runtime.declaring.children",
    "SizedTensorClass": "runtime.tensorclass.tensorclass",
    "StaleWarning": "runtime.declaring.in_memory",
    "TENSOR_BUFFER_PREFIX": "runtime.qten_style.labelled_attributes",
    "TENSOR_PARAM_PREFIX": "runtime.qten_style.labelled_attributes",
    "TensorClass": "runtime.tensorclass.tensorclass",
    "Unbatched": "runtime.declaring.children",
    "VirtualTensor": "runtime.qten_style.virtual_tensor",
    "audit": "runtime.module.parameter_selection",
    "buffer": "runtime.declaring.fields",
    "check": "runtime.declaring.derived",
    "choice": "runtime.declaring.children",
    "compare": "runtime.module.load_report",
    "const": "runtime.declaring.fields",
    "deferred_init": "large_models.deferred.deferred_init",
    "derived": "runtime.declaring.derived",
    "fake_mode": "large_models.fake.context",
    "field": "runtime.declaring.fields",
    "is_deferred": "large_models.deferred.deferred_init",
    "is_fake": "large_models.fake.context",
    "is_tensorclass": "runtime.tensorclass.tensorclass",
    "lifted": "runtime.tensorclass.operations.torch_functions",
    "materialize_module": "large_models.deferred.deferred_init",
    "materialize_tensor": "large_models.deferred.deferred_init",
    "meta_like": "large_models.fake.context",
    "nograd_tensors": "runtime.qten_style.module",
    "number": "runtime.declaring.fields",
    "param": "runtime.declaring.fields",
    "partition": "runtime.module.parameter_selection",
    "refill": "large_models.deferred.refill",
    "retie": "runtime.module.ties",
    "select": "runtime.module.parameter_selection",
    "sequential": "runtime.declaring.children",
    "submodule": "runtime.declaring.children",
    "virtual": "runtime.declaring.derived",
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll] # checkers read __init__.pyi


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
