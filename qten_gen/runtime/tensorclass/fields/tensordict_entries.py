"""The entries of a TensorDict as an object with fields, which is what the runtime sees where a field holds a TensorDict.

`entries` makes such an object, and `collection` makes a TensorDict again of what an operation gave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Final, NamedTuple, cast

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from ....common.naming import PRIVATE_NAMES
from ..core.contents import contents
from ..core.stored import Lock, Stored
from ..core.tensordict_library import carried, is_tensordict, library
from . import tensordict_state
from .per_item import PerItem, join_items, part_items, put_items, rearrange_items
from .static import equal
from .tensor import tensor


class Layout(NamedTuple):
    """The kinds of values under the keys of a TensorDict. The class of its entries is made for it."""

    kind: type
    """`TensorDict`, or a class that tensordict made."""
    fields: tuple[str, ...]
    """All keys, in their order."""
    nested: tuple[str, ...]
    unbatched: tuple[str, ...]
    static: tuple[str, ...]
    """The keys of Python values."""
    per_item: tuple[str, ...]
    """The keys of Python values that have one for each item."""


class Entries(Stored):
    """The entries of a TensorDict as an object with fields. Each layout has a subclass with tables of its own.

    It is made when something asks for it, and shows the TensorDict as it is then. What is changed in it (fields, items, batch
    size, names, the lock) is changed in the TensorDict that it was made from.
    """

    __slots__ = ("_td_carried", "_td_device", "_td_lock", "_td_names", "_td_origin", "_td_size", "_td_static")

    _td_layout: ClassVar[Layout]
    _td_carried: tuple[Any, ...]
    """The values under the keys, Python values left out; entries in place of TensorDicts."""
    _td_static: tuple[Any, ...]
    _td_origin: Any
    """The TensorDict; None for the result of an operation, until it is stored in a field."""

    def __getattr__(self, name: str) -> Any:  # of the type that the TensorDict holds
        if name.startswith("_td_") or name not in self._fields:
            raise AttributeError(f"no key {name!r}")
        return collection(contents(self)[name])

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_td_") or name in PRIVATE_NAMES or name == "__class__":
            object.__setattr__(self, name, value)
        else:
            _set(self, name, value)

    def __deepcopy__(self, memo: dict[int, object]) -> Entries:
        return cast(Entries, entries(deepcopy(collection(self), memo)))

    def __repr__(self) -> str:
        return repr(collection(self))

    # Properties in place of the slots of Stored: who writes to one changes the TensorDict too.
    @property
    def _batch_size(self) -> Size:
        return self._td_size

    @_batch_size.setter
    def _batch_size(self, value: Size) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._td_size = value
        if self._td_origin is not None and self._td_origin.batch_size != value:
            self._td_origin.batch_size = value

    @property
    def _device(self) -> torch.device | None:
        return self._td_device

    @_device.setter
    def _device(self, value: torch.device | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._td_device = value
        if self._td_origin is not None:
            tensordict_state.set_device(self._td_origin, value)

    @property
    def _names(self) -> tuple[str | None, ...] | None:
        return self._td_names

    @_names.setter
    def _names(self, value: tuple[str | None, ...] | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._td_names = value
        if self._td_origin is not None and tensordict_state.names_of(self._td_origin) != value:
            self._td_origin.names = [None] * len(self._td_size) if value is None else [*value]

    @property
    def _lock(self) -> Lock | None:
        return self._td_lock

    @_lock.setter
    def _lock(self, value: Lock | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._td_lock = value
        if self._td_origin is not None:
            tensordict_state.set_lock(self._td_origin, value)

    def _assign(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Entries:
        """Replace all values, in the TensorDict as well that this object was read from."""
        origin = getattr(self, "_td_origin", None)
        self._td_origin = None
        self._td_carried, self._td_static = tuple([entries(value) for value in values]), tuple(static)
        self._td_size, self._td_device, self._td_names, self._td_lock = batch_size, device, None, None
        if origin is not None:
            _exchange(origin, self)
            self._td_origin = origin
        return self

    def _made(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Entries:
        return object.__new__(type(self))._assign(values, static, batch_size, device)

    def _named(self, made: Entries) -> Entries:
        """A result in which no dimension was moved, with the names of these entries."""
        made._td_names = self._td_names
        return made

    def _each(self) -> list[tuple[str, Any]]:
        """The keys of tensors and nested entries, with what they lead to."""
        names = [name for name in self._fields if name not in self._static]
        return [*zip(names, self._td_carried, strict=True)]

    def _each_static(self) -> list[tuple[str, Any]]:
        return [*zip(self._static, self._td_static, strict=True)]

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Entries:
        return self._map_with(lambda tensor, _: fn(tensor), None, self._td_device)

    def _map_with(self, fn: Callable[[Tensor, Any], Tensor], argument: Any, device: torch.device | None) -> Entries:
        values = [
            value._map_with(fn, argument, device or value._device) if isinstance(value, Stored) else fn(value, argument)
            for value in self._td_carried
        ]
        return self._named(self._made(values, self._td_static, self._td_size, device))

    def _rearrange(self, fn: Callable[[Tensor, Any], Tensor], argument: Any, batch_size: Size) -> Entries:
        """Apply `fn` to what the batch carries, the values of the items included."""
        values = [
            value._rearrange(fn, argument, batch_size + value._batch_size[len(self._td_size) :])
            if isinstance(value, Stored)
            else value
            if name in self._unbatched
            else fn(value, argument)
            for name, value in self._each()
        ]
        static = [
            rearrange_items(self, name, fn, value, argument) if isinstance(value, PerItem) else value
            for name, value in self._each_static()
        ]
        return self._made(values, static, batch_size, self._td_device)

    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Any) -> Entries:
        others: dict[str, Any] = contents(in_order(self, other))
        values = [
            mine._zip(fn, others[name]) if isinstance(mine, Stored) else fn(mine, others[name])
            for name, mine in self._each()
        ]
        return self._named(self._made(values, self._td_static, self._td_size, self._td_device))

    def _index_put(self, index: Any, value: Any) -> None:
        """Write into the tensors. A Python value that differs becomes one for each item, in the TensorDict itself."""
        me, other = aligned([self, value])
        for (name, mine), theirs in zip(me._each(), other._td_carried, strict=True):
            if isinstance(mine, Stored):
                mine._index_put(index, theirs)
            elif name not in self._unbatched:
                mine[index] = theirs
        for (name, mine), theirs in zip(me._each_static(), other._td_static, strict=True):
            if isinstance(mine, PerItem):
                _set(self, name, put_items(self, name, mine, index, theirs))

    def _check_compatible(self, other: Any) -> None:
        in_order(self, other)

    def _join(self, fn: Callable[[list[Tensor]], Tensor], items: Sequence[Any], batch_size: Size) -> Entries:
        """Join the entries key by key. Python values that differ become one for each item."""
        found = aligned(items)
        first, count = found[0], len(self._td_size)
        columns = zip(*[item._td_carried for item in found], strict=True)
        values = [
            column[0]._join(fn, column, batch_size + column[0]._batch_size[count:])
            if isinstance(column[0], Stored)
            else column[0]
            if name in self._unbatched
            else fn([*column])
            for (name, _), column in zip(first._each(), columns, strict=True)
        ]
        python = zip(*[item._td_static for item in found], strict=True)
        static = [
            join_items(self, name, fn, column) if isinstance(column[0], PerItem) else column[0]
            for (name, _), column in zip(first._each_static(), python, strict=True)
        ]
        return first._made(values, static, batch_size, self._td_device)

    def _split(
        self, fn: Callable[[Tensor, Any], Sequence[Tensor]], argument: Any, batch_sizes: Sequence[Size]
    ) -> Sequence[Entries]:
        """Cut every tensor and the values of the items; a Python value that is the same for all is in every piece."""
        count, own = len(batch_sizes), len(self._td_size)
        columns: list[Sequence[Any]] = [
            value._split(fn, argument, [size + value._batch_size[own:] for size in batch_sizes])
            if isinstance(value, Stored)
            else [value] * count
            if name in self._unbatched
            else fn(value, argument)
            for name, value in self._each()
        ]
        static: list[Sequence[Any]] = [
            part_items(self, name, fn, value, argument, batch_sizes) if isinstance(value, PerItem) else [value] * count
            for name, value in self._each_static()
        ]
        return [
            self._made([column[at] for column in columns], [column[at] for column in static], size, self._td_device)
            for at, size in enumerate(batch_sizes)
        ]

    def _leaves(self) -> list[Tensor]:
        parts = [value._leaves() if isinstance(value, Stored) else [value] for value in self._td_carried]
        return [leaf for part in parts for leaf in part]

    def _field_values(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return self._td_carried, self._td_static

    def _to_dict(self) -> dict[str, object]:
        return {
            name: value._to_dict() if isinstance(value, Stored) else value for name, value in contents(self).items()
        }


def in_order(self: Stored, other: Stored) -> Entries:
    """Entries with the keys of others, in their order.

    Raises:
        ValueError: they have other keys.
    """
    if not isinstance(other, Entries) or {*other._fields} != {*self._fields}:
        raise ValueError(f"expected the keys {[*self._fields]} in every TensorDict, got {[*other._fields]}")
    same = other._fields == self._fields
    return other if same else cast(Entries, entries(collection(other).select(*self._fields)))


def aligned(items: Sequence[Entries]) -> list[Entries]:
    """Entries of several TensorDicts in the order of the first. A Python value that differs becomes one for each item.

    Raises:
        ValueError: they have other keys.
    """
    first = items[0]
    found = [in_order(first, item) for item in items]
    held = [contents(item) for item in found]
    apart = {
        name
        for name in first._static
        if any(isinstance(one[name], PerItem) or not equal(one[name], held[0][name]) for one in held)
    }
    return [_with_items(item, apart) for item in found] if apart else found


def _with_items(self: Entries, apart: set[str]) -> Entries:
    """The same entries, where the values of some keys are one for each item."""
    static = [
        value
        if name not in apart or isinstance(value, PerItem)
        else PerItem([value] * self._td_size.numel(), self._td_size)
        for name, value in self._each_static()
    ]
    layout = self._td_layout._replace(per_item=tuple([name for name in self._static if name in apart]))
    made = object.__new__(class_of(layout))
    return self._named(made._assign(self._td_carried, static, self._td_size, self._td_device))


_CLASSES: Final[dict[Layout, type[Entries]]] = {}
_REGISTER: Final[list[Callable[[type[Stored]], None]]] = []


def register_made_classes(register: Callable[[type[Stored]], None]) -> None:
    """Let `register` make every class of entries known elsewhere, such as to pytree, which stands above this module."""
    if register not in _REGISTER:
        _REGISTER.append(register)


def class_of(layout: Layout) -> type[Entries]:
    """The class of entries with a layout."""
    found = _CLASSES.get(layout)
    if found is None:
        tables = {
            "__slots__": (),
            "__module__": __name__,
            "__qualname__": f"Entries{len(_CLASSES)}",
            "_td_layout": layout,
            "_fields": layout.fields,
            "_nested": dict.fromkeys(layout.nested, ""),
            "_unbatched": layout.unbatched,
            "_static": layout.static,
            "_per_item": layout.per_item,
        }
        found = _CLASSES[layout] = type(layout.kind.__name__, (Entries,), tables)
        for register in _REGISTER:
            register(found)
    return found


def entries(value: Any) -> Any:  # the object for a TensorDict; any other value is given as it is
    """The entries of a TensorDict as an object with fields. Anything else, such as None or an object, as it is."""
    if value is None or isinstance(value, (Tensor, Stored)) or not is_tensordict(value):
        return value
    made = library("a TensorDict")
    held: list[object] = []
    static: list[object] = []
    nested, unbatched, python, per_item = [], [], [], []
    fields = tuple(value.keys())
    for name in fields:
        entry: Any = cast(Any, value)._get_str(name, None)
        if isinstance(entry, made.NonTensorStack):
            per_item.append(name)
            static.append(_items(entry))
        elif isinstance(entry, made.NonTensorData) and not isinstance(entry.data, Stored):
            static.append(entry.data)
        elif isinstance(entry, made.UnbatchedTensor):
            unbatched.append(name)
            held.append(carried(entry))
        else:
            found = entries(entry.data if isinstance(entry, made.NonTensorData) else entry)
            if isinstance(found, Stored):
                nested.append(name)
            held.append(found)
            continue
        if name not in unbatched:
            python.append(name)
    kind = type(value) if made.is_tensorclass(type(value)) else made.TensorDict
    layout = Layout(kind, fields, tuple(nested), tuple(unbatched), tuple(python), tuple(per_item))
    out = object.__new__(class_of(layout))
    out._assign(held, static, value.batch_size, value.device)
    out._td_names = tensordict_state.names_of(value)
    out._td_lock = tensordict_state.lock_of(value)
    out._td_origin = value
    return out


def _items(entry: Any) -> PerItem[Any]:
    values: list[object] = [entry.tolist()]
    for _ in entry.batch_size:
        values = [one for part in values for one in cast("list[object]", part)]
    return PerItem(values, entry.batch_size)


def collection(value: Any) -> Any:  # the TensorDict for entries; any other value is given as it is
    """The TensorDict, or the object of a tensordict class, that entries stand for. Anything else as it is."""
    if not isinstance(value, Entries):
        return value
    if value._td_origin is None:
        value._td_origin = _build(value)
        if value._td_lock is not None:
            tensordict_state.set_lock(value._td_origin, value._td_lock)
    return value._td_origin


def _build(self: Entries) -> Any:
    """A new TensorDict with these entries."""
    made = library("a TensorDict")
    source = {name: _entry(made, self, name, value) for name, value in contents(self).items()}
    names = None if self._td_names is None else [*self._td_names]
    construct = made.TensorDict if self._unbatched or is_compiling() else made.TensorDict._new_unsafe
    found = construct(source, batch_size=self._td_size, device=self._td_device, names=names)
    kind: Any = self._td_layout.kind
    return found if kind is made.TensorDict else kind._from_tensordict(found)


def _entry(made: Any, self: Entries, name: str, value: object) -> object:
    """A value as a TensorDict holds it."""
    if isinstance(value, PerItem):
        return stacked(made, value)
    if name in self._static or (isinstance(value, Stored) and not isinstance(value, Entries)):
        return made.NonTensorData(value, batch_size=self._td_size, device=self._td_device)
    return made.UnbatchedTensor(value) if name in self._unbatched else collection(value)


def stacked(made: Any, value: PerItem[Any]) -> object:
    """One `NonTensorData` for each item, in stacks for the batch dimensions. Values may be lists themselves."""
    if not value.batch_size:
        return made.NonTensorData(value.item())
    return made.NonTensorStack(*[stacked(made, item) for item in value], stack_dim=0)


def _set(self: Entries, name: str, value: object) -> None:
    """Store another value under a key, in the TensorDict too."""
    held = contents(self).get(name)
    if isinstance(value, PerItem):
        value = stacked(library("a TensorDict"), value)
    elif isinstance(held, Tensor) and name not in self._unbatched:
        value = tensor(self, name, value, self._td_size, self._td_device)
    self._td_origin.set(name, collection(value))
    fresh = entries(self._td_origin)
    self.__class__ = type(fresh)  # other keys and kinds of values have another class
    self._td_carried, self._td_static = fresh._td_carried, fresh._td_static


def _exchange(origin: Any, new: Entries) -> None:
    """Give a TensorDict the entries, the batch size and the device of another one, in place."""
    inner, built = tensordict_state.inner(origin), tensordict_state.inner(_build(new))
    lock = tensordict_state.lock_of(origin)
    if inner.is_locked:
        inner.unlock_()
    inner.batch_size = []  # takes the names of the dimensions away, too
    inner.clear_device_()
    for name, value in built.items():
        inner._set_str(name, value, validated=True, inplace=False, non_blocking=False)
    inner.batch_size = new._td_size
    inner._device = new._td_device
    if lock is not None:
        tensordict_state.set_lock(origin, lock)
