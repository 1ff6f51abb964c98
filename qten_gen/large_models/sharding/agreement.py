"""Processes that hold parts of the same tensors: one seed for all, and one model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from ... import __version__
from .placements import is_distributed

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


T = TypeVar("T")


def meshes_of(tensors: Iterable[Tensor], mesh: DeviceMesh | None = None) -> list[DeviceMesh]:
    """The meshes of the DTensors among some tensors, and the mesh that the user gives, each once."""
    found = [] if mesh is None else [mesh]
    for tensor in tensors:
        if is_distributed(tensor) and tensor.device_mesh not in found:
            found.append(tensor.device_mesh)
    return found


def agreed_seed(seed: int, meshes: Iterable[DeviceMesh], *, drawn: bool) -> int:
    """The seed that all processes of the meshes use, the highest of theirs. All of them have to call this.

    Raises:
        ValueError: the user gave different seeds in different processes: it is not `drawn`. Every process raises it.
    """
    for mesh in meshes:
        found = _gathered(seed, mesh)
        if min(found) != max(found) and not drawn:
            raise ValueError(
                f"materialize(): seed must be the same in all processes of a mesh, got {min(found)} in one and {max(found)}"
                " in another"
            )
        seed = max(found)
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
    digest = hashlib.blake2b("\n".join(lines).encode(), digest_size=16).digest()
    for mesh in meshes:
        if len(set(_gathered(digest, mesh))) < 2:
            continue
        first, *others = _gathered(list(lines), mesh)
        other = next(each for each in others if each != first)
        here, there = next(
            (pair for pair in zip(first, other, strict=False) if pair[0] != pair[1]),
            (f"{len(first)} arguments and tensors", f"{len(other)}"),
        )
        raise ValueError(f"the processes of a mesh do not have the same model: {here} in one, {there} in another")


def _gathered(value: T, mesh: DeviceMesh) -> list[T]:
    """The values of all processes of a mesh; the own one where this process is not in it.

    Raises:
        RuntimeError: another process does not answer. The error of the backend, which does not say what for, is its cause.
    """
    import torch.distributed as dist

    found = [value]
    for dim in range(mesh.ndim if mesh.get_coordinate() is not None else 0):
        every: list[list[T]] = [[] for _ in range(mesh.size(dim))]
        try:
            dist.all_gather_object(every, found, group=mesh.get_group(dim))
        except RuntimeError as error:
            raise RuntimeError(
                "a process of the mesh ended or does not answer, before all had compared their models; its own output says why"
            ) from error
        found = [each for part in every for each in part]
    return found
