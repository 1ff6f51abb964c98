"""Objects in memory that processes of one machine share, and between the processes of `torch.distributed`.

Small tensors travel together as bytes, each large one by itself, and all are written in place. Static values stay: each process
keeps its own. Objects with values in PerItem fields are refused. `group`, `src`, `dst` and `tag` mean what they mean in
torch.distributed, imported by the first call.

With `check`, a message finds out first whether all processes call the same operation with the same class, batch size, dtypes and
shapes. Without it a mismatch may hang the processes, or mix up their tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import torch
from torch import Tensor

from ..core.error_text import label
from ..core.locking_methods import lock_
from ..core.locks import refuse_if_frozen
from ..core.lookup import path_of, walked
from ..core.stored import Stored
from ..fields.per_item import PerItem
from ..methods.keys import items
from ..torch_tools.packing import LARGEST, all_tensors, with_tensors

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


T = TypeVar("T", bound=Stored)

Schema: TypeAlias = dict[str, str]
"""The facts that have to be equal in every process: operation, class, batch size, and dtype and shape of each tensor, by path."""


def send(self: Stored, dst: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> None:
    """Send the tensors to process `dst`, which calls `recv` on an object whose tensors have the same shapes and dtypes.

    Raises:
        ValueError: `check` found that the receiver's object differs.
        TypeError: the object has PerItem fields.
    """
    action = f"send to rank {dst}"
    distributed = _ready(action)
    if check:
        _refuse_other_peer(action, self, dst, group, sends=True)
    for buffer in _Buffers(self).filled():
        distributed.send(buffer, dst, group=group, tag=tag)


def recv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> T:
    """Receive what process `src` sends, into the tensors of this object, which keep their shapes and dtypes.

    Raises:
        ValueError: `check` found that the sender's object differs.
        TypeError: the object has PerItem fields.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"recv from rank {src}"
    distributed = _ready(action)
    if check:
        _refuse_other_peer(action, self, src, group, sends=False)
    buffers = _Buffers(self)
    received = buffers.filled()
    for buffer in received:
        distributed.recv(buffer, src, group=group, tag=tag)
    buffers.write_back(received)
    return self


def broadcast(self: T, src: int, *, group: ProcessGroup | None = None, check: bool = True) -> T:
    """Write the tensors of process `src` into the tensors of every other process, which have the same shapes and dtypes.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.ones(2), batch_size=2).broadcast(0).tokens
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
        TypeError: the object has PerItem fields.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"broadcast from rank {src}"
    distributed = _ready(action)
    if check:
        _refuse_other_group(action, self, group)
    buffers = _Buffers(self)
    received = buffers.filled()
    for buffer in received:
        distributed.broadcast(buffer, src, group=group)
    if distributed.get_rank() != src:
        buffers.write_back(received)
    return self


def all_gather(self: T, *, group: ProcessGroup | None = None, check: bool = True) -> list[T]:
    """The objects of all processes, in the order of their ranks, in every process. Static values are the own ones of the process.

    All have tensors of the same shapes and dtypes.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> len(Batch(torch.arange(4), batch_size=4).all_gather())
    1
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
        TypeError: the object has PerItem fields.
    """
    distributed = _ready("all_gather")
    if check:
        _refuse_other_group("all_gather", self, group)
    own = _Buffers(self, lengths=True)
    world = distributed.get_world_size(group)
    rooms: list[list[Tensor]] = []
    for buffer in own.filled():
        rooms.append([torch.empty_like(buffer) for _ in range(world)])
        distributed.all_gather(rooms[-1], buffer, group=group)
    empty = partial(torch.empty_like, memory_format=torch.contiguous_format, requires_grad=False)
    made = [with_tensors(self, empty, self._device) for _ in range(world)]
    for other, *received in zip(made, *rooms, strict=True):
        _Buffers(other, lengths=True).write_back(received)
    return made


class _Buffers:
    """The memory that an object travels in: the bytes of its small tensors by device, and each large tensor by itself.

    It is the same in every process whose tensors have the same shapes and dtypes.
    """

    def __init__(self, value: Stored, lengths: bool = False) -> None:
        for path in _per_item(value):
            raise TypeError(
                f"{label(value, path)} holds one Python value per item, which is not sent between processes; send the object by "
                "a function of torch.distributed for objects, such as all_gather_object"
            )
        self.small: dict[torch.device, list[Tensor]] = {}
        self.large: list[Tensor] = []
        for tensor in tensors_by_path(value, lengths).values():
            if tensor.numel() * tensor.itemsize > LARGEST:
                self.large.append(tensor.detach())
            else:
                self.small.setdefault(tensor.device, []).append(tensor.detach())

    def filled(self) -> list[Tensor]:
        """Buffers with the elements of the tensors. A large tensor is its own, unless it is not contiguous."""
        packed = [torch.cat([_bytes(tensor) for tensor in tensors]) for tensors in self.small.values()]
        return [*packed, *(tensor.contiguous() for tensor in self.large)]

    def write_back(self, received: Sequence[Tensor]) -> None:
        """Write what buffers hold into the tensors."""
        for tensors, buffer in zip(self.small.values(), received, strict=False):
            sizes = [tensor.numel() * tensor.itemsize for tensor in tensors]
            for tensor, part in zip(tensors, torch.split(buffer, sizes), strict=True):
                # A copy is aligned to the size of its elements.
                tensor.copy_(part.clone().view(tensor.dtype).view(tensor.shape))
        for tensor, buffer in zip(self.large, received[len(self.small) :], strict=True):
            if buffer.data_ptr() != tensor.data_ptr():
                tensor.copy_(buffer)


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8)


def tensors_by_path(self: Stored, lengths: bool = False) -> dict[str, Tensor]:
    """Every tensor under the names that lead to it, such as `point.weight`, in the same order in every process.

    Args:
        lengths: Give the lengths of Ragged fields too. Objects share them, so that only new ones are written to.
    """
    found = [(path_of(key), value) for key, value in items(self, include_nested=True, leaves_only=True, sort=True)]
    return {
        ".".join(path): value
        for path, value in found
        if lengths or path[-1] not in getattr(walked(self, path[:-1]), "__structure__", ())
    }


def _per_item(self: Stored) -> list[str]:
    """The names that lead to fields with one Python value per item."""
    return [".".join(path_of(key)) for key, value in items(self, include_nested=True) if isinstance(value, PerItem)]


def _ready(action: str) -> ModuleType:
    """`torch.distributed`, where a process group is there."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        raise RuntimeError(f"{action}: call torch.distributed.init_process_group first")
    return distributed


