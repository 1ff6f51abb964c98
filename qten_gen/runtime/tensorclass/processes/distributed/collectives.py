"""Collective operations: every process of a group calls them, with an object of the same class and shapes.

They apply tensor by tensor, and write in place. Static values do not travel: each process keeps its own. `group` is a process
group, the default one where it is None; ranks are those of the default group, as in `torch.distributed`.

With `check`, one small message finds out first whether all processes call the same operation with the same class, batch size,
dtypes and shapes. Without it a mismatch may hang the processes, or mix up their tensors.

The values of PerItem fields do not travel either, so objects that have some are only reduced; the rest raises TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import torch
from torch import Tensor

from ...core.locks import refuse_if_frozen
from ...core.stored import Stored
from ...methods.joining import stack
from .agreement import difference, library, refuse_disagreement, refuse_items, schema, tensors_by_path

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup, ReduceOp, Work


T = TypeVar("T", bound=Stored)

Reduction = Literal["sum", "mean", "product", "min", "max"]
"""How the tensors of several processes become one."""


def broadcast(self: T, src: int, *, group: ProcessGroup | None = None, check: bool = True) -> T:
    """Write the tensors of process `src` into those of every other process, which have the same shapes and dtypes.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.ones(2), batch_size=2).broadcast(0).tokens
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"broadcast from rank {src}"
    refuse_items(action, self)
    distributed, dense = _ready(action, self, group, check)
    _each(action, dense, lambda _, tensor: distributed.broadcast(tensor, src, group=group, async_op=True))
    return write_back(self, dense)


def all_reduce(
    self: T,
    op: Reduction | ReduceOp.RedOpType = "sum",
    *,
    group: ProcessGroup | None = None,
    check: bool = True,
) -> T:
    """Write the sum, or another reduction, over the objects of all processes into each of them.

    Their tensors have the same shapes and dtypes, and the results too.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.ones(2), batch_size=2).all_reduce("mean").tokens
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes, or there is no such reduction.
        TypeError: the mean of a tensor that is not floating point.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    _refuse_unknown(op)
    action = f"all_reduce with {op}"
    distributed, dense = _ready(action, self, group, check)
    operation = _operation(distributed, self, op, dense)
    _each(action, dense, lambda _, tensor: distributed.all_reduce(tensor, operation, group=group, async_op=True))
    return write_back(self, _reduced(dense, op, distributed.get_world_size(group)))


def reduce(
    self: T,
    dst: int,
    op: Reduction | ReduceOp.RedOpType = "sum",
    *,
    group: ProcessGroup | None = None,
    check: bool = True,
) -> T:
    """Write the sum, or another reduction, over the objects of all processes into that of process `dst`.

    What the tensors of the other processes hold afterwards is not defined, as in `torch.distributed.reduce`.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.ones(2), batch_size=2).reduce(0, "max").tokens
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes, or there is no such reduction.
        TypeError: the mean of a tensor that is not floating point.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    _refuse_unknown(op)
    action = f"reduce to rank {dst} with {op}"
    distributed, dense = _ready(action, self, group, check)
    operation = _operation(distributed, self, op, dense)
    _each(action, dense, lambda _, tensor: distributed.reduce(tensor, dst, operation, group=group, async_op=True))
    return write_back(self, _reduced(dense, op, distributed.get_world_size(group)))


def all_gather(self: T, *, group: ProcessGroup | None = None, check: bool = True) -> list[T]:
    """The objects of all processes, in the order of their ranks, in every process. Static values are those of this process.

    All have tensors of the same shapes and dtypes.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> len(Batch(torch.arange(4), batch_size=4).all_gather())
    1
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
    """
    refuse_items("all_gather", self)
    distributed, dense = _ready("all_gather", self, group, check)
    out = [self._map(_empty) for _ in range(distributed.get_world_size(group))]
    rooms = _rooms(out)
    _each(
        "all_gather",
        dense,
        lambda path, tensor: distributed.all_gather(rooms[path], tensor, group=group, async_op=True),
    )
    return out


def gather_and_stack(self: T, dst: int, *, group: ProcessGroup | None = None, check: bool = True) -> T | None:
    """The objects of all processes in process `dst`, stacked along a new first dimension; None in the other processes.

    All have tensors of the same shapes and dtypes. Unbatched tensors and static values of the stack are those of process `dst`.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.ones(2), batch_size=2).gather_and_stack(0).batch_size
    torch.Size([1, 2])
    >>> torch.distributed.destroy_process_group()

    Raises:
        ValueError: `check` found a difference between the processes.
    """
    action = f"gather_and_stack to rank {dst}"
    refuse_items(action, self)
    distributed, dense = _ready(action, self, group, check, unbatched=False)
    if distributed.get_rank() != dst:
        _each(action, dense, lambda _, tensor: distributed.gather(tensor, None, dst, group=group, async_op=True))
        return None
    out = stack([self] * distributed.get_world_size(group))
    # Views, so that what arrives is in the stack.
    rooms = {path: list(tensor.unbind()) for path, tensor in tensors_by_path(out, unbatched=False).items()}
    _each(
        action,
        dense,
        lambda path, tensor: distributed.gather(tensor, rooms[path], dst, group=group, async_op=True),
    )
    return out


