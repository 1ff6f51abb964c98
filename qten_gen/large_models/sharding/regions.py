"""Parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence

Part = tuple[tuple[int, int], ...]
"""For each dimension of a tensor the first index of the part, and the one after its last."""


def whole(size: Sequence[int]) -> Part:
    """The part that is the whole tensor."""
    return tuple((0, extent) for extent in size)


def size_of(part: Part) -> tuple[int, ...]:
    """The size of a part."""
    return tuple(stop - start for start, stop in part)


def slices(part: Part) -> tuple[slice, ...]:
    """The index that takes the part of a tensor."""
    return tuple(slice(start, stop) for start, stop in part)
