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


def description(tensors: Mapping[str, Tensor], placements: Mapping[str, object]) -> list[str]:
    """The facts that have to be the same in all processes, a line each: versions, and tensors with their placements.

    Args:
        tensors: The tensors of a module by qualified name.
        placements: Where they are placed on a mesh, by the same names.
    """
    lines = [f"torch: {torch.__version__}", f"qten-gen: {__version__}"]
    for name, tensor in tensors.items():
        placed = tensor.placements if is_distributed(tensor) else placements.get(name)
        lines.append(f"{name}: {str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}, placed as {placed}")
    return lines


def values_of_tensors(tensors: Iterable[tuple[str, Tensor]]) -> list[str]:
    """The values of tensors that each process has whole, a line with a digest each, so that `check_agreement` compares them."""
    lines = []
    for name, tensor in tensors:
        if not is_distributed(tensor) or all(placement.is_replicate() for placement in tensor.placements):
            local = tensor.to_local() if is_distributed(tensor) else tensor
            lines.append(f"{name}: values {digest_of(local)}")
    return lines


def digest_of(tensor: Tensor) -> str:
    """A digest of the values of a plain tensor."""
    held = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data
    return hashlib.blake2b(held, digest_size=4).hexdigest()


def check_agreement(lines: Sequence[str], meshes: Iterable[DeviceMesh]) -> None:
    """Compare what this process has with the others of the meshes, by digest. All of them have to call this.

    Raises:
        ValueError: they differ. Every process raises it, and names the first difference.
    """
    import torch.distributed as dist

    digest = int.from_bytes(hashlib.blake2b("\n".join(lines).encode(), digest_size=7).digest(), "little")
    for mesh in meshes:
        if mesh.get_coordinate() is None:
            continue
        low, high = _extremes(digest, mesh)
        if low == high:
            continue
        every = [list(lines)]
        for dim in range(mesh.ndim):
            found: list[list[list[str]]] = [[] for _ in range(mesh.size(dim))]
            dist.all_gather_object(found, every, group=mesh.get_group(dim))
            every = [each for part in found for each in part]
        raise ValueError(f"the processes of a mesh do not have the same model: {_difference(every)}")


def _difference(every: Sequence[Sequence[str]]) -> str:
    """The first line in which a process differs from the first one."""
    first = every[0]
    other = next(lines for lines in every if lines != first)
    here, there = next(
        (pair for pair in zip(first, other, strict=False) if pair[0] != pair[1]),
        (f"{len(first)} arguments and tensors", f"{len(other)}"),
    )
    return f"{here} in one, {there} in another"


def _extremes(number: int, mesh: DeviceMesh) -> tuple[int, int]:
    """The lowest and the highest number in a mesh.

    Raises:
        RuntimeError: another process does not answer. The error of the backend, which does not say what for, is its cause.
    """
    import torch.distributed as dist

    bounds = torch.tensor([number, -number], dtype=torch.int64, device=mesh.device_type)
    try:
        for dim in range(mesh.ndim):
            dist.all_reduce(bounds, op=dist.ReduceOp.MAX, group=mesh.get_group(dim))
    except RuntimeError as error:
        raise RuntimeError(
            "a process of the mesh ended or does not answer, before all had compared their models; its own output says why"
        ) from error
    high, low = bounds.tolist()
    return -low, high
