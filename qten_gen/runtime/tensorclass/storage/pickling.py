"""Pickles. By the declared class alone, so that a safe `torch.load` needs only that class on its list.

From protocol 5 on, plain tensors are pickled as buffers, in or out of band, in a tenth of the time that torch takes. Protocols up
to 4, and with them `torch.save`, keep to torch's own way. So do the queues of `multiprocessing`, which hand over shared memory:
they ask a function of their own, which sends memory maps by their files.
"""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Callable
from pickle import PickleBuffer
from typing import Any, NamedTuple, NotRequired, SupportsIndex, TypeAlias, TypedDict, TypeGuard, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._C._functorch import is_functorch_wrapped_tensor

from ..core.contents import beside_fields, contents, store_beside, tensors_of
from ..core.locks import lock
from ..core.other_libraries import bare
from ..core.stored import FROZEN, Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.as_declared import fit_saved
from ..fields.per_item import PerItem
from . import files
from .metadata import DTYPES, StorageError, dtype_name

T = TypeVar("T", bound=Stored)


class State(TypedDict):
    """The state in a pickle. Fields by name: one that was added since, and has a default, need not be there."""

    fields: dict[str, object]
    batch_size: tuple[int, ...]
    device: str | None
    declared: NotRequired[str]
    """The fingerprint of the class; where it is the same, everything fits."""
    names: NotRequired[tuple[str | None, ...]]
    """Only where a batch dimension has a name."""
    attributes: NotRequired[dict[str, object]]
    """Only where the object has attributes that are no fields."""
    lock: NotRequired[bool]
    """Only where the object was locked."""
    raw: NotRequired[dict[str, tuple[str, tuple[int, ...], Any]]]
    """Tensors as buffers: dtype, shape and elements."""
    files: NotRequired[bool]
    """Only where there are parts of files in the place of tensors."""


Reduced: TypeAlias = tuple[Callable[..., object], tuple[type[T]], State]


def reduce(self: T) -> Reduced[T]:
    """How to pickle with torch's tensors: the class and a state of plain values."""
    device = None if self._device is None else str(self._device)
    fields = {name: bare(value) for name, value in contents(self).items()}
    for name in self._per_item:
        # Plain lists: whoever loads the pickle safely has the class of the object on the list, and no other.
        value = cast("PerItem[object] | None", fields[name])
        fields[name] = None if value is None else [*value.values()]
    state = State(fields=fields, batch_size=tuple(self._batch_size), device=device, declared=_declared(self))
    if self._names is not None:
        state["names"] = self._names
    if self._lock not in (None, FROZEN):
        state["lock"] = True
    attributes = beside_fields(self)
    if attributes:
        state["attributes"] = attributes
    return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined] # undocumented, but what pickle itself uses


def _declared(self: Stored) -> str:
    """The fingerprint of the fields of a class."""
    found: str = type(self)._fingerprint  # type: ignore[attr-defined] # every generated class has one
    return found


def reduce_ex(self: Stored, protocol: SupportsIndex) -> str | tuple[Any, ...]:
    """How to pickle in a protocol. A `__reduce__` that a class defines itself is asked in all of them."""
    own: object = type(self).__reduce__
    if operator.index(protocol) < 5 or own is not reduce:
        return self.__reduce__()
    reduced = reduce(self)
    fields = reduced[2]["fields"]
    # Torch keeps one tensor one, so tensors that share memory are left to it, those in dicts and lists too.
    leaves = [leaf for value in fields.values() for leaf in tensors_of(value)]
    storages = [leaf.untyped_storage()._cdata for leaf in leaves if _has_storage(leaf)]
    if len(set(storages)) == len(storages):
        raw = {name: value for name, value in fields.items() if type(value) is Tensor and _is_plain(value)}
        for name in raw:
            del fields[name]
        if raw:
            reduced[2]["raw"] = {
                name: (dtype_name(tensor.dtype), tuple(tensor.shape), PickleBuffer(files.memory_of(tensor)))
                for name, tensor in raw.items()
            }
    return reduced


def _has_storage(value: object) -> TypeGuard[Tensor]:
    return type(value) is Tensor and value.layout is torch.strided


def _is_plain(tensor: Tensor) -> bool:
    """True if a tensor is nothing but its elements: contiguous on the CPU, without history, hooks or attributes."""
    return (
        tensor.is_cpu
        and not tensor.requires_grad
        and tensor.layout is torch.strided
        and tensor.is_contiguous()
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.__dict__
        and dtype_name(tensor.dtype) in DTYPES
        and not is_functorch_wrapped_tensor(tensor)
    )


