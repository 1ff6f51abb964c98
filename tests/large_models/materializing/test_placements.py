"""Which part of a tensor each process of a mesh holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.placement_types import Placement, _StridedShard

from qten_gen.large_models.sharding.placements import chosen, on_mesh, shares, shares_of, size_of, slices


def held(values: Tensor, mesh: Sequence[int], coordinate: Sequence[int], placements: Sequence[Placement]) -> Tensor:
    """What a process holds, put together from its shares."""
    found = list(shares(values.shape, mesh, coordinate, placements))
    size = [max((share.local[dim][1] for share in found), default=0) for dim in range(values.dim())]
    local = torch.full(size, -1, dtype=values.dtype)
    for share in found:
        local[slices(share.local)] = values[slices(share.part)]
    return local


def split(values: Tensor, mesh: Sequence[int], coordinate: Sequence[int], placements: Sequence[Placement]) -> Tensor:
    """What torch gives a process: each placement splits what the one before left."""
    for size, position, placement in zip(mesh, coordinate, placements, strict=True):
        if isinstance(placement, Shard | _StridedShard):
            values = placement._split_tensor(values, size, with_padding=False)[0][position]
    return values


meshes = st.lists(st.integers(1, 4), min_size=1, max_size=3)
placement = st.one_of(
    st.just(Replicate()),
    st.builds(Shard, st.integers(0, 1)),
    st.builds(lambda dim, factor: _StridedShard(dim, split_factor=factor), st.integers(0, 1), st.integers(1, 3)),
)


@given(
    size=st.tuples(st.integers(0, 11), st.integers(1, 9)),
    mesh=meshes,
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_a_process_holds_what_torch_gives_it(size: tuple[int, int], mesh: list[int], data: st.DataObject) -> None:
    placements = [data.draw(placement) for _ in mesh]
    values = torch.arange(size[0] * size[1]).view(size)
    for coordinate in product(*map(range, mesh)):
        expected = split(values, mesh, coordinate, placements)
        found = held(values, mesh, coordinate, placements)
        assert found.numel() == expected.numel()
        assert torch.equal(found.reshape(expected.shape), expected)


def test_one_run_of_each_dimension_is_one_share() -> None:
    (share,) = shares((10, 4), (3,), (2,), [Shard(0)])
    assert (share.part, share.local) == (((8, 10), (0, 4)), ((0, 2), (0, 4)))
    (nested,) = shares((8, 8), (2, 2), (1, 0), [_StridedShard(0, split_factor=2), Shard(0)])
    assert nested.part == ((2, 4), (0, 8)), "fully_shard after tensor parallelism"
    assert len(list(shares((8, 8), (2, 2), (0, 1), [Shard(0), _StridedShard(0, split_factor=2)]))) == 2


def test_partial_has_no_initial_values() -> None:
    with pytest.raises(ValueError, match=r"^a tensor placed as .* has no initial values; expected Shard or Replicate$"):
        list(shares((8,), (2,), (0,), [Partial()]))


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    """A mesh of one process."""
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
    dist.destroy_process_group()


def test_placements_are_chosen_by_name_then_by_pattern_and_else_replicated(mesh: DeviceMesh) -> None:
    tensors = {name: torch.empty(4, 6, device="meta") for name in ("a.weight", "b.weight", "b.bias", "table")}
    found = chosen(
        {name: [name] for name in tensors},
        tensors,
        mesh,
        {"*.weight": [Replicate(), Shard(-1)], "b.weight": [Shard(0), Replicate()], "table": None},
    )
    assert found == {
        "a.weight": (Replicate(), Shard(1)),
        "b.weight": (Shard(0), Replicate()),
        "b.bias": (Replicate(), Replicate()),
        "table": None,
    }
    assert chosen({"a": ["a"]}, {"a": torch.empty(2, device="meta")}, mesh, None) == {"a": (Replicate(), Replicate())}


def test_every_placement_that_does_not_fit_is_listed(mesh: DeviceMesh) -> None:
    placed = DTensor.from_local(torch.empty(4, device="meta"), mesh, [Replicate(), Replicate()], run_check=False)
    tensors = {"weight": torch.empty(4, 6, device="meta"), "tied": torch.empty(4, device="meta"), "placed": placed}
    names = {"weight": ["weight"], "tied": ["tied", "other"], "placed": ["placed"]}
    with pytest.raises(ValueError) as caught:
        chosen(
            names,
            tensors,
            mesh,
            {
                "weight": [Shard(2), Partial()],
                "tied": [Shard(0), Replicate()],
                "other": [Replicate(), Shard(0)],
                "placed": [Shard(0), Replicate()],
                "wieght": [Shard(0)],
                "layers.*": [Shard(0)],
            },
        )
    assert str(caught.value).split("\n    ") == [
        "placements do not fit:",
        "'weight': Shard(dim=2) has no dimension to cut in weight, whose shape is [4, 6]",
        "'weight': expected Shard or Replicate, got Partial(sum)",
        "'tied', 'other': they place tied, one tensor under several names, differently",
        "'placed': placed is a DTensor already, which keeps its placements",
        "'layers.*': no parameter or buffer has such a name",
        "'wieght': no parameter or buffer has such a name",
    ]
    with pytest.raises(ValueError, match=r"'weight': expected 2 placements, one for each dimension of the mesh, got 1"):
        chosen({"weight": ["weight"]}, {"weight": tensors["weight"]}, mesh, {"weight": Shard(0)})


def test_a_tensor_on_meta_becomes_a_dtensor_on_meta(mesh: DeviceMesh) -> None:
    made = on_mesh(torch.empty(5, 3, dtype=torch.bfloat16, device="meta"), mesh, [Shard(1), Replicate()])
    assert (made.shape, made.dtype, made.is_meta) == ((5, 3), torch.bfloat16, True)
    assert made.placements == (Shard(1), Replicate())
    (share,) = shares_of(made)
    assert size_of(share.part) == (5, 3)
