"""Replacements for members of tensordict's TensorClass that are not here.

Read when such a name is looked up and not found, and by `docs/from-tensordict.md`. A test compares the names with tensordict's.
"""

from __future__ import annotations

_NAMES: dict[str, str] = {
    "use .apply, whose result is a new object, or a method that ends in an underscore": "apply_",
    "use .replace(field=torch.as_tensor(...))": "as_tensor",
    "ask the tensors: batch.x.data_ptr()": "data_ptr",
    "use .pin_memory(), whose result is a new object": "pin_memory_",
    "construct the class, or use .new_full": "new_tensor",
    "a TensorClass is dense; use torch.nested for a field of several lengths": "densify",
    "use .apply with torch.nested.to_padded_tensor": "to_padded_tensor",
    "add up tensor.nbytes of the tensors": "bytes",
    "use .to for floating point dtypes, .int(), .bool() and their kin for others": "type",
    "use .to(torch.complex32)": "complex32",
    "use .apply(lambda tensor: tensor.to(torch.uint16))": "uint16",
    "use .apply(lambda tensor: tensor.to(torch.uint32))": "uint32",
    "use .apply(lambda tensor: tensor.to(torch.uint64))": "uint64",
    "use .apply with torch.quantize_per_tensor": "qint8 qint32 quint8 quint4x2",
    "read batch_size, device and names": "attrs",
    "use type(batch.get(key))": "entry_class",
    "use dataclasses.fields(batch), or .keys()": "fields",
    "use batch.get(key).shape": "get_item_shape",
    "the annotation decides: a static field is an attribute like any other": (
        "is_non_tensor get_non_tensor set_non_tensor non_tensor_items"
    ),
    "use len(batch.batch_size)": "ndimension",
    "the fields are those of the class; .get_at, .select and .to_dict take some of them out": (
        "clear popitem filter_empty_ filter_non_tensor_data split_keys separates rename_key_ rename_keys"
    ),
    "assign an object to the nested field": "create_nested",
    "assign None to an optional field": "del_",
    "use .replace with None for optional fields, or .new_empty for new tensors": "empty",
    "use Batch.cat": "extend",
    "fields are named by tuples: .get(('inner', 'x')); .to_dict() gives nested dicts to flatten": (
        "flatten_keys unflatten_keys"
    ),
    "use .from_tensordict, then .apply": "cat_from_tensordict stack_from_tensordict",
    "use torch.cat([batch.x, batch.y])": "cat_tensors",
    "use torch.stack([batch.x, batch.y])": "stack_tensors",
    "keep objects of several shapes in a list": "lazy_stack maybe_dense_stack to_lazystack",
    "construct the class, or use .from_dict": "from_any",
    "use Batch.from_dict": "from_dict_instance",
    "use Batch.stack for a list of objects": "from_list",
    "construct the class with *values": "from_tuple",
    "torch.utils._pytree.tree_unflatten makes objects: every TensorClass is a pytree": "from_pytree",
    "torch.utils._pytree.tree_flatten takes objects apart: every TensorClass is a pytree": "to_pytree",
    "construct the class with torch.zeros or torch.empty": "from_schema",
    "use .from_numpy": "from_struct_array",
    "use .numpy() and numpy.rec.fromarrays": "to_struct_array",
    "construct the named tuple with *batch.values()": "to_namedtuple",
    "use .new_full, or Batch.full_like": "fromkeys",
    "use the module's own state_dict, or torch.func.functional_call; a Module of qten_gen is typed": (
        "from_module to_module"
    ),
    "use torch.func.stack_module_state": "from_modules",
    "write a table with the library for it from .to_dict() or .numpy(); read one with .from_dict or .from_numpy": (
        "from_csv from_json from_pandas from_parquet from_h5 from_zarr to_csv to_json to_pandas to_parquet to_h5 "
        "to_zarr to_mds"
    ),
    "use .save, or .send to another process": "to_store",
    "use .pack to send an object, .save to keep it, or pickle protocol 5": "consolidate",
    "use .load": "from_consolidated",
    "whether tensors share a storage is seen from their memory": "is_consolidated",
    "use .memmap, .memmap_like or .save for the whole object": (
        "make_memmap make_memmap_from_storage make_memmap_from_tensor"
    ),
    "use .send; both processes construct the class with the same shapes": "init_remote",
    "use .recv on an object of the same shapes, which is written into": "from_remote_init",
    "use .send": "asend isend",
    "use .recv on an object of the same shapes": "arecv irecv",
    "call torch.distributed on each of the tensors": ("all_reduce reduce scatter gather_and_stack"),
    "call a multiprocessing pool on .split, or load the object with a DataLoader": "map map_iter",
    "locks hold no references that torch.compile minds": "clear_refs_for_compile_",
}
"""Advice that ends the sentence `Batch has no attribute 'consolidate'; ...`, and the names that it is for."""

INSTEAD = {name: advice for advice, names in _NAMES.items() for name in names.split()}
"""The advice by name."""
