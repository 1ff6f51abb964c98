"""TensorClass has the operations from the start, and loads their table when one is first used.

The table and what it stands on are a fifth of what a program with a TensorClass would load, and most programs use few of them.
"""

from __future__ import annotations

from ..core.late import Late

OPERATORS = """
    add iadd radd sub isub rsub mul imul rmul truediv itruediv rtruediv floordiv ifloordiv rfloordiv mod imod rmod pow ipow
    rpow and iand rand or ior ror xor ixor rxor lshift ilshift rlshift rshift irshift rrshift eq ne lt le gt ge neg pos abs
    invert
""".split()
"""The operators, without their underscores."""

METHODS = """
    add add_ sub sub_ rsub mul mul_ div div_ mod pow pow_ maximum maximum_ minimum minimum_ clamp_min clamp_min_ clamp_max
    clamp_max_ bitwise_and logical_and addcmul addcmul_ addcdiv addcdiv_ lerp lerp_ clamp clamp_ round round_ fill_ zero_
    abs abs_ neg neg_ sign sign_ reciprocal reciprocal_ sqrt sqrt_ exp exp_ expm1 expm1_ log log_ log2 log2_ log10 log10_
    log1p log1p_ sin sin_ cos cos_ tan tan_ asin asin_ acos acos_ atan atan_ sinh sinh_ cosh cosh_ tanh tanh_ sigmoid
    sigmoid_ erf erf_ erfc erfc_ lgamma lgamma_ ceil ceil_ floor floor_ trunc trunc_ frac frac_ isfinite isnan isposinf
    isneginf isreal sum mean prod nansum nanmean std var amin amax logsumexp min max all any norm quantile cumsum cumprod
    cummin cummax softmax reshape view flatten unflatten permute transpose swapaxes swapdims movedim moveaxis squeeze
    unsqueeze expand expand_as broadcast_to atleast_1d atleast_2d atleast_3d repeat tile repeat_interleave roll flip fliplr
    flipud rot90 pad split chunk unbind tensor_split narrow gather masked_select masked_fill masked_fill_ where new_zeros
    new_ones new_empty new_full float double half bfloat16 float16 float32 float64 complex64 complex128 int int8 int16 int32
    int64 uint8 bool clone detach detach_ contiguous
""".split()

CLASS_METHODS = "stack cat zeros_like ones_like empty_like full_like rand_like randn_like __torch_function__".split()


def bind(cls: type) -> None:
    """Give TensorClass the operations."""
    for name in (*METHODS, *(f"__{operator}__" for operator in OPERATORS)):
        Late("operations.bound").put(cls, name)
    for name in CLASS_METHODS:
        Late("operations.bound", on_class=True).put(cls, name)
    cls.__hash__ = None  # type: ignore[assignment] # as a class statement with `__eq__` has it
