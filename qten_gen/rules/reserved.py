"""Names that a field cannot have, because every instance has them already.

Kept by hand, because rules do not import the runtime; a test compares the tables with it.
"""

ALWAYS = frozenset({"batch_size", "device", "lock", "names"})
"""Reserved in a TensorClass even with the flag `shadow`: constructor arguments of every class."""

TENSORCLASS = ALWAYS | frozenset(
    """
    all_gather all_reduce apply bfloat16 broadcast cat chunk clone contiguous cpu cuda detach double expand flatten
    float from_dataclass from_dict from_namedtuple from_numpy from_tensordict gather_and_stack get half irecv is_locked
    isend items keys lock_ numpy permute pin_memory recv reduce refine_names rename rename_ replace requires_grad
    requires_grad_ reshape scatter select send set split squeeze stack to to_dict to_tensordict tolist transpose unbind
    unflatten unlock_ unsqueeze update values view vmap_dims
    """.split()
)
"""Public members of `TensorClass`."""

MODULE = frozenset(
    """
    T_destination add_module allows apply bfloat16 buffers call_super_init children compile config cpu cuda device
    double dtype dump_patches eval export export_all extra_repr float forward freeze from_config get_applicable_types
    get_buffer get_extra_state get_parameter get_submodule gpu half invoke ipu load_state_dict migrate modules mtia
    named_buffers named_children named_modules named_parameters parameters register register_backward_hook
    register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
    register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ reset_parameters
    set_extra_state set_submodule share_memory state_dict to to_device to_empty train training type unfreeze version xpu
    zero_grad
    """.split()
)
"""Public members of `Module`: those of `torch.nn.Module` and its instances, those of qten_gen, and constructor arguments."""
