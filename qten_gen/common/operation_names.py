"""The names of the operations. Made of the table in `runtime/tensorclass/operations` by `make generate`."""

METHODS = """
    __abs__ __add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imod__
    __imul__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__ __le__ __lshift__ __lt__ __mod__
    __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__
    __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __xor__ all any bfloat16 bool
    chunk clone complex128 complex64 contiguous detach detach_ double expand fill_ flatten flip float float16 float32
    float64 gather half int int16 int32 int64 int8 masked_fill masked_fill_ movedim new_empty new_full new_ones
    new_zeros pad permute repeat repeat_interleave reshape roll split squeeze transpose uint8 unbind unflatten unsqueeze
    view where zero_
""".split()
"""The methods of objects."""

CLASS_METHODS = """
    cat empty_like full_like ones_like rand_like randn_like stack zeros_like
""".split()
"""The methods of the class: `Batch.stack`."""
