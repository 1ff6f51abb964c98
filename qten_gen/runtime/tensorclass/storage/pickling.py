"""Pickles. By the declared class alone, so that a safe `torch.load` needs only that class on its list.

From protocol 5 on, plain tensors are pickled as buffers, in or out of band, in a tenth of the time that torch takes. Protocols up
to 4, and with them `torch.save`, keep to torch's own way. So do the queues of `multiprocessing`, which hand over shared memory;
a memory map is sent as its folder.
"""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Callable
from functools import partial
from pickle import PickleBuffer
from typing import Any, Final, NotRequired, SupportsIndex, TypedDict, TypeVar, cast

import torch
from torch import Size, Tensor

from ..core import late
from ..core.attributes import beside_fields, store_beside
from ..core.contents import contents, tensor_and_nested, tensors_of
from ..core.locks import lock
from ..core.other_libraries import bare
from ..core.stored import FROZEN, Stored
from ..fields.as_declared import fit_saved
from ..fields.per_item import PerItem
from ..torch_tools.packing import DTYPES, PACKED, Code, codes_to_send, decoded, dtype_name, each, is_plain
from . import files, memory_map
from .json_values import encode
from .loading import filled
from .metadata import StorageError

T = TypeVar("T", bound=Stored)

_UNPICKLED: Final = {*DTYPES.values()} - torch.storage._dtype_to_storage_type_map().keys()
"""Dtypes that only `torch.save` takes."""


class State(TypedDict):
    """The state in a pickle. A field that was added since, and has a default, need not be there.

    Where the fingerprint of the class is the same as `declared`, everything fits. The rest is there where it is not empty:
    `attributes` that are no fields, and fields in `raw` with codes in place of tensors, see `torch_tools/packing.py`.
    """

    fields: dict[str, object]
    batch_size: tuple[int, ...]
    device: str | None
    declared: NotRequired[str]
    names: NotRequired[tuple[str | None, ...]]
    attributes: NotRequired[dict[str, object]]
    lock: NotRequired[bool]
    raw: NotRequired[dict[str, object]]


def reduce(self: T) -> tuple[Callable[..., object], tuple[type[T], ...], State]:
    """How to pickle with torch's tensors: the class and a state of plain values."""
    device = None if self._device is None else str(self._device)
    fields = {name: bare(value) for name, value in contents(self).items()}
    for name in self._per_item:
        # Plain lists: whoever loads the pickle safely has the class of the object on the list, and no other.
        value = cast("PerItem[object] | None", fields[name])
        fields[name] = None if value is None else [*value.values()]
    declared: str = type(self)._fingerprint  # type: ignore[attr-defined] # every generated class has one
    state = State(fields=fields, batch_size=tuple(self._batch_size), device=device, declared=declared)
    beside = {"names": self._names, "lock": self._lock not in (None, FROZEN), "attributes": beside_fields(self)}
    state.update(cast(State, {name: value for name, value in beside.items() if value}))
    if self.__structure__:  # no name leads to a Ragged of objects
        return late.ragged.unpickled, (), state
    return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined] # undocumented, but what pickle itself uses


def reduce_ex(self: Stored, protocol: SupportsIndex) -> str | tuple[Any, ...]:
    """How to pickle in a protocol. A `__reduce__` that a class defines itself is asked in all of them."""
    own: object = type(self).__reduce__
    if own is not reduce:
        return self.__reduce__()
    reduced = reduce(self)
    _replace(reduced[2], tensor_and_nested(self), partial(_as_raw, {}, operator.index(protocol)))
    return reduced


def _as_raw(seen: dict[int, object], protocol: int, value: object) -> object:
    """A tensor as its bytes, where it is nothing but its elements; the same for a tensor that was seen before."""
    if type(value) is not Tensor or not is_plain(value):
        return value
    if protocol < 5 and value.dtype not in _UNPICKLED:
        return value.clone() if hasattr(value.untyped_storage(), PACKED) else value
    key = id(value)
    if key not in seen:
        if protocol < 5:
            return seen.setdefault(key, _in_memory(value))
        memory, strides = value, None
        if not value.is_contiguous():
            if torch.ops.aten.is_non_overlapping_and_dense.default(value):
                memory, strides = value.as_strided((value.numel(),), (1,)), value.stride()
            elif value.numel() * value.itemsize <= value.untyped_storage().nbytes():
                memory = value.contiguous()
            else:
                return value  # an expanded one
        seen[key] = (dtype_name(value.dtype), tuple(value.shape), strides, PickleBuffer(files.memory_of(memory)), 0)
    return seen[key]


