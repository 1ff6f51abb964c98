"""What to write instead of parameters that tensordict's methods take and those of the same name here do not.

Read when such a keyword is passed, and by `docs/from-tensordict.md`. A test compares the parameters with tensordict's.
"""

from __future__ import annotations

RENAMED: dict[str, dict[str, str]] = {
    "addcdiv": {"other1": "tensor1", "other2": "tensor2"},
    "addcdiv_": {"other1": "tensor1", "other2": "tensor2"},
    "addcmul": {"other1": "tensor1", "other2": "tensor2"},
    "addcmul_": {"other1": "tensor1", "other2": "tensor2"},
    "broadcast_to": {"shape": "size"},
    "cat": {"input": "items"},
    "copy_": {"tensordict": "source"},
    "copy_at_": {"tensordict": "source", "idx": "index"},
    "from_dataclass": {"dataclass": "source"},
    "from_dict": {"input_dict": "values"},
    "from_namedtuple": {"named_tuple": "source"},
    "irecv": {"init_tag": "tag"},
    "isend": {"init_tag": "tag"},
    "lazy_stack": {"input": "items"},
    "maybe_dense_stack": {"input": "items"},
    "recv": {"init_tag": "tag"},
    "scatter": {"tensordicts": "items"},
    "send": {"init_tag": "tag"},
    "set": {"item": "value"},
    "set_": {"item": "value"},
    "set_at_": {"idx": "index"},
    "stack": {"input": "items"},
    "unflatten": {"unflattened_size": "sizes"},
    "update": {"input_dict_or_td": "values"},
    "update_": {"input_dict_or_td": "values"},
    "update_at_": {"input_dict_or_td": "values", "idx": "index"},
}
"""By method, what parameters of tensordict's are called here: as in torch, or by what they are. By position both are the same."""

_ALL_FIELDS = "operands have the same fields; give one that is None a tensor first, with .replace"
_NEW_OBJECT = "the result is a new object; assign it to the name of the old one"
_OUT = "the result is a new object; other.copy_(...) writes it into another one"
_RANKS = "ranks are those of the default group; torch.distributed.get_global_rank(group, rank) gives one"
_LEAVES = "the annotation of a field says whether it holds tensors; leaves_only=True leaves the others out"
_ONE_BY_ONE = "every tensor travels on its own, in the order of the fields"
_WAITS = "the call waits for the result"
_FIELDS = "the result is a dict; the fields of an object are those of its class"

_APPLY = {
    "default": _ALL_FIELDS,
    "filter_empty": "every object has all its fields",
    "call_on_nested": "fn gets tensors; call .apply of the nested object",
    "is_leaf": "fn gets tensors; call .apply of the nested object",
    "out": "write other.copy_(batch.apply(...))",
}
_TRANSFER = {"pseudo_rand": "tags are all the same", "consolidated": _ONE_BY_ONE}
_FILES = {
    "robust_key": "file names are always escaped",
    "archive": "a memory map is a folder; .save_safetensors writes one file",
    "compression": "files hold plain numbers, so that they can be mapped",
    "atomic": "a save always replaces whole files; durable=True also waits for the disk",
}
_LOADED = {
    "robust_key": "the metadata says how file names are escaped",
    "mode": "tensors share the files; .clone() gives some of their own",
    "subpath": "load the folder of the nested object with its own class",
    "num_threads": "files are mapped, not read",
}
_CREATED = {
    "layout": "tensors are strided",
    "pin_memory": "call .pin_memory() of the result",
    "empty_lazy": "a LazyStack is made of objects; call the method of each",
}
_CHUNKS = {
    "index_with_generator": "every chunk is cut off when its turn comes",
    "pbar": "put a progress bar around .map_iter",
}

