"""Deferred tensors that become DTensors: each process keeps its part of what it made whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from torch import Tensor, nn

from ..sharding.agreement import check_agreement, description
from ..sharding.placements import chosen
from .tape import Tape

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from ..sharding.placements import Placements


def shares_of_module(
    module: nn.Module, fakes: Collection[Tensor], mesh: DeviceMesh, placements: Placements | None, tapes: Iterable[Tape]
) -> Callable[[Tensor, Tensor], Tensor]:
    """A function that gives the part of each tensor which a process keeps, from a deferred tensor and its values.

    All processes of the mesh have to call this.

    Args:
        module: Its parameters and buffers become DTensors. Tensors in other attributes stay plain.
        fakes: The deferred tensors of the module that get values now.
        mesh: Where they are placed.
        placements: How, by qualified name or pattern; replicated where none is given.
        tapes: The recordings that the tensors come from.

    Raises:
        ValueError: the placements do not fit, two tensors share memory, or the processes do not have the same model.
    """
    wanted = {id(fake) for fake in fakes}
    names: dict[int, list[str]] = {}
    tensors: dict[str, Tensor] = {}
    for name, tensor in (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ):
        if id(tensor) in wanted:
            names.setdefault(id(tensor), []).append(name)
            tensors.setdefault(names[id(tensor)][0], tensor)
    _check_memory(tensors)
    by_name = {found[0]: found for found in names.values()}
    placed = chosen(by_name, tensors, mesh, placements)
    check_agreement([*description(tensors, placed), *_starts(tapes)], [mesh])
    of_fake = {id(tensor): placed[name] for name, tensor in tensors.items()}

    def kept(fake: Tensor, value: Tensor) -> Tensor:
        where = of_fake.get(id(fake))
        if where is None:
            return value
        from torch.distributed.tensor import distribute_tensor

        # Without a source each process cuts out its own part. A copy lets go of the whole.
        made: Tensor = distribute_tensor(value.detach(), mesh, where, src_data_rank=None).clone()
        return nn.Parameter(made, fake.requires_grad) if isinstance(fake, nn.Parameter) else made

    return kept


def _check_memory(tensors: dict[str, Tensor]) -> None:
    """Refuse tensors that are views of one memory: DTensors cannot be."""
    names: dict[int, str] = {}
    for name, tensor in tensors.items():
        other = names.setdefault(tensor.untyped_storage()._cdata, name)
        if other != name:
            raise ValueError(f"materialize_module(): {name} shares memory with {other}, and cannot be placed on a mesh")


def _starts(tapes: Iterable[Tape]) -> Iterable[str]:
    """Where the random numbers of recordings start, which has to be the same in all processes, as after `torch.manual_seed`."""
    for tape in tapes:
        for index, state in enumerate(tape.states):
            if isinstance(state, Tensor):
                digest = hashlib.blake2b(state.numpy().tobytes(), digest_size=4).hexdigest()
                seed = int.from_bytes(state[:8].numpy().tobytes(), "little")
                yield f"torch.manual_seed({seed}), state {index}: {digest}"