def restore(self: Stored, state: State) -> None:
    """Fill an unpickled object. A field that the pickle does not have gets its default, as the constructor would store it.

    Raises:
        TypeError, ValueError: the class was declared otherwise when the object was pickled, and what it held, or a default, does
            not fit.
    """
    stored = state["fields"]
    for name, (dtype, shape, buffer) in state.get("raw", {}).items():
        stored[name] = _from_buffer(dtype, shape, buffer)
    if state.get("files", False):
        for name, value in stored.items():
            stored[name] = _each(value, lambda item: _from_file(item) if isinstance(item, FilePart) else item)
    batch_size = Size(state["batch_size"])
    for field in self._per_item:
        if isinstance(stored.get(field), list):
            stored[field] = PerItem(cast("list[object]", stored[field]), batch_size)
    device = _device(state["device"], stored)
    same = state.get("declared") == _declared(self)
    if not same:
        fit_saved(self, stored, batch_size, device)
    values = [stored[field] for field in self._fields if field not in self._static]
    self._assign(values, [stored[field] for field in self._static], batch_size, device)
    self._names = state.get("names")
    if not same and self._shapes:
        refuse_contents(self, batch_size, contents(self))
    store_beside(self, state.get("attributes", {}))
    if state.get("lock", False):
        lock(self)


def _from_buffer(dtype: str, shape: tuple[int, ...], buffer: Any) -> Tensor:
    view = memoryview(buffer)
    # `torch.frombuffer` takes no empty buffer.
    if not view.nbytes:
        return torch.empty(shape, dtype=DTYPES[dtype], device="cpu")
    # Torch takes memory that may not be written to, and writes to it.
    memory = bytearray(view) if view.readonly else buffer
    return torch.reshape(torch.frombuffer(memory, dtype=DTYPES[dtype]), shape)


def _device(device: str | None, stored: dict[str, object]) -> torch.device | None:
    """Where an object says that its tensors are: `torch.load` may have put them elsewhere."""
    if device is None:
        return None
    said = torch.device(device)
    leaves = [leaf for value in stored.values() for leaf in tensors_of(value)]
    found = {leaf.device for leaf in leaves if isinstance(leaf, Tensor)}
    found |= {leaf._device for leaf in leaves if isinstance(leaf, Stored) and leaf._device is not None}
    elsewhere = found - {said}
    return said if not elsewhere else elsewhere.pop() if len(elsewhere) == 1 else None


class FilePart(NamedTuple):
    """A tensor in a memory map: the file, as it was, and where in it."""

    file: files.MappedFile
    size: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def reduce_for_processes(self: T) -> Reduced[T]:
    """How to send to another process: tensors in shared memory, as torch does, and those of memory maps by their files."""
    reduced = reduce(self)
    fields = reduced[2]["fields"]
    for name, value in fields.items():
        if name not in self._static:
            fields[name] = sent = _each(value, _sent)
            if sent is not value:
                reduced[2]["files"] = True
    return reduced


def _each(value: object, fn: Callable[[object], object]) -> object:
    """`fn` of a value, or of those in a dict or list of tensors; the dict or list itself where nothing changes."""
    if isinstance(value, (dict, list)):
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
        found = {key: fn(item) for key, item in items}
        if all(found[key] is item for key, item in items):
            return value
        return found if isinstance(value, dict) else [*found.values()]
    return fn(value)


def _sent(value: object) -> object:
    """The form in which a value is sent: a tensor in a file as its part of the file."""
    file = files.file_of(value) if _has_storage(value) else None
    if file is None or not isinstance(value, Tensor):
        return value
    size = value.untyped_storage().nbytes()
    if not size or not files.is_current(file):
        return value.clone()  # torch cannot share the memory of a file whose name it has not got
    place = tuple(value.shape), value.stride(), int(value.storage_offset())
    return FilePart(file, size, dtype_name(value.dtype), *place)


def _from_file(part: FilePart) -> Tensor:
    dtype, path = DTYPES[part.dtype], part.file.path
    whole = files.map_tensor(path, dtype, (part.size // dtype.itemsize,), path, longer=True)
    if files.file_of(whole) != part.file:
        raise StorageError(f"{path} was replaced while an object with a part of it was on its way to this process")
    return whole.as_strided(part.shape, part.strides, part.offset)
