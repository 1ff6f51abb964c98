"""Tables of names that a field cannot have, because every instance has an attribute of that name.

The tables are written by hand, because rules do not import the runtime. A test compares them with the classes.
"""

ALWAYS = frozenset({"batch_size", "device", "lock", "names"})
"""Reserved in a TensorClass even with the flag `shadow`: constructor arguments of every class."""

FREE = frozenset({"accepts", "data", "depth"})
"""Public members of `TensorClass` whose place a field may take, because batches often have a field of that name."""

TENSORCLASS = ALWAYS | frozenset(
    """
    abs abs_ acos acos_ add add_ addcdiv addcdiv_ addcmul addcmul_ all all_gather amax amin any apply asin asin_ atan
    atan_ atleast_1d atleast_2d atleast_3d auto_batch_size_ auto_device_ backward batch_dims bfloat16 bitwise_and bool
    broadcast broadcast_to cat ceil ceil_ chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clear_device_
    clone complex128 complex64 contiguous copy copy_ copy_at_ cos cos_ cosh cosh_ cpu cuda cummax cummin cumprod
    cumsum detach detach_ dim div div_ double dtype dumps empty_like erf erf_ erfc erfc_ exclude exp exp_ expand
    expand_as expm1 expm1_ fill_ flatten flip fliplr flipud float float16 float32 float64 floor floor_ frac frac_
    from_dataclass from_dict from_namedtuple from_numpy from_tensordict full_like gather get get_at grad half int
    int16 int32 int64 int8 is_contiguous is_cpu is_cuda is_empty is_floating_point is_locked is_memmap is_meta
    is_shared isfinite isnan isneginf isposinf isreal items keys lazy_stack lerp lerp_ lgamma lgamma_ load load_
    load_memmap load_memmap_ load_safetensors load_state_dict lock_ log log10 log10_ log1p log1p_ log2 log2_ log_
    logical_and logsumexp masked_fill masked_fill_ masked_select max maximum maximum_ maybe_dense_stack mean memmap
    memmap_ memmap_like memmap_refresh_ min minimum minimum_ mod moveaxis movedim mul mul_ named_apply nanmean nansum
    narrow ndim neg neg_ new_empty new_full new_ones new_zeros norm numel numpy ones_like pad param_count permute
    pin_memory pop pow pow_ prod quantile rand_like randn_like reciprocal reciprocal_ record_stream recv refine_names
    rename rename_ repeat repeat_interleave replace requires_grad requires_grad_ reshape roll rot90 round round_ rsub
    save save_safetensors saved_path select send set set_ set_at_ setdefault shape share_memory_ sigmoid sigmoid_ sign
    sign_ sin sin_ sinh sinh_ size softmax sorted_keys split sqrt sqrt_ squeeze stack state_dict std sub sub_ sum
    swapaxes swapdims tan tan_ tanh tanh_ tensor_split tile to to_dict to_tensordict tolist transpose trunc trunc_
    uint8 unbind unflatten unlock_ unsqueeze update update_ update_at_ values var view vmap vmap_dims where zero_
    zero_grad zeros_like
    """.split()
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
