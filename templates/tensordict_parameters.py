"""Parameters that tensordict's methods take and those of the same name here do not, for `docs/from-tensordict.md`.

A test compares them with tensordict's.
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
    "recv": {"init_tag": "tag"},
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

_ROWS: tuple[tuple[str, str], ...] = (
    (
        "add bitwise_and clamp_max clamp_min div logical_and maximum minimum mul pow rsub sub apply named_apply",
        "default",
    ),
    ("apply named_apply", "filter_empty call_on_nested"),
    ("apply named_apply update items keys values", "is_leaf"),
    ("apply named_apply cat clamp gather logsumexp norm stack where", "out"),
    ("contiguous flatten gather masked_select pad pin_memory repeat repeat_interleave roll unflatten", "inplace"),
    ("exclude select setdefault update_", "inplace"),
    ("norm mean quantile std sum var", "key_transform"),
    ("where", "pad"),
    ("where update", "update_batch_size"),
    ("max min cummax cummin", "return_indices"),
    ("cummax cummin", "reduce"),
    ("contiguous", "canonical"),
    ("pad", "safe"),
    ("pin_memory load load_memmap", "num_threads"),
    ("copy_at_", "fast"),
    ("update", "ignore_lock"),
    ("update_ update_at_", "clone"),
    ("fill_", "key"),
    ("select", "strict as_tensordict"),
    ("expand reshape view", "size"),
    ("view", "batch_size"),
    ("new_empty new_full new_ones new_zeros", "layout pin_memory empty_lazy"),
    ("from_dataclass", "dest_cls as_tensorclass"),
    ("tolist", "tolist_first convert_nodes convert_tensors as_linked_list"),
    ("dumps memmap save memmap_ memmap_like load load_memmap load_ load_memmap_", "robust_key"),
    ("dumps memmap save memmap_like", "archive"),
    ("dumps memmap save", "compression"),
    ("dumps memmap save memmap_", "atomic"),
    ("load load_memmap load_ load_memmap_", "mode"),
    ("load load_memmap", "subpath"),
    ("dumps memmap save memmap_ memmap_like", "return_early"),
    ("load load_memmap load_ load_memmap_ memmap_refresh_", "allow_pickle"),
    ("pack", "dim layout"),
    ("broadcast", "device"),
    ("recv", "group_src"),
    ("recv send", "pseudo_rand consolidated"),
    ("send", "group_dst"),
)
"""Methods, and the parameters that are missing in each."""


def _by_method() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for methods, parameters in _ROWS:
        for method in methods.split():
            found.setdefault(method, set()).update(parameters.split())
    return found


MISSING: dict[str, set[str]] = _by_method()
"""The missing parameters by method."""
