"""Writing the part of a tensor that this process of a mesh holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate

from qten_gen.large_models.materializing.placements import write_part


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    """A mesh of one process."""
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
    dist.destroy_process_group()


def test_partial_has_no_initial_values(mesh: DeviceMesh) -> None:
    placed = DTensor.from_local(torch.empty(4), mesh, [Partial(), Replicate()], run_check=False)
    with pytest.raises(ValueError, match=r"^a tensor placed as .* has no initial values; expected Shard or Replicate$"):
        write_part(placed, torch.ones(4))
