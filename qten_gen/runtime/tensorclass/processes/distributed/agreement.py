"""Whether all processes hold objects of one shape. Found out before tensors travel, because a mismatch would hang them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ...core.contents import contents, tensors_of
from ...core.stored import Stored

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


Schema = dict[str, str]
"""The facts that have to be equal in every process: operation, class, batch size, and dtype and shape of each tensor, by path."""


def library(action: str) -> ModuleType:
    """`torch.distributed`, which is imported when it is used and not before.

    Raises:
        RuntimeError: this torch has none, or no process group was made.
    """
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        raise RuntimeError(f"{action}: call torch.distributed.init_process_group first")
    return distributed


def tensors_by_path(self: Stored, *, unbatched: bool = True) -> dict[str, Tensor]:
    """Every tensor under the names that lead to it: `point.weight`. In the same order in every process.

    Args:
        unbatched: Whether `Unbatched` values are among them.
    """
    return dict(_paths(self, "", unbatched))


def _paths(self: Stored, before: str, unbatched: bool) -> Iterator[tuple[str, Tensor]]:
    for name, value in contents(self).items():
        if isinstance(value, Stored) and name in self._nested:
            yield from _paths(value, f"{before}{name}.", unbatched)
        elif name not in self._static and (unbatched or name not in self._unbatched):
            # The dict of another process can have its keys in another order.
            keys = sorted(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else None
            paths = [before + name] if keys is None else [f"{before}{name}.{key}" for key in keys]
            tensors = [value[key] for key in sorted(value)] if isinstance(value, dict) else tensors_of(value)
            # Not strict, because a field without a value has a path and no tensor.
            yield from zip(paths, tensors, strict=False)


def refuse_items(action: str, self: Stored) -> None:
    """Refuse to fill an object with the tensors of another process where it has PerItem fields, whose values stay behind.

    Raises:
        TypeError: it has one.
    """
    name = next((name for name in self._per_item if contents(self)[name] is not None), None)
    if name is not None:
        raise TypeError(
            f"{action}: {type(self).__name__}.{name} holds one Python value per item, and these cannot be sent between processes"
        )
    for name in self._nested:
        inner = contents(self)[name]
        if isinstance(inner, Stored):
            refuse_items(action, inner)


def schema(action: str, self: Stored) -> Schema:
    """The schema of an object."""
    kind = f"{type(self).__qualname__} of batch size {list(self._batch_size)}"
    shapes = {
        path: f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
        for path, tensor in tensors_by_path(self).items()
    }
    return {"the operation": action, "the object": kind, **shapes}


def refuse_disagreement(
    action: str, self: Stored, group: ProcessGroup | None, further: Mapping[str, str] | None = None
) -> None:
    """Compare the schemas of all processes of the group, and what else has to be the same, by one small `all_reduce`.

    Raises:
        ValueError: they differ; raised in every process, with the first difference.
    """
    distributed = library(action)
    own = {**schema(action, self), **(further or {})}
    number = digest(own)
    # The maximum of the negatives is the minimum, so that one message gives both.
    extremes = torch.tensor([number, -number], device=probe_device(self))
    distributed.all_reduce(extremes, distributed.ReduceOp.MAX, group=group)
    highest, lowest = extremes.tolist()
    if highest == -lowest:
        return
    found: list[Schema] = [{}] * distributed.get_world_size(group)
    distributed.all_gather_object(found, own, group=group)
    raise ValueError(f"{action}: {difference(found, [f'rank {rank}' for rank in ranks(group)])}")


def ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks of the processes of a group."""
    from torch import distributed

    return distributed.get_process_group_ranks(group)


def digest(schema: Schema) -> int:
    """A number that is the same for equal schemas, in every process and version of Python."""
    text = "\n".join(f"{key}: {value}" for key, value in schema.items())
    # 56 bits, so that the number and its negative fit into an int64.
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def probe_device(self: Stored) -> torch.device:
    """Where a backend that moves the tensors of this object can reach a number too."""
    return next((leaf.device for leaf in self._leaves()), torch.device("cpu"))


def difference(schemas: Sequence[Schema], holders: Sequence[str]) -> str:
    """The first difference of a schema from the first one, in words; `holders` says who has them."""
    for holder, other in zip(holders, schemas, strict=True):
        for key in {**schemas[0], **other}:
            left, right = schemas[0].get(key, "nothing"), other.get(key, "nothing")
            if left != right:
                return f"{key} differs: {left} in {holders[0]}, {right} in {holder}"
    return "no difference"
