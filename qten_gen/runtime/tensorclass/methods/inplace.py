"""Writing into the tensors of an object, in place, by key. A locked object allows it, a frozen one does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar, cast, overload

from torch import Tensor

from ....common.naming import storage
from ..core.contents import contents, tensor_and_nested
from ..core.error_text import describe, label
from ..core.locks import refuse_if_frozen
from ..core.lookup import Key, Values, owner_of, pairs
from ..core.other_libraries import is_number, is_tensordict
from ..core.stored import Stored
from ..fields.dicts_and_lists import Several
from ..fields.ragged_rows import refuse_other_lengths
from ..fields.ragged_storage import RaggedStorage
from ..fields.same_values import same
from ..fields.tensor import in_both
from .assignment import refuse_unsaved

T = TypeVar("T", bound=Stored)


class Items(NamedTuple):
    """A PerItem field, whose Python values are exchanged as a whole."""

    owner: Stored
    name: str


Write = tuple[Tensor | Items, object]
"""The target of a write, and the tensor, number or Python values that go there."""


def set_(self: T, key: Key, value: object, *, non_blocking: bool = False) -> T:
    """Write a tensor of the field's shape, or a number, into the tensor that the field holds.

    >>> Batch(torch.zeros(2), batch_size=2).set_("tokens", torch.tensor([1, 2])).tokens
    tensor([1., 2.])

    The shapes are equal and not broadcast. The tensor keeps its dtype and device, as with `Tensor.copy_`. Of a nested object
    the tensors are written, as in `update_`, of a dict or list of tensors each one.

    Raises:
        KeyError: there is no such field.
        TypeError: the field is static, or the value is not a tensor.
        ValueError: the field is None, or the shapes differ.
        FrozenInstanceError: the object is frozen.
    """
    write(*owner_of(self, key), value, non_blocking)
    return self


@overload
def update_(
    self: T,
    values: Mapping[str, object] | T | None = None,
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T: ...
@overload
def update_(
    self: T,
    values: Mapping[Key, object],
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T: ...
def update_(
    self: T,
    values: Values | T | None = None,
    *,
    non_blocking: bool = False,
    **fields: object,
) -> T:
    """Write into the tensors of several fields, as `set_` does into one; or into all, from another object of the class.

    Nothing is written where one of the values does not fit. Where torch itself refuses a write, as into a leaf that requires a
    gradient, the fields before it are written already.

    >>> batch = Batch(torch.zeros(2), torch.zeros(2), batch_size=2)
    >>> batch.update_({"mask": 1.0}, tokens=torch.tensor([1.0, 2.0])).tokens
    tensor([1., 2.])

    Args:
        values: Values by key, or an object of the class.
        non_blocking: Do not wait for copies to another device.
        fields: More values by name.

    Raises:
        KeyError: there is no such field.
        TypeError: a field is static, or a value is not a tensor.
        ValueError: a field is None, or shapes differ.
        FrozenInstanceError: the object is frozen.
    """
    if isinstance(values, type(self)) and not fields:
        return copy_(self, values, non_blocking)
    _carry_out(_updates(self, pairs(self, values, fields)), non_blocking)
    return self


def copy_(self: T, source: T, non_blocking: bool = False) -> T:
    """Write the tensors of another object of the class into the tensors here; shapes and static values have to be the same.

    A `PerItem` field gets the values of the other object. Nothing is written where something does not fit, as in `update_`.

    >>> batch = Batch(torch.zeros(2), batch_size=2)
    >>> batch.copy_(Batch(torch.ones(2), batch_size=2)).tokens
    tensor([1., 1.])

    Raises:
        TypeError: it is of another class.
        ValueError: shapes or static values differ, or a field is None in one of them.
        FrozenInstanceError: the object is frozen.
    """
    if type(source) is not type(self):
        instead = "; update_ takes one" if is_tensordict(source) else ""
        raise TypeError(f"copy_: expected a {type(self).__name__}, got {describe(source)}{instead}")
    _carry_out(_copies(self, source), non_blocking)
    return self


def write(owner: Stored, name: str, value: object, non_blocking: bool) -> None:
    """Write into what a field holds: a tensor of its shape, a number, or for several tensors as many, by key or in order."""
    _carry_out(_writes(owner, name, value), non_blocking)


def _carry_out(writes: Iterable[Write], non_blocking: bool) -> None:
    """Write, once all of the values have been found to fit."""
    for target, value in [*writes]:
        if not isinstance(target, Tensor):
            # A locked object allows it: the new values stand for a write into those that are there.
            setattr(target.owner, storage(target.name), value)
        elif isinstance(value, Tensor):
            target.copy_(value, non_blocking)
        else:
            target.fill_(cast("float", value))


def _updates(self: Stored, given: Iterable[tuple[Key, object]]) -> Iterator[Write]:
    """The writes of `update_`. All keys are looked up before the first value is looked at."""
    for owner, name, value in [(*owner_of(self, key), value) for key, value in given]:
        yield from _writes(owner, name, value)


def _copies(self: Stored, source: Stored) -> Iterator[Write]:
    """The writes of `copy_`."""
    targets, sources = contents(self), contents(source)
    for name in self._static:
        if name not in self._per_item:
            same(self, name, [targets[name], sources[name]])
    for name in self._per_item:
        in_both(self, name, targets[name], sources[name])
        refuse_if_frozen(self, "write to the items of")
        refuse_unsaved(self, name, targets[name], sources[name])
        yield Items(self, name), sources[name]
    if isinstance(self, RaggedStorage) and isinstance(source, RaggedStorage):
        refuse_other_lengths(f"{type(self).__name__}.copy_", self._lengths, source._lengths)
    for name in tensor_and_nested(self):
        if name not in self.__structure__ and (targets[name] is not None or sources[name] is not None):
            yield from _writes(self, name, sources[name])


def _writes(owner: Stored, name: str, value: object) -> Iterator[Write]:
    """The writes of `write`."""
    target = _target(owner, name)
    if not isinstance(target, Stored):
        for where, tensor, given in _matched(label(owner, name), target, value):
            yield tensor, _fitting(where, tensor, given)
    elif type(value) is type(target):
        yield from _copies(target, value)
    elif isinstance(value, Mapping):
        yield from _updates(target, value.items())
    else:
        raise TypeError(f"{label(owner, name)}: expected a mapping or a {type(target).__name__}, got {describe(value)}")


def _fitting(where: str, target: Tensor, value: object) -> object:
    """The tensor or number, if it fits into the tensor."""
    if isinstance(value, Tensor) and value.shape != target.shape:
        raise ValueError(
            f"{where}: expected a shape of {list(target.shape)} to write in place, got {list(value.shape)}"
        )
    return value


def _matched(where: str, target: Tensor | Several, value: object) -> Iterator[tuple[str, Tensor, object]]:
    """Each tensor of a field, how its place is written, and the tensor or number that is to be written. A number is for all.

    Raises:
        TypeError: `value` is not of the same kind, or what is to be written neither a tensor nor a number.
        ValueError: it has not the same keys, or not as many tensors.
    """
    if isinstance(target, Tensor):
        if not (isinstance(value, Tensor) or is_number(value)):
            raise TypeError(f"{where}: expected a Tensor or a number, got {describe(value)}")
        yield where, target, value
        return
    is_for_all = is_number(value)
    keys = list(target) if isinstance(target, dict) else list(range(len(target)))
    if not is_for_all:
        if not isinstance(value, Mapping if isinstance(target, dict) else (list, tuple)):
            raise TypeError(f"{where}: expected a {type(target).__name__} of Tensor or a number, got {describe(value)}")
        given = list(value) if isinstance(value, Mapping) else list(range(len(value)))
        if {*given} != {*keys}:
            raise ValueError(f"{where}: expected tensors for {keys}, got {given}")
    for key in keys:
        one: object = value if is_for_all else value[key]  # type: ignore[index] # both have just been compared
        yield from _matched(f"{where}[{key!r}]", target[key], one)  # type: ignore[index] # a key of a dict, a place in a list


def _target(owner: Stored, name: str) -> Tensor | Several | Stored:
    """The value of a field, to be written into."""
    refuse_if_frozen(owner, "write to the tensors of")
    if name in owner.__structure__:
        raise TypeError(f"{label(owner, name)} says which rows belong to an item, and cannot be written")
    if name in owner._static:
        raise TypeError(f"{label(owner, name)} is not a tensor and cannot be written in place; use .set")
    target: Tensor | Several | Stored | None = getattr(owner, name)
    if target is None:
        raise ValueError(f"{label(owner, name)} is None, which cannot be written in place; use .set")
    return target
