"""Replacements for members of tensordict's TensorClass that are not here, by name.

Read when such a name is looked up and not found, and by `docs/from-tensordict.md`. A test compares the names with tensordict's.
"""

from __future__ import annotations

_ITEMS = "use torch.stack or torch.cat, or Batch.stack and Batch.cat"
_TABLES = "write a table with the library for it from .to_dict() or .numpy(); read one with .from_dict or .from_numpy"
_MODULES = "use the module's own state_dict, or torch.func.functional_call; a Module of qten_gen is typed"
_SCHEMA = "the fields are those of the class; .get_at, .select and .to_dict take some of them out"
_FLAT = "fields are named by tuples: .get(('inner', 'x')); .to_dict() gives nested dicts to flatten"
_STATIC = "the annotation decides: a static field is an attribute like any other"
_MADE = "construct the class, or use .from_dict"
_MAPS = "use .memmap, .memmap_like or .save for the whole object"
_QUANTISED = "use .apply with torch.quantize_per_tensor"

NOT_OF_TENSORDICT = frozenset(
    """
    accepts clamp_ cumprod cumsum empty_like from_numpy full_like load_safetensors ones_like rand_like
    randn_like save_safetensors vmap vmap_dims zeros_like
    """.split()
)
"""Public members of TensorClass that tensordict does not have; all others are called as they are there."""

INSTEAD: dict[str, str] = {
    # Tensors one by one
    "apply_": "use .apply, whose result is a new object, or a method that ends in an underscore",
    "as_tensor": "use .replace(field=torch.as_tensor(...))",
    "data_ptr": "ask the tensors: batch.x.data_ptr()",
    "pin_memory_": "use .pin_memory(), whose result is a new object",
    "new_tensor": "construct the class, or use .new_full",
    "densify": "a TensorClass is dense; use torch.nested for a field of several lengths",
    "to_padded_tensor": "use .apply with torch.nested.to_padded_tensor",
    "bytes": "add up tensor.nbytes of the tensors",
    "type": "use .to for floating point dtypes, .int(), .bool() and their kin for others",
    "complex32": "use .to(torch.complex32)",
    "uint16": "use .apply(lambda tensor: tensor.to(torch.uint16))",
    "uint32": "use .apply(lambda tensor: tensor.to(torch.uint32))",
    "uint64": "use .apply(lambda tensor: tensor.to(torch.uint64))",
    "qint8": _QUANTISED,
    "qint32": _QUANTISED,
    "quint8": _QUANTISED,
    "quint4x2": _QUANTISED,
    # What an object is
    "attrs": "read batch_size, device and names",
    "entry_class": "use type(batch.get(key))",
    "fields": "use dataclasses.fields(batch), or .keys()",
    "get_item_shape": "use batch.get(key).shape",
    "is_non_tensor": _STATIC,
    "ndimension": "use len(batch.batch_size)",
    # Fields that come and go
    "clear": _SCHEMA,
    "create_nested": "assign an object to the nested field",
    "del_": "assign None to an optional field",
    "popitem": _SCHEMA,
    "empty": "use .replace with None for optional fields, or .new_empty for new tensors",
    "extend": "use Batch.cat",
    "filter_empty_": _SCHEMA,
    "filter_non_tensor_data": _SCHEMA,
    "flatten_keys": _FLAT,
    "unflatten_keys": _FLAT,
    "split_keys": _SCHEMA,
    "separates": _SCHEMA,
    "rename_key_": _SCHEMA,
    "rename_keys": _SCHEMA,
    "get_non_tensor": _STATIC,
    "set_non_tensor": _STATIC,
    "non_tensor_items": _STATIC,
    # Objects together
    "cat_from_tensordict": "use .from_tensordict, then .apply",
    "stack_from_tensordict": "use .from_tensordict, then .apply",
    "cat_tensors": "use torch.cat([batch.x, batch.y])",
    "stack_tensors": "use torch.stack([batch.x, batch.y])",
    "pack": _ITEMS,
    "to_lazystack": "use .lazy_stack for objects of several shapes",
    # Made of something else
    "from_any": _MADE,
    "from_dict_instance": "use Batch.from_dict",
    "from_list": "use Batch.stack for a list of objects",
    "from_tuple": "construct the class with *values",
    "from_pytree": "torch.utils._pytree.tree_unflatten makes objects: every TensorClass is a pytree",
    "to_pytree": "torch.utils._pytree.tree_flatten takes objects apart: every TensorClass is a pytree",
    "from_schema": "construct the class with torch.zeros or torch.empty",
    "from_struct_array": "use .from_numpy",
    "to_struct_array": "use .numpy() and numpy.rec.fromarrays",
    "to_namedtuple": "construct the named tuple with *batch.values()",
    "fromkeys": "use .new_full, or Batch.full_like",
    "from_module": _MODULES,
    "from_modules": "use torch.func.stack_module_state",
    "to_module": _MODULES,
    "from_csv": _TABLES,
    "from_json": _TABLES,
    "from_pandas": _TABLES,
    "from_parquet": _TABLES,
    "from_h5": _TABLES,
    "from_zarr": _TABLES,
    "to_csv": _TABLES,
    "to_json": _TABLES,
    "to_pandas": _TABLES,
    "to_parquet": _TABLES,
    "to_h5": _TABLES,
    "to_zarr": _TABLES,
    "to_mds": _TABLES,
    "to_store": "use .save, or .send to another process",
    # Files and processes
    "consolidate": "use .save, or pickle protocol 5, which keeps tensors out of band",
    "from_consolidated": "use .load",
    "is_consolidated": "objects are never consolidated",
    "make_memmap": _MAPS,
    "make_memmap_from_storage": _MAPS,
    "make_memmap_from_tensor": _MAPS,
    "init_remote": "use .send; both processes construct the class with the same shapes",
    "from_remote_init": "use .recv on an object of the same shapes, which is written into",
    "asend": "use .isend",
    "arecv": "use .irecv",
    "clear_refs_for_compile_": "locks hold no references that torch.compile minds",
}
"""Advice that ends the sentence `Batch has no attribute 'pack'; ...`."""

ADVICE = {
    **INSTEAD,
    "grad_fn": "ask the tensors: batch.x.grad_fn",
    "is_leaf": "ask the tensors: batch.x.is_leaf",
    "register_hook": "call it of the tensors: batch.x.register_hook(...)",
    "retain_grad": "call it of the tensors: batch.x.retain_grad()",
    "_is_param": "a parameter is a tensor: nn.Parameter(batch.x)",
    "persistent": "a buffer is a tensor: nn.Buffer(batch.x)",
}
"""The same for all names of `binding.py`."""
