"""From one process to another: what the one sends, the other receives into an object of the same class and shapes.

Tensors travel one after the other, static values stay. With `check`, sender and receiver compare first what they hold, which
takes one small message each way; without it a mismatch may hang both. `group`, `dst`, `src` and `tag` mean what they mean in
`torch.distributed`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import torch
from torch import Tensor

from ...core.locks import refuse_if_frozen
from ...core.stored import Stored
from .agreement import Schema, difference, digest, library, probe_device, refuse_items, schema
from .collectives import dense_tensors, write_back

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup, Work


T = TypeVar("T", bound=Stored)


@dataclass(frozen=True, slots=True, eq=False)
class Pending(Generic[T]):
    """A transfer that was started. The object may be used again, or read, once `wait` has returned it."""

    target: T
    dense: dict[str, Tensor]
    works: dict[str, Work]
    writes: bool

    def is_completed(self) -> bool:
        """Whether all tensors have arrived; does not wait."""
        return all(work.is_completed() for work in self.works.values())

    def wait(self) -> T:
        """Wait for all tensors.

        Returns:
            The object that was sent or received into.
        """
        for work in self.works.values():
            work.wait()
        return write_back(self.target, self.dense) if self.writes else self.target


def send(self: Stored, dst: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> None:
    """Send the tensors to process `dst`, which calls `recv` on an object whose tensors have the same shapes and dtypes.

    Raises:
        ValueError: `check` found that the receiver's object differs.
    """
    action = f"send to rank {dst}"
    refuse_items(action, self)
    if check:
        _refuse_difference(action, self, dst, group, tag, step=1)
    isend(self, dst, group=group, tag=tag).wait()


def recv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> T:
    """Receive what process `src` sends, into the tensors of this object, which keep their shapes and dtypes.

    Raises:
        ValueError: `check` found that the sender's object differs.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"recv from rank {src}"
    refuse_items(action, self)
    if check:
        _refuse_difference(action, self, src, group, tag, step=-1)
    return irecv(self, src, group=group, tag=tag).wait()


def _refuse_difference(
    action: str, self: Stored, peer: int, group: ProcessGroup | None, tag: int, *, step: Literal[1, -1]
) -> None:
    """Compare what this process holds with what its peer does. `step` is -1 where the peer speaks first.

    Raises:
        ValueError: they differ.
    """
    distributed = library(action)
    # Not `action`: it is a send here, and a recv in the other process.
    own, found = schema("a transfer", self), list[Schema]([{}])
    number = torch.tensor([digest(own)], device=probe_device(self))
    other = torch.zeros_like(number)
    for exchange, sent in ((distributed.send, number), (distributed.recv, other))[::step]:
        exchange(sent, peer, group=group, tag=tag)
    if torch.equal(number, other):
        return
    for exchange, schemas in ((distributed.send_object_list, [own]), (distributed.recv_object_list, found))[::step]:
        exchange(schemas, peer, group=group)
    raise ValueError(f"{action}: {difference([own, *found], ['this object', f'the one of rank {peer}'])}")


def isend(self: T, dst: int, *, group: ProcessGroup | None = None, tag: int = 0) -> Pending[T]:
    """Start to send the tensors to process `dst`, which calls `irecv`, or `recv` with `check=False`.

    The tensors must not be written to before the result's `wait` has returned. Nothing is checked: the tensors of both objects
    must have the same shapes and dtypes.

    Raises:
        TypeError: a field is PerItem, whose values are not sent.
    """
    action = f"isend to rank {dst}"
    refuse_items(action, self)
    distributed = library(action)
    return _start(self, lambda tensor: distributed.isend(tensor, dst, group=group, tag=tag), writes=False)


def irecv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0) -> Pending[T]:
    """Start to receive what process `src` sends with `isend`, or with `send` and `check=False`, into the tensors of this object.

        pending = batch.irecv(0)
        ...
        batch = pending.wait()

    Nothing is checked: the tensors of both objects must have the same shapes and dtypes.

    Raises:
        TypeError: a field is PerItem, whose values are not sent.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"irecv from rank {src}"
    refuse_items(action, self)
    distributed = library(action)
    return _start(self, lambda tensor: distributed.irecv(tensor, src, group=group, tag=tag), writes=True)


def _start(self: T, start: Callable[[Tensor], Work], writes: bool) -> Pending[T]:
    dense = dense_tensors(self)
    return Pending(self, dense, {path: start(tensor) for path, tensor in dense.items()}, writes)
