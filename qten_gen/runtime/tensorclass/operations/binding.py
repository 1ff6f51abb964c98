"""The names that TensorClass has from the start: the operations, whose table is loaded when one is first used, and absent ones.

The table and what it stands on are a fifth of what a program with a TensorClass would load, and most programs use few of them.

A name of tensordict that is not here says what to use instead. It is a descriptor that raises AttributeError, on a base
behind TensorClass. A `__getattr__` would be shorter, but Python then looks every attribute up in the slow way, also those that
exist: twice the time for a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Never

from ..core import late

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
        late.Late(cls, name, "operations.bound")
    for name in CLASS_METHODS:
        late.Late(cls, name, "operations.bound", on_class=True)
    cls.__hash__ = None  # type: ignore[assignment] # as a class statement with `__eq__` has it


OF_TENSORDICT = """
    apply_ arecv as_tensor asend attrs bytes cat_from_tensordict cat_tensors clear clear_refs_for_compile_ complex32
    consolidate create_nested data_ptr del_ densify empty entry_class extend fields filter_empty_
    filter_non_tensor_data flatten_keys from_any from_consolidated from_csv from_dict_instance from_h5 from_json
    from_list from_module from_modules from_pandas from_parquet from_pytree from_remote_init from_schema
    from_struct_array from_tuple from_zarr fromkeys get_item_shape get_non_tensor init_remote is_consolidated
    is_non_tensor make_memmap make_memmap_from_storage make_memmap_from_tensor ndimension new_tensor
    non_tensor_items pack pin_memory_ popitem qint32 qint8 quint4x2 quint8 rename_key_ rename_keys separates
    set_non_tensor split_keys stack_from_tensordict stack_tensors to_csv to_h5 to_json to_lazystack to_mds to_module
    to_namedtuple to_padded_tensor to_pandas to_parquet to_pytree to_store to_struct_array to_zarr type uint16
    uint32 uint64 unflatten_keys
""".split()
"""Members of tensordict's TensorClass that are not here; `tensordict_alternatives.py` has the advice."""


class Absent:
    """An attribute of another library that is missing here. A field, or a member of a user class, may have its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Never:
        from .tensordict_alternatives import INSTEAD

        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}; {INSTEAD[self.name]}")


def present(cls: type, names: Iterable[str]) -> list[str]:
    """The names that do not stand for something absent, for `dir`, after which tools ask for signatures and documentation."""
    late.put_all_in_place()
    return [name for name in names if not isinstance(_found(cls, name), Absent)]


def _found(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


class WithAdvice:
    """The base that has the names."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return present(type(self), super().__dir__())


for _name in OF_TENSORDICT:
    setattr(WithAdvice, _name, Absent(_name))