def scatter(
    self: T,
    src: int,
    items: Sequence[T] | None = None,
    *,
    group: ProcessGroup | None = None,
    check: bool = True,
) -> T:
    """Write one of the `items` of process `src` into the object of each process, in the order of their ranks.

        part = Batch(torch.empty(4, 7), batch_size=4).scatter(0, batch.split(4) if rank == 0 else None)

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> Batch(torch.zeros(2), batch_size=2).scatter(0, Batch(torch.ones(2), batch_size=2).split(2)).tokens
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Args:
        items: In process `src` one object for each process; None in the others.

    Raises:
        ValueError: there are more or fewer items than processes, an item has other shapes than the object, or `check` found a
            difference between the processes.
        FrozenInstanceError: the class is frozen.
    """
    refuse_if_frozen(self, "receive into")
    action = f"scatter from rank {src}"
    refuse_items(action, self)
    distributed = library(action)
    pieces = items or () if distributed.get_rank() == src else None
    problem = None if pieces is None else _unfit(action, self, pieces, distributed.get_world_size(group))
    if check:
        # The processes that wait for an item have to learn of the problem too.
        refuse_disagreement(action, self, group, {"the items": problem or "fit"})
    elif problem is not None:
        raise ValueError(f"{action}: {problem}")
    parts = {path: [part.contiguous() for part in found] for path, found in _rooms(pieces or ()).items()}
    dense = dense_tensors(self)
    _each(
        action,
        dense,
        lambda path, tensor: distributed.scatter(tensor, parts.get(path), src, group=group, async_op=True),
    )
    return write_back(self, dense)


def _ready(
    action: str, self: Stored, group: ProcessGroup | None, check: bool, *, unbatched: bool = True
) -> tuple[ModuleType, dict[str, Tensor]]:
    """`torch.distributed`, and the tensors by path, densely laid out, as backends need them."""
    if check:
        refuse_disagreement(action, self, group)
    return library(action), dense_tensors(self, unbatched=unbatched)


def dense_tensors(self: Stored, *, unbatched: bool = True) -> dict[str, Tensor]:
    """The tensors by path without their history, copied where they are not contiguous in memory."""
    found = tensors_by_path(self, unbatched=unbatched)
    return {path: tensor.detach().contiguous() for path, tensor in found.items()}


def write_back(self: T, dense: dict[str, Tensor]) -> T:
    """The object, with those tensors written that are not contiguous and were received into a copy."""
    for tensor, received in zip(tensors_by_path(self).values(), dense.values(), strict=True):
        if received.data_ptr() != tensor.data_ptr():
            tensor.detach().copy_(received)
    return self


def _each(action: str, dense: dict[str, Tensor], start: Callable[[str, Tensor], Work]) -> None:
    """Start the operation for every tensor, then wait for all of them."""
    works: dict[str, Work] = {}
    for path, tensor in dense.items():
        with _naming(action, path):
            works[path] = start(path, tensor)
    for path, work in works.items():
        with _naming(action, path):
            work.wait()


@contextmanager
def _naming(action: str, path: str) -> Iterator[None]:
    """Name the operation and the field in an error of the backend, such as that for a dtype which it does not know."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(f"{action}: {path}: {error}") from error


def _empty(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def _rooms(objects: Sequence[Stored]) -> dict[str, list[Tensor]]:
    """The tensors of several objects of one schema, by path."""
    found = [tensors_by_path(each) for each in objects]
    # Detached: a leaf that requires gradients must not be written to in place.
    return {path: [tensors[path].detach() for tensors in found] for path in (found[0] if found else ())}


def _unfit(action: str, self: Stored, items: Sequence[Stored], world: int) -> str | None:
    """Why items cannot be scattered: they are not one for each process, or one is not like the object that receives it."""
    if len(items) != world:
        return f"expected one for each of the {world} processes, got {len(items)}"
    own = schema(action, self)
    for position, item in enumerate(items):
        other = schema(action, item)
        if other != own:
            return difference([own, other], ["the object", f"item {position}"])
    return None


_OPERATIONS = {"sum": "SUM", "mean": "SUM", "product": "PRODUCT", "min": "MIN", "max": "MAX"}


def _refuse_unknown(op: Reduction | ReduceOp.RedOpType) -> None:
    if isinstance(op, str) and op not in _OPERATIONS:
        raise ValueError(f"op: expected {', '.join(map(repr, _OPERATIONS))} or a ReduceOp, got {op!r}")


def _operation(
    distributed: ModuleType, self: Stored, op: Reduction | ReduceOp.RedOpType, dense: dict[str, Tensor]
) -> object:
    """The reduction operation of `torch.distributed`."""
    if not isinstance(op, str):
        return op
    if op == "mean":
        for path, tensor in dense.items():
            if not (tensor.is_floating_point() or tensor.is_complex()):
                raise TypeError(f"{type(self).__name__}.{path}: expected floating point for a mean, got {tensor.dtype}")
    return cast("object", getattr(distributed.ReduceOp, _OPERATIONS[op]))


def _reduced(dense: dict[str, Tensor], op: Reduction | ReduceOp.RedOpType, world: int) -> dict[str, Tensor]:
    """The tensors after their reduction. Not every backend knows means, so they are sums divided."""
    return {path: tensor.div_(world) for path, tensor in dense.items()} if op == "mean" else dense
