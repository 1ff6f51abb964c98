"""Which part of a tensor each process of a mesh holds."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.placement_types import Placement, _StridedShard

from qten_gen.large_models.materializing.placements import shares_of


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    """A mesh of one process."""
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
    dist.destroy_process_group()


@pytest.mark.parametrize(
    ("placements", "mesh", "coordinate", "expected"),
    [
        ((Shard(0),), (3,), (2,), [(((8, 10), (0, 4)), ((0, 2), (0, 4)))]),
        ((Shard(0),), (6,), (5,), []),
        ((_StridedShard(0, split_factor=2), Shard(0)), (2, 2), (1, 0), [(((3, 5), (0, 4)), ((0, 2), (0, 4)))]),
        (
            (_StridedShard(0, split_factor=2), Replicate()),
            (2, 1),
            (0, 0),
            [(((0, 3), (0, 4)), ((0, 3), (0, 4))), (((5, 8), (0, 4)), ((3, 6), (0, 4)))],
        ),
    ],
)
def test_a_process_holds_what_torch_gives_it(
    placements: tuple[Placement, ...], mesh: tuple[int, ...], coordinate: tuple[int, ...], expected: object
) -> None:
    of = SimpleNamespace(shape=mesh, get_coordinate=lambda: coordinate)
    tensor: Any = SimpleNamespace(device_mesh=of, shape=(10, 4), placements=placements)
    assert shares_of(tensor) == expected


def test_partial_has_no_initial_values(mesh: DeviceMesh) -> None:
    placed = DTensor.from_local(torch.empty(4, device="meta"), mesh, [Partial(), Replicate()], run_check=False)
    with pytest.raises(ValueError, match=r"^a tensor placed as .* has no initial values; expected Shard or Replicate$"):
        shares_of(placed)
