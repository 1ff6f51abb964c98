"""Tensors in parts: writing the one that this process holds, and whether the processes of a mesh have the same model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

import torch
from torch import Tensor

from ... import __version__
from ...runtime.module.unsaved_buffers import write_whole

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor


def is_distributed(tensor: Tensor) -> TypeGuard[DTensor]:
    """Return whether a tensor is a DTensor. Asking imports nothing."""
    from sys import modules

    module = modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def write_part(tensor: Tensor, value: Tensor) -> None:
    """Write a whole value into a tensor, or the part that this process holds into a DTensor.

    Raises:
        ValueError: a placement has no initial values, such as Partial.
    """
    if not is_distributed(tensor):
        tensor.copy_(value)
    elif tensor.device_mesh.get_coordinate() is not None:
        for placement in tensor.placements:
            if placement.is_partial():
                raise ValueError(f"a tensor placed as {placement!r} has no initial values; expected Shard or Replicate")
        write_whole(tensor, value)


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
