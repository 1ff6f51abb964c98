"""The seed that all processes of a mesh agree on, where the user gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .placements import is_distributed

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


def agreed_seed(tensors: Sequence[Tensor], mesh: DeviceMesh | None) -> int:
    """A seed from torch's default generator, which `torch.manual_seed` sets: that of the first process of each mesh.

    The meshes are the given one and those of the tensors that are DTensors already. All their processes have to call this.
    """
    seed = torch.empty((), dtype=torch.int64, device="cpu").random_()
    meshes = [] if mesh is None else [mesh]
    for tensor in tensors:
        if is_distributed(tensor) and tensor.device_mesh not in meshes:
            meshes.append(tensor.device_mesh)
    for each in meshes:
        if each.get_coordinate() is None:
            continue  # this process is not in the mesh
        shared = seed.to(each.device_type)
        for dim in range(each.ndim):
            torch.distributed.broadcast(shared, group=each.get_group(dim), group_src=0)
        seed = shared.to("cpu")
    return int(seed)
