"""Functions of torch that take parameters, tensors with gradients of their own, and would take an object for one.

They ask no `__torch_function__`. What they read of an object is all that tells: clipping would find nothing to clip, and
`parameters_to_vector` would give an object in place of a vector.
"""

from __future__ import annotations

import sys

from . import late

_MODULES = frozenset(("torch.nn.utils.clip_grad", "torch.nn.utils.convert_parameters"))


def refuse_as_parameters(self: object) -> None:
    """Raise the error of an object among parameters, where one of those functions called what calls this.

    Raises:
        TypeError: it did.
    """
    frame = sys._getframe(2)
    if frame.f_globals is vars(late) and frame.f_back is not None:  # the first call of a method
        frame = frame.f_back
    if frame.f_globals.get("__name__") not in _MODULES:
        return
    while frame.f_code.co_name.startswith("<") and frame.f_back is not None:  # a comprehension, up to Python 3.11
        frame = frame.f_back
    name = frame.f_code.co_name
    raise TypeError(
        f"{name.lstrip('_')} takes tensors, got {type(self).__name__}; in its place, pass the tensors in it: "
        "batch.values(include_nested=True, leaves_only=True)"
    )
