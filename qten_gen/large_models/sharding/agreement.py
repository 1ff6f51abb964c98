"""Processes that hold parts of the same tensors: one seed for all, and one model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ... import __version__
from .placements import is_distributed

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


def meshes_of(tensors: Iterable[Tensor], mesh: DeviceMesh | None = None) -> list[DeviceMesh]:
    """The meshes of the DTensors among some tensors, and the mesh that the user gives, each once."""
    found = [] if mesh is None else [mesh]
    for tensor in tensors:
        if is_distributed(tensor) and tensor.device_mesh not in found:
            found.append(tensor.device_mesh)
    return found


def description(tensors: Mapping[str, Tensor], placements: Mapping[str, object]) -> list[str]:
    """The facts that have to be the same in all processes, a line each: versions, and tensors with their placements.

    Args:
        tensors: The tensors of a module by qualified name.
        placements: Where they are placed on a mesh, by the same names.
    """
    lines = [f"torch: {torch.__version__}", f"qten-gen: {__version__}"]
    for name, tensor in tensors.items():
        placed = tensor.placements if is_distributed(tensor) else placements.get(name)
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
