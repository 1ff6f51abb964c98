"""Finding tensors wherever Python objects hold them, and replacing them there."""

from __future__ import annotations

from collections import OrderedDict, deque
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
_CONTAINERS = frozenset({dict, list, tuple, set, OrderedDict})
"""The types of most values: leaves, and containers, most of which are empty: a module without hooks has a dozen."""

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
    kind = type(value)
    if value is None or kind in _LEAVES or (kind in _CONTAINERS and not value):
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
        for key, value in list(holder.items()):
            if (new := _replaced(value, visit, waiting)) is not value:
                holder[key] = new
        keys: dict[object, object] = {key: _replaced(key, visit, []) for key in holder if not isinstance(key, str)}
        if any(new is not old for old, new in keys.items()):
            entries = [(keys.get(key, key), value) for key, value in holder.items()]
            holder.clear()
            holder.update(entries)
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
