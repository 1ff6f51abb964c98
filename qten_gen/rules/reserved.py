"""Tables of names that a field cannot have, because every instance has an attribute of that name.

All but the names of operations are written by hand, because rules do not import the runtime. A test compares them with the
classes.
"""

from ..common.operation_names import CLASS_METHODS, METHODS

ALWAYS = frozenset({"batch_size", "device", "lock", "names"})
"""Reserved in a TensorClass even with the flag `shadow`: constructor arguments of every class."""

FREE = frozenset({"accepts", "data", "depth"})
"""Public members of `TensorClass` whose place a field may take, because batches often have a field of that name."""

_OPERATIONS = frozenset(name for name in (*METHODS, *CLASS_METHODS) if not name.startswith("__"))

TENSORCLASS = (
    ALWAYS
    | _OPERATIONS
    | frozenset(
        """
    all_gather apply auto_batch_size_ auto_device_ backward batch_dims broadcast clear_device_ copy copy_ copy_at_
    cpu cuda dim dtype dumps exclude from_dataclass from_dict from_namedtuple from_numpy from_tensordict get get_at
    grad is_contiguous is_cpu is_cuda is_empty is_floating_point is_locked is_memmap is_meta is_shared items keys
    lazy_stack load load_ load_memmap load_memmap_ load_safetensors load_state_dict lock_ maybe_dense_stack memmap
    memmap_ memmap_like memmap_refresh_ named_apply ndim numel numpy param_count pin_memory pop record_stream recv
    refine_names rename rename_ replace requires_grad requires_grad_ save save_safetensors saved_path select send
    set set_ set_at_ setdefault shape share_memory_ size sorted_keys state_dict to to_dict to_tensordict tolist
    unlock_ update update_ update_at_ values vmap vmap_dims zero_grad
        """.split()
    )
)
"""Public members of `TensorClass`, without the `FREE` ones."""

MODULE = frozenset(
    """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda device double dtype
    dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu
    load_state_dict migrate modules mtia named_buffers named_children named_modules named_parameters on_meta
    parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ reset_parameters set_extra_state set_submodule share_memory
    state_dict to to_empty train training type version xpu zero_grad
    """.split()
)
"""Public members of `Module` whose names a field cannot have: those of `torch.nn.Module` and its instances, constructor
arguments, and those that generated code or loading a state dict depends on."""

GIVING_WAY = frozenset(
    """
    allows dynamic_shapes export export_all freeze from_config get_applicable_types get_config gpu invoke kept_names
    materialize optimizer_groups register to_device unfreeze
    """.split()
)
"""The other public members of `Module`. A field takes the place of one."""