_ROWS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "add bitwise_and clamp_max clamp_min div logical_and maximum minimum mul pow rsub sub",
        {"default": _ALL_FIELDS},
    ),
    ("apply named_apply", _APPLY),
    ("cat clamp gather lazy_stack logsumexp maybe_dense_stack norm stack where", {"out": _OUT}),
    ("lazy_stack maybe_dense_stack", {"dim": "it stacks along the first dimension; Batch.stack takes another"}),
    ("mean norm quantile std sum var", {"key_transform": "a field keeps its name; rename the keys of .to_dict()"}),
    ("max", {"return_indices": "use .amax for the values alone"}),
    ("min", {"return_indices": "use .amin for the values alone"}),
    (
        "cummax cummin",
        {"return_indices": "take .values of the result", "reduce": "put the tensors together with torch.cat first"},
    ),
    (
        "contiguous flatten gather masked_select pad pin_memory repeat repeat_interleave roll unflatten",
        {"inplace": _NEW_OBJECT},
    ),
    ("contiguous", {"canonical": "every tensor becomes contiguous"}),
    ("copy_at_", {"fast": "all fields are written, and an object that does not fit is refused"}),
    ("setdefault", {"inplace": "a field that is None has no tensor to write into"}),
    ("update", {"is_leaf": "a mapping in place of a nested object updates it, an object replaces it"}),
    ("update", {"update_batch_size": "use .replace(..., batch_size=...)"}),
    ("update", {"ignore_lock": "write into a locked object in `with batch.unlock_():`"}),
    ("update_ update_at_", {"clone": "values are copied into the tensors that are there"}),
    ("update_", {"inplace": "it always writes in place; .update exchanges tensors"}),
    ("fill_", {"key": "it fills every field; .set_(key, value) fills one"}),
    ("items keys values", {"is_leaf": _LEAVES}),
    ("exclude select", {"inplace": _FIELDS}),
    ("select", {"strict": "every key has to be there; .keys() lists them"}),
    ("select", {"as_tensordict": "use .as_tensordict().select(...)"}),
    ("pad", {"safe": "a size that does not fit is always refused"}),
    ("pin_memory", {"num_threads": "tensors are copied one after the other"}),
    ("expand reshape view", {"size": "pass the sizes by position"}),
    ("view", {"batch_size": "use .apply(lambda tensor: tensor.view(dtype))"}),
    ("where", {"pad": _ALL_FIELDS, "update_batch_size": "the result has the batch size of the object"}),
    ("new_empty new_full new_ones new_zeros", _CREATED),
    (
        "from_dataclass",
        {
            "dest_cls": "call it on that class: Batch.from_dataclass(...)",
            "as_tensorclass": "the result is of the class that it is called on",
        },
    ),
    ("tolist", {"tolist_first": "call .tolist() of the nested object"}),
    (
        "tolist",
        {
            "convert_nodes": "use .unbind() for objects",
            "convert_tensors": "every tensor becomes a list; .to_dict() of an item keeps tensors",
            "as_linked_list": "the result is a copy; write items with batch[0] = ...",
        },
    ),
    ("dumps memmap save", _FILES),
    ("memmap_", {name: _FILES[name] for name in ("robust_key", "atomic")}),
    ("memmap_like", {name: _FILES[name] for name in ("robust_key", "archive")}),
    ("load load_memmap", _LOADED),
    ("load_ load_memmap_", {name: _LOADED[name] for name in ("robust_key", "mode")}),
    ("memmap_refresh_", {"allow_pickle": "load the folder with .load_memmap_(path, allow_pickle=True)"}),
    ("map", {"out": "write other.copy_(batch.map(...))"}),
    ("map map_iter", _CHUNKS),
    ("all_reduce reduce", {"async_op": _WAITS, "bucket_bytes": _ONE_BY_ONE}),
    ("reduce", {"return_premature": _WAITS}),
    ("broadcast scatter", {"device": "the tensors of the object are written into; move it first, with .to"}),
    ("irecv recv", {"group_src": _RANKS}),
    ("isend send", {"group_dst": _RANKS}),
    ("irecv isend recv send", _TRANSFER),
    ("irecv", {"return_premature": "it never waits; .wait() of the result does"}),
    ("isend", {"return_early": "it never waits; .wait() of the result does"}),
)


def _by_method() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for methods, parameters in _ROWS:
        for method in methods.split():
            found.setdefault(method, {}).update(parameters)
    for method, names in RENAMED.items():
        found.setdefault(method, {}).update({old: f"it is called {new} here" for old, new in names.items()})
    return found


INSTEAD: dict[str, dict[str, str]] = _by_method()
"""By method and parameter, the advice that ends the sentence `Batch.sum() does not take key_transform=; ...`."""
