"""Steps that read or write items: indexes of every form, and assignment to what they select."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from .plain import Names, Plain, arranged, positions, written
from .steps import CLONE, OTHER, Step, over


def index(draw: st.DrawFn, size: tuple[int, ...]) -> Any:
    """Any index along batch dimensions of these sizes; now and then one that is out of range or has too many parts."""
    parts: list[Any] = []
    left = list(size)
    while left and draw(st.sampled_from([True, True, True, False])):
        if len(left) > 1 and not draw(st.integers(0, 5)):
            parts.append(_mask(draw, (left.pop(0), left.pop(0))))
        else:
            parts.append(_part(draw, left.pop(0)))
    extra: list[list[Any]] = [[], [], [], [None], [...], [None, ...], [0], [True], [False], [..., True]]
    for one in draw(st.sampled_from(extra)):
        parts.insert(draw(st.integers(0, len(parts))), one)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


def _part(draw: st.DrawFn, length: int) -> Any:
    """What one dimension can be indexed with."""
    kind = draw(
        st.sampled_from(["position", "position", "slice", "slice", "mask", "tensor", "list", "range", "single"])
    )
    place = st.integers(-length, length - 1) if length else st.just(0)
    several = draw(st.lists(place, min_size=1 if length else 0, max_size=2 if length else 0))
    match kind:
        case "position":
            return draw(st.integers(-length - 1, length) if not draw(st.integers(0, 7)) else place)
        case "slice":
            ends = st.none() | st.integers(-length - 1, length + 1)
            return slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2])))
        case "mask":
            found = _mask(draw, (length,))
            return found.tolist() if length and draw(st.booleans()) else found
        case "tensor":
            made = torch.tensor(several, dtype=draw(st.sampled_from([torch.int64, torch.int64, torch.int32])))
            return made[:, None] if draw(st.booleans()) else made
        case "list":
            return several
        case "range":
            return range(length)
    return torch.tensor(draw(place))


def _mask(draw: st.DrawFn, size: tuple[int, ...]) -> Tensor:
    return (positions(size) * draw(st.integers(1, 5))) % 3 == 0


def as_torch_takes_it(found: Any) -> Any:
    """The index for a tensor, which takes no range, and no empty list for one of positions."""
    if isinstance(found, tuple):
        return tuple(as_torch_takes_it(one) for one in found)
    return (
        torch.tensor(list(found), dtype=None if found else torch.int64) if isinstance(found, (list, range)) else found
    )


def _names(plain: Plain, found: Any) -> Names | None:
    """The names that an index of positions, slices and None leaves; of others the oracle does not know."""
    names = list((plain.names or {}).get((), (None,) * plain.n))
    parts = list(found) if isinstance(found, tuple) else [found]
    if not all(one is None or one is ... or type(one) in (int, slice) for one in parts):
        return None
    kept: list[str | None] = []
    if ... in parts:
        at = parts.index(...)
        used = sum(one is not None and one is not ... for one in parts)
        parts[at : at + 1] = [slice(None)] * (len(names) - used)
    for one in parts:
        name = None if one is None else names.pop(0)
        kept += [] if isinstance(one, int) else [name]
    return (*kept, *names)


def getitem(draw: st.DrawFn, plain: Plain) -> Step:
    given = index(draw, plain.batch_size)
    found = as_torch_takes_it(given)

    def expected(before: Plain, other: Plain) -> Plain:
        out = arranged(before, lambda places: places[found])
        names = _names(before, given)
        out.names = None if names is None else {(): names}
        return out

    return Step("__getitem__", expected, (given,))


def setitem(draw: st.DrawFn, plain: Plain) -> Step:
    """A number, a tensor over the items, or an object goes into some items."""
    given = index(draw, plain.batch_size)
    found = as_torch_takes_it(given)
    kind = draw(st.sampled_from(["number", "tensor", OTHER, CLONE]))
    if kind == "number":
        return _writing(given, found, 1)
    if kind == "tensor":
        try:
            size = tuple(positions(plain.batch_size)[found].shape)
        except (IndexError, RuntimeError):
            size = ()
        return _writing(given, found, over(draw, size, torch.int64))

    def source(value: Any, second: Any) -> Any:
        return second.flip(0) if plain.n else second

    def turned(other: Plain) -> Plain:
        return arranged(other, lambda places: places.flip(0)) if plain.n else other

    return Step(
        "__setitem__",
        lambda before, other: written(
            before, lambda places: places[found], arranged(turned(other), lambda places: places[found])
        ),
        (given, kind),
        writes=True,
        run=lambda value, second: value.__setitem__(given, source(value, second)[given]),
    )


def _writing(given: Any, found: Any, value: Tensor | float) -> Step:
    return Step(
        "__setitem__",
        lambda before, other: written(before, lambda places: places[found], value),
        (given, value),
        writes=True,
    )


BY_NAME = {"__getitem__": getitem, "__setitem__": setitem}
