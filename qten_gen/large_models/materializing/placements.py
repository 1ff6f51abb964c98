"""Parts of tensors: which one a process holds, and whether the processes of a mesh have the same model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import torch
from torch import Tensor

from ... import __version__

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Shard
    from torch.distributed.tensor.placement_types import Placement


Part = tuple[tuple[int, int], ...]
"""For each dimension of a tensor the first index of the part, and the one after its last."""


def slices(part: Part) -> tuple[slice, ...]:
    """The index that takes the part of a tensor."""
    return tuple(slice(start, stop) for start, stop in part)


def is_distributed(tensor: Tensor) -> TypeGuard[DTensor]:
    """Return whether a tensor is a DTensor. Asking imports nothing."""
    from sys import modules

    module = modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def shares_of(tensor: DTensor) -> list[tuple[Part, Part]]:
    """The parts of a DTensor that this process holds, each with its place in the local tensor.

    There is one, unless `_StridedShard` interleaves them; none outside the mesh.

    Raises:
        ValueError: a placement has no initial values, such as Partial, or is of a kind that is not known.
    """
    coordinate = tensor.device_mesh.get_coordinate()
    if coordinate is None:
        return []
    held = [torch.arange(extent, device="cpu") for extent in tensor.shape]
    for position, size, placement in zip(coordinate, tensor.device_mesh.shape, tensor.placements, strict=True):
        if not placement.is_replicate():
            dim, along = _along(placement)
            held[dim] = along._split_tensor(held[dim], size, with_padding=False)[0][position]
    return [(tuple(p for p, _ in each), tuple(q for _, q in each)) for each in product(*map(_runs, held))]


def _along(placement: Placement) -> tuple[int, Shard]:
    """The dimension that a placement cuts, and the placement that cuts the indices of this dimension."""
    from torch.distributed.tensor import Shard

    if type(placement) is Shard:
        return placement.dim, Shard(0)
    if type(placement).__name__ == "_StridedShard":
        of_indices: Any = type(placement)
        return cast(Any, placement).dim, of_indices(0, split_factor=cast(Any, placement).split_factor)
    raise ValueError(f"a tensor placed as {placement!r} has no initial values; expected Shard or Replicate")


def _runs(indices: Tensor) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The runs of consecutive indices, each with its place among them."""
    if not len(indices):
        return []
    starts = [0, *((indices.diff() != 1).nonzero().flatten() + 1).tolist(), len(indices)]
    firsts = indices.tolist()
    return [((firsts[at], firsts[at] + end - at), (at, end)) for at, end in pairwise(starts)]


def write_part(tensor: Tensor, value: Tensor) -> None:
    """Write a whole value into a tensor, or the part that this process holds into a DTensor."""
    if not is_distributed(tensor):
        tensor.copy_(value)
        return
    local = tensor.to_local()
    for part, place in shares_of(tensor):
        local[slices(place)].copy_(value[slices(part)])


def meshes_of(tensors: Iterable[Tensor]) -> list[DeviceMesh]:
    """The meshes of the DTensors among some tensors, each once."""
    found: list[DeviceMesh] = []
    for tensor in tensors:
        if is_distributed(tensor) and tensor.device_mesh not in found:
            found.append(tensor.device_mesh)
    return found


def description(tensors: Mapping[str, Tensor]) -> list[str]:
    """The facts that have to be the same in all processes: versions, and each tensor by qualified name with its placements."""
    lines = [f"torch: {torch.__version__}", f"qten-gen: {__version__}"]
    for name, tensor in tensors.items():
        placed = tensor.placements if is_distributed(tensor) else None
        lines.append(f"{name}: {tensor.dtype} {list(tensor.shape)}, placed as {placed}")
    return lines


def check_agreement(lines: Sequence[str], meshes: Iterable[DeviceMesh], number: int = 0) -> int:
    """Compare what this process has with the others of the meshes, by digest. All of them have to call this.

    Returns:
        The highest of the processes' numbers.

    Raises:
        ValueError: they differ. Every process raises it.
    """
    import torch.distributed as dist

    digest = hashlib.blake2b("\n".join(lines).encode(), digest_size=16).digest()
    for mesh in meshes:
        found = [(digest, number)]
        for dim in range(mesh.ndim if mesh.get_coordinate() is not None else 0):
            every: list[list[tuple[bytes, int]]] = [[] for _ in range(mesh.size(dim))]
            dist.all_gather_object(every, found, group=mesh.get_group(dim))
            found = [each for part in every for each in part]
        number = max(each for _, each in found)
        if any(each != digest for each, _ in found):
            raise ValueError(
                "the processes of a mesh do not have the same model; expected the same seed, random state, shapes, dtypes,"
                " placements, checkpoint, and versions of torch and qten-gen in all of them"
            )
    return number
