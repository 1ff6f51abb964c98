"""Objects in memory that processes of one machine share, and between the processes of `torch.distributed`.

Every tensor travels by itself, and is written in place. Static values stay: each process keeps its own. Objects with values in
PerItem fields are refused. `group`, `src`, `dst` and `tag` mean what they mean in torch.distributed, imported by the first call.

With `check`, a message finds out first whether all processes call the same operation with the same class, batch size, dtypes and
shapes. Without it a mismatch may hang the processes, or mix up their tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import torch
from torch import Tensor

from ..core.contents import contents, ragged_fields
from ..core.error_text import label
from ..core.locking import lock_
from ..core.locks import refuse_if_frozen
from ..core.stored import Stored

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
    distributed, tensors = _ready(action, self)
    if check:
        _refuse_other_peer(action, self, dst, group, step=1)
    _each(action, tensors, lambda _, tensor: distributed.send(tensor, dst, group=group, tag=tag))


def recv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> T:
    """Receive what process `src` sends, into the tensors of this object, which keep their shapes and dtypes.

    Raises:
        ValueError: `check` found that the sender's object differs.
        TypeError: the object has PerItem fields.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"recv from rank {src}"
    distributed, tensors = _ready(action, self)
    if check:
        _refuse_other_peer(action, self, src, group, step=-1)
    _each(action, tensors, lambda _, tensor: distributed.recv(tensor, src, group=group, tag=tag))
    return _write_back(self, tensors)


def broadcast(self: T, src: int, *, group: ProcessGroup | None = None, check: bool = True) -> T:
    """Write the tensors of process `src` into those of every other process, which have the same shapes and dtypes.

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
    distributed, tensors = _ready(action, self)
    if check:
        _refuse_other_group(action, self, group)
    _each(action, tensors, lambda _, tensor: distributed.broadcast(tensor, src, group=group))
    return _write_back(self, tensors)


def all_gather(self: T, *, group: ProcessGroup | None = None, check: bool = True) -> list[T]:
    """The objects of all processes, in the order of their ranks, in every process. Static values are those of this process.

    All have tensors of the same shapes and dtypes.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> len(Batch(torch.arange(4), batch_size=4).all_gather())
    1
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
        TypeError: the object has PerItem fields.
    """
    distributed, tensors = _ready("all_gather", self)
    if check:
        _refuse_other_group("all_gather", self, group)
    made = [
        self._map(partial(torch.empty_like, memory_format=torch.contiguous_format))
        for _ in range(distributed.get_world_size(group))
    ]
    rooms = [tensors_by_path(each) for each in made]
    # Detached: a leaf that requires gradients must not be written to in place.
    _each(
        "all_gather",
        tensors,
        lambda path, tensor: distributed.all_gather([room[path].detach() for room in rooms], tensor, group=group),
    )
    return made


def tensors_by_path(self: Stored) -> dict[str, Tensor]:
    """Every tensor under the names that lead to it, such as `point.weight`, in the same order in every process."""
    return dict(_paths(self, ""))


def _paths(self: Stored, before: str) -> Iterator[tuple[str, Tensor]]:
    """The paths and tensors of an object, all of which begin with `before`."""
    for name, value in contents(self).items():
        if name in self._per_item and value is not None:
            raise TypeError(f"{label(self, name)} holds one Python value per item, which is not sent between processes")
        if name in self.__structure__:
            continue  # compared in the schema, and never written to
        if name in self._nested and isinstance(value, Stored):
            yield from _paths(value, f"{before}{name}.")
        elif isinstance(value, dict) and name not in self._static:
            # The dict of another process can have its keys in another order.
            yield from ((f"{before}{name}.{key}", value[key]) for key in sorted(value))
        elif isinstance(value, list) and name not in self._static:
            yield from ((f"{before}{name}.{at}", item) for at, item in enumerate(value))
        elif isinstance(value, Tensor):
            yield before + name, value


def _ready(action: str, self: Stored) -> tuple[ModuleType, dict[str, Tensor]]:
    """`torch.distributed`, and the tensors by path without their history, copied where they are not contiguous."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        raise RuntimeError(f"{action}: call torch.distributed.init_process_group first")
    return distributed, {path: tensor.detach().contiguous() for path, tensor in tensors_by_path(self).items()}


def _each(action: str, tensors: dict[str, Tensor], move: Callable[[str, Tensor], object]) -> None:
    """Move every tensor; an error of the backend names the operation and the field."""
    for path, tensor in tensors.items():
        try:
            move(path, tensor)
        except RuntimeError as error:
            raise RuntimeError(f"{action}: {path}: {error}") from error


def _write_back(self: T, received: dict[str, Tensor]) -> T:
    """The object, with those tensors written that are not contiguous and were received into a copy."""
    for tensor, found in zip(tensors_by_path(self).values(), received.values(), strict=True):
        if found.data_ptr() != tensor.data_ptr():
            tensor.detach().copy_(found)
    return self


def schema(action: str, self: Stored) -> Schema:
    """The schema of an object."""
    kind = f"{type(self).__qualname__} of batch size {list(self._batch_size)}"
    shapes = {
        path: f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
        for path, tensor in tensors_by_path(self).items()
    }
    lengths = {f"the lengths of {where}": str(ragged.lengths.tolist()) for where, ragged in ragged_fields(self)}
    return {"the operation": action, "the object": kind, **shapes, **lengths}


def _refuse_other_group(action: str, self: Stored, group: ProcessGroup | None) -> None:
    """Compare the schemas of all processes of the group. Every process raises, with the first difference."""
    from torch import distributed

    found: list[Schema] = [{}] * distributed.get_world_size(group)
    distributed.all_gather_object(found, schema(action, self), group=group)
    ranks = distributed.get_process_group_ranks(group)
    _refuse_difference(action, found, [f"rank {rank}" for rank in ranks])


def _refuse_other_peer(
    action: str, self: Stored, peer: int, group: ProcessGroup | None, *, step: Literal[1, -1]
) -> None:
    """Compare the schemas of sender and receiver. `step` is -1 where the peer speaks first."""
    from torch import distributed

    # Not `action`: it is a send here, and a recv in the other process.
    own, found = schema("a transfer", self), list[Schema]([{}])
    for exchange, schemas in ((distributed.send_object_list, [own]), (distributed.recv_object_list, found))[::step]:
        exchange(schemas, peer, group=group)
    _refuse_difference(action, [own, *found], ["this object", f"the one of rank {peer}"])


def _refuse_difference(action: str, schemas: Sequence[Schema], holders: Sequence[str]) -> None:
    """Refuse a schema that is not like the first one; `holders` says who has them."""
    for holder, other in zip(holders, schemas, strict=True):
        for key in {**schemas[0], **other}:
            left, right = schemas[0].get(key, "nothing"), other.get(key, "nothing")
            if left != right:
                raise ValueError(f"{action}: {key} differs: {left} in {holders[0]}, {right} in {holder}")


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
    for leaf in self._leaves():
        leaf.share_memory_()  # type: ignore[no-untyped-call] # torch gives it no types
    return lock_(self)


def is_shared(self: Stored) -> bool:
    """True if every tensor is in shared memory; False where there are none.

    >>> Batch(torch.arange(4), batch_size=4).is_shared()
    False
    """
    leaves = self._leaves()
    return bool(leaves) and all(leaf.is_shared() for leaf in leaves)  # type: ignore[no-untyped-call] # as above
