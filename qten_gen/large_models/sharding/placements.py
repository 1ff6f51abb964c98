"""Parts of tensors, and which one a process holds, from its mesh and placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING, TypeGuard

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.placement_types import Placement

    Placements = Mapping[str, Sequence[Placement] | Placement | None]
    """For qualified names of tensors, or patterns of them, one placement for each dimension of the mesh; None for a tensor that
    every process holds whole as a plain tensor.
    """


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


Runs = tuple[tuple[int, int], ...]
"""Indices of a dimension that a process holds, as first index and the one after the last of each run."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a tensor, and where it stands in the local tensor of a process."""

    part: Part
    local: Part


def is_distributed(tensor: Tensor) -> TypeGuard[DTensor]:
    """Whether a tensor is a DTensor. Asking imports nothing."""
    from sys import modules

    module = modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def shares_of(tensor: DTensor) -> tuple[Share, ...]:
    """The parts of a DTensor that this process holds: one, unless `_StridedShard` interleaves them; none outside the mesh.

    Raises:
        ValueError: a placement has no initial values, such as Partial, or is of a kind that is not known.
    """
    mesh = tensor.device_mesh
    coordinate = mesh.get_coordinate()
    return () if coordinate is None else tuple(shares(tensor.shape, mesh.shape, coordinate, tensor.placements))


def write_part(tensor: Tensor, value: Tensor) -> None:
    """Write the part of a whole value that this process holds into a DTensor."""
    assert is_distributed(tensor)
    local = tensor.to_local()
    for share in shares_of(tensor):
        local[slices(share.local)].copy_(value[slices(share.part)])


def shares(
    shape: Sequence[int], mesh: Sequence[int], coordinate: Sequence[int], placements: Sequence[Placement]
) -> Iterator[Share]:
    """The parts of a tensor that the process at a coordinate of a mesh holds."""
    runs: list[Runs] = [((0, extent),) for extent in shape]
    for position, size, placement in zip(coordinate, mesh, placements, strict=True):
        if not placement.is_replicate():
            dim, factor = _sharded(placement)
            runs[dim] = _chunk(runs[dim], size, position, factor)
    yield from _combined(runs)


def _sharded(placement: Placement) -> tuple[int, int]:
    """The dimension that a placement cuts, and how many pieces others cut it into before: 1, but for `_StridedShard`."""
    from torch.distributed.tensor import Shard

    dim = getattr(placement, "dim", None)
    factor = getattr(placement, "split_factor", 1)
    known = type(placement) is Shard or type(placement).__name__ == "_StridedShard"
    if not known or not isinstance(dim, int) or not isinstance(factor, int):
        raise ValueError(f"a tensor placed as {placement!r} has no initial values; expected Shard or Replicate")
    return dim, factor


def _chunk(runs: Runs, count: int, position: int, factor: int = 1) -> Runs:
    """The result of `torch.chunk` for the process at `position` of `count`; of each of `factor` chunks, if there are several."""
    numel = sum(stop - start for start, stop in runs)
    found: list[tuple[int, int]] = []
    for first, last in (_bounds(numel, factor, each) for each in range(factor)):
        start, stop = _bounds(last - first, count, position)
        found.extend(_between(runs, first + start, first + stop))
    return _joined(found)


