"""The names of the operations. Made of the table in `runtime/tensorclass/operations` by `make generate`."""

METHODS = """
    __abs__ __add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imod__
    __imul__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__ __le__ __lshift__ __lt__ __mod__
    __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__
    __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __xor__ abs abs_ acos acos_ add
    add_ addcdiv addcdiv_ addcmul addcmul_ all amax amin any asin asin_ atan atan_ atleast_1d atleast_2d atleast_3d
    bfloat16 bitwise_and bool broadcast_to ceil ceil_ chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clone
    complex128 complex64 contiguous cos cos_ cosh cosh_ cummax cummin cumprod cumsum detach detach_ div div_ double erf
    erf_ erfc erfc_ exp exp_ expand expand_as expm1 expm1_ fill_ flatten flip fliplr flipud float float16 float32
    float64 floor floor_ frac frac_ gather half int int16 int32 int64 int8 isfinite isnan isneginf isposinf isreal lerp
    lerp_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ logical_and logsumexp masked_fill masked_fill_
    masked_select max maximum maximum_ mean min minimum minimum_ mod moveaxis movedim mul mul_ nanmean nansum narrow neg
    neg_ new_empty new_full new_ones new_zeros norm pad permute pow pow_ prod quantile reciprocal reciprocal_ repeat
    repeat_interleave reshape roll rot90 round round_ rsub sigmoid sigmoid_ sign sign_ sin sin_ sinh sinh_ softmax split
    sqrt sqrt_ squeeze std sub sub_ sum swapaxes swapdims tan tan_ tanh tanh_ tensor_split tile transpose trunc trunc_
    uint8 unbind unflatten unsqueeze var view where zero_
""".split()
"""The methods of objects."""

CLASS_METHODS = """
    cat empty_like full_like ones_like rand_like randn_like stack zeros_like
""".split()
"""The methods of the class: `Batch.stack`."""

OF_TENSORDICT = """
    all_reduce apply_ arecv as_tensor asend attrs bytes cat_from_tensordict cat_tensors clear clear_refs_for_compile_
    complex32 consolidate create_nested data_ptr del_ densify empty entry_class extend fields filter_empty_
    filter_non_tensor_data flatten_keys from_any from_consolidated from_csv from_dict_instance from_h5 from_json
    from_list from_module from_modules from_pandas from_parquet from_pytree from_remote_init from_schema
    from_struct_array from_tuple from_zarr fromkeys gather_and_stack get_item_shape get_non_tensor init_remote irecv
    is_consolidated is_non_tensor isend lazy_stack make_memmap make_memmap_from_storage make_memmap_from_tensor map
    map_iter maybe_dense_stack ndimension new_tensor non_tensor_items pin_memory_ popitem qint32 qint8 quint4x2 quint8
    reduce rename_key_ rename_keys scatter separates set_non_tensor split_keys stack_from_tensordict stack_tensors
    to_csv to_h5 to_json to_lazystack to_mds to_module to_namedtuple to_padded_tensor to_pandas to_parquet to_pytree
    to_store to_struct_array to_zarr type uint16 uint32 uint64 unflatten_keys
""".split()
"""Members of tensordict's TensorClass that are not here; an error has advice for each."""