def _in_memory(value: Tensor) -> Code:
    """A tensor as a part of its storage, which is sent as bytes."""
    memory = torch.empty(0, dtype=torch.uint8, device="cpu").set_(value.untyped_storage())
    return dtype_name(value.dtype), tuple(value.shape), value.stride(), memory, int(value.storage_offset())


def restore(self: Stored, state: State) -> None:
    """Fill an unpickled object. A field that the pickle does not have gets its default, as the constructor would store it.

    Raises:
        TypeError, ValueError: the class was declared otherwise when the object was pickled, and what it held, or a default, does
            not fit.
    """
    stored = state["fields"]
    seen: dict[int, Tensor] = {}
    for name, code in state.get("raw", {}).items():
        stored[name] = _from_raw(seen, code) if type(code) is tuple else each(code, partial(_from_raw, seen))
    batch_size = Size(state["batch_size"])
    for field in self._per_item:
        if isinstance(stored.get(field), list):
            stored[field] = PerItem(cast("list[object]", stored[field]), batch_size)
    device = None if state["device"] is None else torch.device(state["device"])
    if device is not None:
        values = [leaf for name in tensor_and_nested(self) for leaf in tensors_of(stored.get(name))]
        devices = {leaf.device for leaf in values if isinstance(leaf, (Tensor, Stored))} - {None}
        if devices and devices != {device}:  # `torch.load` has put the tensors elsewhere
            device = devices.pop() if len(devices) == 1 else None
    if state.get("declared") != type(self)._fingerprint:  # type: ignore[attr-defined] # as above
        fit_saved(self, stored, batch_size, device)
    filled(self, stored, batch_size, device, state.get("names"))
    if "attributes" in state:
        store_beside(self, state["attributes"])
    if state.get("lock", False):
        lock(self)


def _from_raw(seen: dict[int, Tensor], code: object) -> object:
    """The tensor of a code, the same one for the same code; anything else as it is."""
    if not isinstance(code, tuple):
        return code
    if id(code) not in seen:
        seen[id(code)] = decoded(code)
    return seen[id(code)]


def reduce_for_processes(self: Stored) -> tuple[Any, ...]:
    """How to send to another process: tensors in shared memory, as torch does; a memory map as its folder, a part copied.

    A worker of a DataLoader sends its small tensors in one storage.
    """
    # No name leads to the class of a Ragged.
    folder = None if self.__structure__ else memory_map.saved_path(self)
    if folder is not None and _holds(folder, self):
        return memory_map.load_memmap, (type(self), folder)
    reduced = reduce(self)
    codes = codes_to_send(self)
    _replace(reduced[2], tensor_and_nested(self), lambda value: codes.get(id(value)) or _sendable(value))
    return reduced


def _replace(state: State, names: tuple[str, ...], fn: Callable[[object], object]) -> None:
    """Put what `fn` makes of the tensors of some fields in their place."""
    fields = state["fields"]
    for name in names:
        found = each(fields[name], fn)
        if found is not fields[name]:
            state.setdefault("raw", {})[name] = found
            del fields[name]


def _holds(folder: str, value: Stored) -> bool:
    """True if a folder gives the same object: a locked one may have got other values, or the folder another object."""
    try:
        return _facts(value) == _facts(memory_map.load_memmap(type(value), folder))
    except (OSError, StorageError, TypeError):
        return False


def _facts(value: object) -> object:
    """An object or tensor of a memory map as values that can be compared: static ones as JSON, in which True is not 1."""
    if isinstance(value, Tensor):
        return files.mapped_file(value), value.dtype, value.shape
    if not isinstance(value, Stored):
        return value
    fields, static = value._field_values()
    kind, values = (type(value), value._batch_size, value._device, value._names), encode([*static], "")
    return *kind, str(values), [*beside_fields(value)], [each(item, _facts) for item in fields]


def _sendable(value: object) -> object:
    """A copy of a tensor that torch would move out of its file, or send without its conjugate bit; any other value as it is."""
    if type(value) is not Tensor or value.layout is not torch.strided:
        return value
    if is_plain(value) and hasattr(value.untyped_storage(), PACKED):
        return _in_memory(value)
    return value.clone() if files.file_of(value) is not None else value.resolve_conj().resolve_neg()