def _bounds(numel: int, count: int, position: int) -> tuple[int, int]:
    size = -(-numel // count)
    return min(position * size, numel), min((position + 1) * size, numel)


def _between(runs: Runs, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The indices at the places `low` to `high` of the runs."""
    before = 0
    for start, stop in runs:
        first, last = max(low - before, 0), min(high - before, stop - start)
        if first < last:
            yield start + first, start + last
        before += stop - start


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    joined: list[tuple[int, int]] = []
    for start, stop in runs:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], stop
        else:
            joined.append((start, stop))
    return tuple(joined)


def _combined(runs: Sequence[Runs]) -> Iterator[Share]:
    """Each combination of runs, with its place in the tensor that has the runs of each dimension one after the other."""
    placed = []
    for of_dimension in runs:
        at, spans = 0, []
        for start, stop in of_dimension:
            spans.append(((start, stop), (at, at + stop - start)))
            at += stop - start
        placed.append(spans)
    for combination in product(*placed):
        yield Share(tuple(part for part, _ in combination), tuple(local for _, local in combination))


def on_mesh(tensor: Tensor, mesh: DeviceMesh, placements: Sequence[Placement]) -> DTensor:
    """A DTensor on meta in place of a plain tensor on meta."""
    from torch.distributed.tensor import distribute_tensor

    whole = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return distribute_tensor(whole, mesh, tuple(placements), src_data_rank=None)


def chosen(
    names: Mapping[str, Sequence[str]],
    tensors: Mapping[str, Tensor],
    mesh: DeviceMesh,
    placements: Placements | None,
) -> dict[str, tuple[Placement, ...] | None]:
    """The placements of each tensor, by its qualified name; None for one that stays plain.

    A name counts before patterns, and patterns in their order; a tensor that none of them names is replicated, as
    `distribute_module` does. Tensors that are DTensors already keep their placements and are left out.

    Args:
        names: All names of each tensor; several for a tie.
        tensors: The tensors on meta.
        mesh: The mesh to place them on.
        placements: What the user asks for.

    Raises:
        ValueError: a placement does not fit; the message lists every one.
    """
    from torch.distributed.tensor import Replicate

    wanted = dict(placements or {})
    unused = set(wanted)
    problems: list[str] = []
    found: dict[str, tuple[Placement, ...] | None] = {}
    for name, tensor in tensors.items():
        keys = [_key(each, wanted) for each in names[name]]
        unused -= {key for key in keys if key is not None}
        unused -= {pattern for pattern in unused if any(fnmatchcase(each, pattern) for each in names[name])}
        asked = {key: wanted[key] for key in keys if key is not None}
        if is_distributed(tensor):
            problems.extend(f"{key!r}: {name} is a DTensor already, which keeps its placements" for key in asked)
            continue
        if not asked:
            found[name] = (Replicate(),) * mesh.ndim
            continue
        fitting = [_fitting(key, value, name, tensor, mesh, problems) for key, value in asked.items()]
        if any(other != fitting[0] for other in fitting[1:]):
            problems.append(
                f"{', '.join(map(repr, asked))}: they place {name}, one tensor under several names, differently"
            )
        found[name] = fitting[0]
    problems.extend(f"{key!r}: no parameter or buffer has such a name" for key in sorted(unused))
    if problems:
        raise ValueError("\n    ".join(["placements do not fit:", *problems]))
    return found


def _key(name: str, placements: Mapping[str, object]) -> str | None:
    """The name or the first pattern that names a tensor."""
    if name in placements:
        return name
    return next((pattern for pattern in placements if fnmatchcase(name, pattern)), None)


def _fitting(
    key: str,
    value: Sequence[Placement] | Placement | None,
    name: str,
    tensor: Tensor,
    mesh: DeviceMesh,
    problems: list[str],
) -> tuple[Placement, ...] | None:
    """The placements of a tensor with dimensions counted from the front. What does not fit goes to `problems`."""
    from torch.distributed.tensor import Shard
    from torch.distributed.tensor.placement_types import Placement

    if value is None:
        return None
    given = (value,) if isinstance(value, Placement) else tuple(value)
    if len(given) != mesh.ndim:
        problems.append(
            f"{key!r}: expected {mesh.ndim} placements, one for each dimension of the mesh, got {len(given)}"
        )
        return given
    found: list[Placement] = []
    for placement in given:
        if placement.is_replicate():
            found.append(placement)
        elif type(placement) is not Shard:
            problems.append(f"{key!r}: expected Shard or Replicate, got {placement!r}")
        elif not -tensor.ndim <= placement.dim < tensor.ndim:
            problems.append(
                f"{key!r}: {placement!r} has no dimension to cut in {name}, whose shape is {list(tensor.shape)}"
            )
        else:
            found.append(Shard(placement.dim % tensor.ndim))
    return tuple(found)
