"""One seed for all processes that hold parts of the same tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

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


def agreed_seed(seed: int, meshes: Iterable[DeviceMesh], *, drawn: bool) -> int:
    """The seed that all processes of the meshes use. All of them have to call this.

    Args:
        seed: What this process would use.
        meshes: The meshes that tensors are placed on.
        drawn: Whether the seed is drawn, so that processes may have different ones.

    Raises:
        ValueError: the user gave different seeds in different processes. Every process raises it.
    """
    for mesh in meshes:
        if mesh.get_coordinate() is None:
            continue
        low, high = _extremes(seed, mesh)
        if low != high and not drawn:
            raise ValueError(
                f"materialize(): seed must be the same in all processes of a mesh, got {low} in one and {high} in another"
            )
        seed = high
    return seed


def _extremes(seed: int, mesh: DeviceMesh) -> tuple[int, int]:
    """The lowest and the highest seed in a mesh."""
    import torch.distributed as dist

    bounds = torch.tensor([seed, -seed], dtype=torch.int64, device=mesh.device_type)
    for dim in range(mesh.ndim):
        dist.all_reduce(bounds, op=dist.ReduceOp.MAX, group=mesh.get_group(dim))
    high, low = bounds.tolist()
    return -low, high
