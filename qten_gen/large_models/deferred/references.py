"""Finding tensors wherever Python objects hold them, and replacing them there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TypeAlias, cast

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

Visit: TypeAlias = Callable[[Tensor], Tensor]
"""Is given each tensor that is found, and says what is to stand in its place."""

_LEAVES = frozenset({str, int, float, bool})
"""The types of most values."""

_WITHOUT_TENSORS = (
    *(str, bytes, int, float, complex, type(None), type, ModuleType, BuiltinFunctionType),
    *(torch.device, torch.dtype, FakeTensorMode),
)
"""Objects that hold no tensors of the program. The mode of a fake tensor holds what was recorded."""


def replace_tensors(roots: Iterable[object], visit: Visit, passed: dict[int, object]) -> None:
    """Visit every tensor that can be reached from roots, and put what the visit returns in its place.

    Looks into attributes, lists, tuples, dictionaries, sets, partial functions, closures and defaults of functions, and the
    objects of methods. Objects in `passed`, by id, are left out; what was looked into is added.
    """
    waiting = list(roots)
    while waiting:
        holder = waiting.pop()
        if id(holder) not in passed:
            passed[id(holder)] = holder  # kept, so that no other object gets its id
            _visit_held(holder, visit, waiting)


def _replaced(value: object, visit: Visit, waiting: list[object]) -> object:
    """The replacement of a value; objects that have to be looked into further are added to `waiting`."""
    if value is None or type(value) in _LEAVES:
        return value
    if isinstance(value, Tensor):
        value = visit(value)
    elif isinstance(value, (tuple, frozenset)):
        parts = [_replaced(part, visit, waiting) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        made = cast("Callable[..., object]", type(value))
        return made(*parts) if hasattr(made, "_fields") else made(parts)
    elif isinstance(value, partial):
        if (args := _replaced(value.args, visit, waiting)) is not value.args:
            value.__setstate__((value.func, args, value.keywords, vars(value)))  # type: ignore[attr-defined] # not in typeshed
        waiting += [value.func, value.keywords]
        return value
    if not isinstance(value, _WITHOUT_TENSORS):
        waiting.append(value)
    return value


def _visit_held(holder: object, visit: Visit, waiting: list[object]) -> None:
    """Replace what one object holds directly."""
    if isinstance(holder, dict):
        entries = [(_replaced(key, visit, []), _replaced(value, visit, waiting)) for key, value in holder.items()]
        if any(new is not old for (new, _), old in zip(entries, holder, strict=True)):
            holder.clear()
        for key, value in entries:
            if key not in holder or holder[key] is not value:
                holder[key] = value
    elif isinstance(holder, (list, deque)):
        for index, value in enumerate(holder):
            if (new := _replaced(value, visit, waiting)) is not value:
                holder[index] = new
    elif isinstance(holder, set):
        replaced = {_replaced(value, visit, waiting) for value in holder}
        if set(map(id, replaced)) != set(map(id, holder)):
            holder.clear()
            holder |= replaced
    elif isinstance(holder, FunctionType):
        for cell in holder.__closure__ or ():
            with suppress(ValueError):  # the variable has no value
                cell.cell_contents = _replaced(cell.cell_contents, visit, waiting)
        holder.__defaults__ = _replaced(holder.__defaults__, visit, waiting)  # type: ignore[assignment] # a tuple or None
        waiting.append(holder.__kwdefaults__)
    elif isinstance(holder, MethodType):
        waiting.append(holder.__self__)
    else:
        attributes = getattr(holder, "__dict__", None)
        if isinstance(attributes, dict):
            waiting.append(attributes)
        for made in type(holder).__mro__:
            slots = made.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                value = getattr(holder, name, None)
                new = _replaced(value, visit, waiting)
                if new is not value:
                    object.__setattr__(holder, name, new)
