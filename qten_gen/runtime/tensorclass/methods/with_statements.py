"""`with batch.lock_():`, and `with batch.view(-1) as flat:`, which writes back into the object what the block changes."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar, cast

from torch import Tensor
from torch.compiler import is_dynamo_compiling

from ..core.contents import contents, tensors_of
from ..core.locking import begin_lock_block, end_block
from ..core.lookup import Key, Values, get
from ..core.open_blocks import End, OpenBlocks
from ..core.stored import FROZEN, Stored
from .inplace import update_
from .reshaping import permute, reshape
from .updating import update

T = TypeVar("T", bound=Stored)

_Held = dict[str, "tuple[object, _Held | list[Tensor], bool]"]
"""By field, the value, what is in it (fields of an object, or tensors), and whether the tensors are copies of the source's."""


def enter(self: T) -> T:
    """Begin a `with` statement, which follows on `lock_()` or `unlock_()`, or on a method that arranges the items anew.

    Those are `view`, `reshape`, `flatten`, `unflatten`, `squeeze`, `unsqueeze`, `permute`, `transpose` and their other names,
    `movedim` and `atleast_1d` to `atleast_3d`. What the block sets or writes is written back where it ends without an error.

        with batch.view(-1) as flat:
            flat.tokens = flat.tokens + 1

    Raises:
        TypeError: it follows on nothing of the kind.
        RuntimeError: the object that this one was made of is gone, so that nothing could be written back; or the block is traced
            by `torch.compile`.
    """
    if begin_lock_block(self):
        return self
    if (
        is_dynamo_compiling()
    ):  # in a graph, no object knows what it was made of; without `fullgraph` the graph breaks here
        raise RuntimeError(
            "torch.compile(fullgraph=True) does not trace a with statement over a view of an object; write"
            " flat = batch.view(-1), and batch.update(flat.view(batch.batch_size).to_dict()) at the end"
        )
    end = _write_back_later(self)
    if end is None:
        cls = type(self).__name__
        raise TypeError(
            f"a with statement takes a {cls} from .lock_(), .unlock_(), or a method that gives the same items in "
            "another shape or order, such as .view; write the result of other methods back with .update"
        )
    if getattr(self, "_entered", None) is None:
        self._entered = OpenBlocks()
    self._entered.begin_view(end)
    return self


def leave(
    self: Stored, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
) -> None:
    """End a `with` statement: the object is locked, or not, as it was before, or is written back."""
    write_back = end_block(self)
    if write_back is not None:
        write_back(error is None)


def _write_back_later(self: Stored) -> End | None:
    """The function that ends the `with` statement of a view, which writes it back; None for other objects."""
    viewed = getattr(self, "_viewed", None)
    if viewed is None:
        return None
    reference, order = viewed if isinstance(viewed, tuple) else (viewed, None)
    source: Stored | None = reference()
    if source is None:
        raise RuntimeError(
            f"the object that this {type(self).__name__} was made of no longer exists, so nothing can be written back; "
            "assign it to a variable first"
        )
    before = _held(self, source)

    def end(succeeded: bool) -> None:
        if succeeded and source._lock is not FROZEN:
            _write_back(self, source, order, before)

    return end


def _write_back(self: Stored, source: Stored, order: list[int] | None, before: _Held) -> None:
    """Give the object that `self` was made of what has changed since `before`, and what was copied on the way."""
    undone = reshape(self, source._batch_size) if order is None else permute(self, _inverse(order))
    changed = {key: get(undone, key) for key in _changed(self, before, ())}
    if source._lock is None:
        update(source, cast("Values", changed))
    else:
        update_(source, cast("Values", changed))


def _inverse(order: list[int]) -> list[int]:
    return [order.index(place) for place in range(len(order))]


def _held(self: Stored, source: Stored) -> _Held:
    """The values of the fields as the block begins: a change of the source in the meantime is no change of the block."""
    beside = contents(source)
    held: _Held = {}
    for name, value in contents(self).items():
        other = beside[name]
        if isinstance(value, Stored) and isinstance(other, Stored) and name in self._nested:
            held[name] = value, _held(value, other), False
        else:
            tensors = _tensors(self, name, value)
            held[name] = value, tensors, not _share_memory(tensors, _tensors(self, name, other))
    return held


def _tensors(self: Stored, name: str, value: object) -> list[Tensor]:
    return [] if name in self._static else [*tensors_of(value)]


def _changed(self: Stored, before: _Held, path: tuple[str, ...]) -> list[Key]:
    """The keys of fields that hold another value than before, or whose tensors are not in the memory of the source's."""
    found: list[Key] = []
    for name, value in contents(self).items():
        was, inside, is_copied = before[name]
        if value is was and isinstance(value, Stored) and isinstance(inside, dict):
            found += _changed(value, inside, (*path, name))
        elif value is not was or is_copied or not _are_same(_tensors(self, name, value), inside):
            found.append((*path, name))
    return found


def _are_same(tensors: list[Tensor], before: _Held | list[Tensor]) -> bool:
    return len(tensors) == len(before) and all(one is was for one, was in zip(tensors, before, strict=True))


def _share_memory(tensors: list[Tensor], source: list[Tensor]) -> bool:
    return len(tensors) == len(source) and all(
        tensor.untyped_storage()._cdata == beside.untyped_storage()._cdata
        for tensor, beside in zip(tensors, source, strict=True)
    )