def schema(action: str, self: Stored) -> Schema:
    """The schema of an object."""
    kind = f"{type(self).__qualname__} of batch size {list(self._batch_size)}"
    tensors, found = tensors_by_path(self), {"the operation": action, "the object": kind}
    found |= dict.fromkeys(_per_item(self), "one Python value per item")  # refused later, by all processes alike
    for path, tensor in tensors_by_path(self, lengths=True).items():
        if path in tensors:
            found[path] = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
        else:
            found[f"{type(self).__name__}.{path}"] = str(tensor.tolist())
    return found


def _refuse_other_group(action: str, self: Stored, group: ProcessGroup | None) -> None:
    """Compare the schemas of all processes of the group. Every process raises, with the first difference."""
    from torch import distributed

    found: list[Schema] = [{}] * distributed.get_world_size(group)
    distributed.all_gather_object(found, schema(action, self), group=group)
    ranks = distributed.get_process_group_ranks(group)
    _refuse_difference(action, [(f"rank {rank}", other) for rank, other in zip(ranks, found, strict=True)])


def _refuse_other_peer(action: str, self: Stored, peer: int, group: ProcessGroup | None, *, sends: bool) -> None:
    """Compare the schemas of sender and receiver. The sender speaks first."""
    from torch import distributed

    # Not `action`: it is a send here, and a recv in the other process.
    own, found = schema("a transfer", self), list[Schema]([{}])
    if sends:
        distributed.send_object_list([own], peer, group=group)
    distributed.recv_object_list(found, peer, group=group)
    if not sends:
        distributed.send_object_list([own], peer, group=group)
    _refuse_difference(action, [("this object", own), (f"the one of rank {peer}", found[0])])


def _refuse_difference(action: str, schemas: Sequence[tuple[str, Schema]]) -> None:
    """Refuse a schema that is not like the first one; each has its holder."""
    first, own = schemas[0]
    for holder, other in schemas:
        for key in {**own, **other}:
            left, right = own.get(key, "nothing"), other.get(key, "nothing")
            if left != right:
                advice = "; the functions of torch.distributed for objects take any" if key.endswith(".lengths") else ""
                raise ValueError(f"{action}: {key} differs: {left[:200]} in {first}, {right[:200]} in {holder}{advice}")


def share_memory_(self: T) -> T:
    """Move every tensor to shared memory, in place, and lock the object.

    An object that is passed to another process, by a `torch.multiprocessing.Queue` or as an argument, then has the same memory
    there: what one process writes into a tensor, the others see. Tensors on a GPU are shared already.

    It is locked because a tensor that is set later would not be shared; `unlock_` allows it all the same. A frozen object is
    shared too: its values stay what they are.

    >>> batch = Batch(torch.arange(4), batch_size=4).share_memory_()
    >>> batch.is_shared(), batch.is_locked
    (True, True)
    """
    for leaf in all_tensors(self):
        leaf.share_memory_()  # type: ignore[no-untyped-call] # torch gives it no types
    return lock_(self)


def is_shared(self: Stored) -> bool:
    """True if every tensor is in shared memory; False where there are none.

    >>> Batch(torch.arange(4), batch_size=4).is_shared()
    False
    """
    leaves = all_tensors(self)
    return bool(leaves) and all(leaf.is_shared() for leaf in leaves)  # type: ignore[no-untyped-call] # as above
