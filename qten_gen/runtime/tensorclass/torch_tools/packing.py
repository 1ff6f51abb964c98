"""Small tensors in one storage, so that a batch crosses to another process by one descriptor and not by one for each field.

"Packed" is a fact of memory and no state of an object: its tensors are views of one storage. What is copied are the ranges of
bytes that tensors lie in, so that strides, and which tensors share memory, stay as they are.

What a worker of a DataLoader sends is packed while it is pickled, all objects of a message together.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from ctypes import memmove
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from operator import itemgetter
from typing import Any, Final, TypeAlias, TypeVar, cast
from weakref import ReferenceType, WeakKeyDictionary, ref

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.compiler import is_compiling
from torch.utils.data import get_worker_info

from ..core.attributes import beside_fields
from ..core.contents import tensors_of
from ..core.stored import Stored
from ..fields.per_item import PerItem

T = TypeVar("T", bound=Stored)

Code: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...] | None, Any, int]
"""A tensor as a part of memory: dtype, shape, strides where it is not contiguous, a tensor of bytes or other memory, and
the first element there."""

Places: TypeAlias = dict[int, tuple[str, tuple[int, ...], tuple[int, ...], int]]
"""Where tensors lie in one memory, by their ids: dtype, shape, strides and the first element there."""

_DTYPE_NAMES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
).split()

DTYPES: Final[dict[str, torch.dtype]] = {name: getattr(torch, name) for name in _DTYPE_NAMES if hasattr(torch, name)}
"""Dtypes whose elements are plain bytes, by name."""

LARGEST: Final = 2**18
"""Bytes of the largest tensor that is packed: of larger ones the copy costs more than a descriptor, and one that is kept would
keep the others in memory."""

PACKED: Final = "_is_packed_by_qten_gen"
"""The attribute of a storage with tensors of several dtypes, of which `torch.save` writes only one."""

_ALIGNED = 64


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def is_plain(tensor: Tensor) -> bool:
    """True if a tensor is nothing but its elements: on the CPU, without history, hooks or attributes."""
    return (
        not torch.compiler.is_compiling()  # dynamo cannot read the attributes of a tensor
        and tensor.is_cpu
        and not tensor.requires_grad
        and tensor.layout is torch.strided
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.__dict__
        and dtype_name(tensor.dtype) in DTYPES
        and not is_functorch_wrapped_tensor(tensor)
    )


def each(value: object, fn: Callable[[object], object]) -> object:
    """`fn` of a value, or of those in a dict or list of tensors; the dict or list itself where nothing changes."""
    if isinstance(value, (dict, list)):
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
        found = {key: fn(item) for key, item in items}
        if all(found[key] is item for key, item in items):
            return value
        return found if isinstance(value, dict) else [*found.values()]
    return fn(value)


def copied(
    tensors: Iterable[Tensor], *, shared: bool, all_of_them: bool = False, outside: Iterable[int] = ()
) -> tuple[Tensor, Places]:
    """Bytes with a copy of the small tensors among some, and where each lies.

    Args:
        shared: Whether other processes can map the storage.
        all_of_them: Whether tensors in shared memory are copied too.
        outside: Storages whose tensors are not copied, because others that share their memory are not.
    """
    by_storage: dict[int, list[tuple[int, int, Tensor]]] = {}
    plain, others = list[Tensor](), {*outside}
    for tensor in tensors:
        if type(tensor) is Tensor and is_plain(tensor):
            plain.append(tensor)
        elif tensor.layout is torch.strided and not is_functorch_wrapped_tensor(tensor):
            others.add(tensor.untyped_storage()._cdata)
    for tensor in plain:
        storage = tensor.untyped_storage()
        if storage._cdata not in others and (all_of_them or not storage.is_shared()):
            size, first = tensor.itemsize, int(tensor.storage_offset()) * tensor.itemsize
            count = tensor.numel()
            if count and not tensor.is_contiguous():
                count = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True)) + 1
            end = first + count * size
            if end <= storage.nbytes():  # not freed by `resize_(0)`
                by_storage.setdefault(storage._cdata, []).append((first, end, tensor))
    ranges: list[tuple[int, int, list[Tensor]]] = []
    for found in by_storage.values():
        start, end, inside = 0, 0, list[Tensor]()
        for first, last, tensor in sorted(found, key=itemgetter(0, 1)):
            if inside and first >= end:
                ranges.append((start, end, inside))
                inside = []
            if not inside:
                # A multiple of the size of every element.
                start, end = first // 16 * 16, last
            inside.append(tensor)
            end = max(end, last)
        ranges.append((start, end, inside))
    small = [each for each in ranges if each[1] - each[0] <= LARGEST]
    slots = [-(-(end - start) // _ALIGNED) * _ALIGNED for start, end, _ in small]
    flat = _room(sum(slots), shared)
    places: Places = {}
    at = 0
    for (start, end, inside), slot in zip(small, slots, strict=True):
        # A tenth of the time that views of both and `copy_` take.
        memmove(flat.data_ptr() + at, inside[0].untyped_storage().data_ptr() + start, end - start)
        for tensor in inside:
            place = (at - start) // tensor.itemsize + int(tensor.storage_offset())
            places[id(tensor)] = dtype_name(tensor.dtype), tuple(tensor.shape), tensor.stride(), place
        at += slot
    return flat, places


def _codes(memory: Tensor, places: Places) -> dict[int, Code]:
    return {key: (dtype, shape, strides, memory, first) for key, (dtype, shape, strides, first) in places.items()}


def _room(size: int, shared: bool) -> Tensor:
    """Bytes of memory, which other processes can map where they are `shared`."""
    flat = torch.empty(0 if shared else size, dtype=torch.uint8, device="cpu")
    if shared and size:
        flat.set_(torch.UntypedStorage._new_shared(size, device="cpu"), 0, (size,), (1,))  # type: ignore[no-untyped-call] # torch gives it no types
    return flat


def decoded(code: Code) -> Tensor:
    """The tensor of a code."""
    name, shape, strides, memory, place = code
    dtype = DTYPES[name]
    if isinstance(memory, Tensor):
        made = torch.empty(0, dtype=dtype, device=memory.device)
        whole = memory.untyped_storage()
        setattr(whole, PACKED, True)  # the storage has one object in Python, as long as it lives
        return made.set_(whole, place, shape, cast("tuple[int, ...]", strides))
    view = memoryview(memory)
    # `torch.frombuffer` takes no empty buffer. Torch takes memory that may not be written to, and writes to it.
    found = bytearray(view) if view.readonly else memory
    flat = torch.frombuffer(found, dtype=dtype) if view.nbytes else torch.empty(0, dtype=dtype, device="cpu")
    return torch.reshape(flat, shape) if strides is None else flat.as_strided(shape, strides)


def mark_copy(original: Tensor, copied: Tensor) -> None:
    """Mark the storage of a copy, where the one of the original holds tensors of several dtypes."""
    if type(original) is Tensor and is_plain(original) and hasattr(original.untyped_storage(), PACKED):
        setattr(copied.untyped_storage(), PACKED, True)


def pack(self: T, *, shared: bool = False) -> T:
    """An object whose small tensors, of up to 256 KiB each, are copies in one storage. It shares the larger ones with this.

    So a `torch.multiprocessing` queue sends one descriptor for all of them. A worker of a DataLoader packs what it returns.

    >>> packed = Batch(torch.arange(2), torch.ones(2), batch_size=2).pack()
    >>> packed.tokens.untyped_storage().data_ptr() == packed.mask.untyped_storage().data_ptr()
    True

    Strides, and which fields share memory, stay as they are. Tensors that require gradients, and those that are not in main
    memory, are not copied.

    Args:
        shared: Whether the storage is one that processes share: sending it copies nothing, and each sees the writes of the other.
    """
    if is_compiling() or torch._C._len_torch_dispatch_stack():
        return self._map(torch.clone)  # a graph has no storages
    codes = _codes(*copied(all_tensors(self), shared=shared, all_of_them=True))
    made = {key: decoded(code) for key, code in codes.items()}
    return with_tensors(self, lambda tensor: made.get(id(tensor), tensor), self._device)


def all_tensors(self: Stored) -> list[Tensor]:
    """Every tensor of an object, the lengths of ragged fields among them."""
    found: list[Tensor] = []
    for value in self._field_values()[0]:
        for item in [] if value is None else tensors_of(value):
            found += all_tensors(item) if isinstance(item, Stored) else [item]
    return found


def with_tensors(self: T, fn: Callable[[Tensor], Tensor], device: torch.device | None) -> T:
    """The same object around what `fn` makes of its tensors, in the order of `all_tensors`."""

    def other(value: object) -> object:
        if isinstance(value, Stored):
            return with_tensors(value, fn, device)
        return value if value is None else fn(cast(Tensor, value))

    values, static = self._field_values()
    made = object.__new__(type(self))
    made._assign([each(value, other) for value in values], static, self._batch_size, device)
    made._names = self._names
    return made


@dataclass(slots=True)
class _Message:
    """The packed tensors of a message that is being pickled.

    The first object that sends one of them takes the memory, and from then on it lives as long as the pickler. The buffer of the
    message outlives the pickler until the thread that sends it is given the next one, or ends with its process: torch aborts a
    process whose tensors are freed there.
    """

    places: Places
    unsent: Tensor | None
    memory: ReferenceType[Tensor]


_MESSAGES: WeakKeyDictionary[io.BytesIO, _Message] = WeakKeyDictionary()
"""Messages that are being pickled, by the buffer that each is written to."""


def codes_to_send(self: Stored) -> Mapping[int, Code]:
    """The small tensors of an object in a worker of a DataLoader, in the storage of the whole message.

    The function that called the pickler knows all objects. What shares memory with another tensor there is not packed.
    """
    if get_worker_info() is None:
        return {}
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code is not _DUMPS:
        frame = frame.f_back
    buffer = None if frame is None else frame.f_locals.get("buf")
    if frame is None or buffer is None:
        return {}
    if buffer not in _MESSAGES:
        inside, outside = list[Tensor](), set[int]()
        is_whole = _sorted(frame.f_locals.get("obj"), {}, inside, outside)
        made, places = copied(inside if is_whole else (), shared=True, outside=outside)
        _MESSAGES[buffer] = _Message(places, made if places else None, ref(made))
    message = _MESSAGES[buffer]
    own = {id(item) for value in self._field_values()[0] for item in tensors_of(value)} & message.places.keys()
    memory = message.memory()
    if memory is None or not own:
        return {}
    message.unsent = None
    return _codes(memory, {key: message.places[key] for key in own})


_DUMPS: Final = ForkingPickler.dumps.__func__.__code__  # type: ignore[attr-defined] # a class method
_WITHOUT_TENSORS: Final = frozenset({type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device})


def _sorted(value: object, seen: dict[int, object], inside: list[Tensor], outside: set[int]) -> bool:
    """Collect the tensors of our objects in a message, and the storages of other tensors; False if it shows not all it has."""
    if type(value) in _WITHOUT_TENSORS or id(value) in seen:
        return True
    seen[id(value)] = value
    if isinstance(value, Tensor) and value.layout is torch.strided:
        outside.add(value.untyped_storage()._cdata)
        return True
    if isinstance(value, Stored):
        values, static = value._field_values()
        found: list[object] = [item for each in values for item in tensors_of(each)]
        inside += [item for item in found if isinstance(item, Tensor)]
        parts = [*(item for item in found if not isinstance(item, Tensor)), *static, *beside_fields(value).values()]
    elif isinstance(value, (list, tuple, dict, set, frozenset, PerItem)):
        held = value.items() if isinstance(value, dict) else value.values() if isinstance(value, PerItem) else value
        parts = [*held, *getattr(value, "__dict__", {}).values()]
    else:  # NumPy's arrays and numbers are copied, whoever sends them
        return getattr(getattr(value, "dtype", None), "hasobject", True) is False
    return all(_sorted(part, seen, inside, outside) for part in parts)
