"""From an object to what is saved of it: the levels of the metadata, and the file that each tensor goes to."""

from __future__ import annotations

import os
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import torch
from torch import Size, Tensor, nn

from ..core.contents import allocate_like, contents, tensor_and_nested
from ..core.error_text import label
from ..core.stored import Stored
from ..core.tensordict_library import bare
from ..fields.annotated_shapes import refuse_contents
from ..fields.per_item import PerItem
from ..fields.tensordict_entries import Entries
from .dtypes import PLAIN
from .file_names import PENDING, TENSOR_SUFFIX, FileNames
from .files import is_current, mapped_file
from .json_values import encode, enum_of, has_plain_form, plain
from .schema import Entry, Level, StaticEntry, TensorEntry


class SaveOptions(NamedTuple):
    """The options of a save.

    Attributes:
        copy_existing: Whether a tensor that is a file elsewhere may be copied.
        like: Whether files of zeros are made, and no element is read.
        allow_pickle: Whether static values may be pickled.
        durable: Whether to wait until the disk has everything.
        existsok: Whether a folder that holds an object may get another.
        threads: How many threads write tensors.
    """

    copy_existing: bool = False
    like: bool = False
    allow_pickle: bool = False
    durable: bool = False
    existsok: bool = True
    threads: int = 0


T = TypeVar("T", bound=Stored)


class Placed(NamedTuple):
    """A tensor and the file it goes to."""

    tensor: Tensor
    entry: TensorEntry
    path: str

    def is_there(self) -> bool:
        """Whether the tensor is that file already, which holds only as long as nobody else saves to the folder."""
        found = mapped_file(self.tensor)
        return found is not None and is_current(found) and is_current(found._replace(path=self.path))


def describe_object(self: Stored, folder: str, options: SaveOptions) -> tuple[Level, list[Placed]]:
    """The saved parts of an object in a folder, and the places of its tensors. Everything that cannot be saved is refused here.

    Raises:
        TypeError: a field holds what has no form on disk, or a tensor that its annotation would not let be loaded.
        ValueError: a tensor is a file elsewhere, and `copy_existing` is off; or has a shape that its annotation does not say; or
            a nested object has a batch size that does not start with its owner's.
    """
    placed: list[Placed] = []
    return _object(self, folder, "", options, placed), placed


def _object(self: Stored, folder: str, name: str, options: SaveOptions, placed: list[Placed]) -> Level:
    """The level of an object. Its tensors are added to `placed`, those of nested objects included."""
    files = FileNames()
    entries: dict[str, Entry] = {}
    if self._shapes:
        refuse_contents(self, self._batch_size, contents(self))
    if isinstance(self, Entries) and self._unbatched:
        raise TypeError(f"{label(self, self._unbatched[0])}: an UnbatchedTensor in a TensorDict cannot be saved")
    for key, value in contents(self).items():
        if key in self._static:
            where = label(self, key)
            code = encode(value, where, partial(enum_of, type(self), key), allow_pickle=options.allow_pickle)
            stacked = isinstance(value, PerItem) and value.batch_size.numel() > 0 and len(value.batch_size) > 0
            entries[key] = StaticEntry(code, plain(value), files.give(key) if has_plain_form(value) else "", stacked)
        else:
            size = Size() if key in self._unbatched else self._batch_size
            entries[key] = _entry(value, label(self, key), size, folder, key, files, options, placed)
    kind = type(self).__name__ if isinstance(self, Entries) else type(self).__qualname__
    return Level("class", kind, tuple(self._batch_size), self._names, name, entries)


def _entry(
    value: object,
    where: str,
    batch_size: Size,
    folder: str,
    key: str,
    files: FileNames,
    options: SaveOptions,
    placed: list[Placed],
) -> Entry:
    """The entry of a field that is not static; `key` is what the names of its files begin with."""
    if value is None:
        return None
    value = bare(value)
    if isinstance(value, Tensor):
        entry = TensorEntry(value.dtype, tuple(value.shape), files.give(key, TENSOR_SUFFIX))
        refuse_unplain(value, where, may_be_meta=options.like)
        path = f"{folder}{os.sep}{entry.file}"
        if not options.copy_existing:
            _refuse_saved_elsewhere(value, path, where)
        placed.append(Placed(value, entry, path))
        return entry
    name = files.give(key)
    inside = f"{folder}{os.sep}{name}"
    if isinstance(value, (dict, list)):
        return _container(value, where, batch_size, inside, name, options, placed)
    if isinstance(value, Stored):
        # An object does not know who holds it, so its batch size may have been shortened since.
        if value._batch_size[: len(batch_size)] != batch_size:
            starts = f"expected a batch size that starts with {list(batch_size)}, got {list(value._batch_size)}"
            raise ValueError(f"{where}: {starts}; assign the object to the field again")
        return _object(value, inside, name, options, placed)
    raise TypeError(f"{where}: cannot save a {type(value).__name__}")


def _container(
    value: dict[str, object] | list[object],
    where: str,
    batch_size: Size,
    folder: str,
    name: str,
    options: SaveOptions,
    placed: list[Placed],
) -> Level:
    """A dict or list of tensors; the items of a list are called by their positions."""
    files = FileNames()
    items = value.items() if isinstance(value, dict) else ((str(at), item) for at, item in enumerate(value))
    entries = {
        key: _entry(item, f"{where}[{key!r}]", batch_size, folder, key, files, options, placed) for key, item in items
    }
    kind: Literal["dict", "list"] = "dict" if isinstance(value, dict) else "list"
    return Level(kind, kind, tuple(batch_size), None, name, entries)


def refuse_unplain(tensor: Tensor, where: str, *, may_be_meta: bool = False) -> None:
    """Refuse a tensor whose elements are not its bytes.

    Raises:
        TypeError: it is sparse, quantised, nested, without data, or of a class of its own.
    """
    kind = type(tensor)
    if kind is not Tensor and kind is not nn.Parameter and not isinstance(tensor, nn.Buffer):
        found = f"a {kind.__module__}.{kind.__qualname__}"
    elif tensor.is_quantized:
        found = f"a quantised tensor ({tensor.dtype})"
    elif tensor.is_nested or tensor.layout is not torch.strided:
        found = f"a tensor of layout {tensor.layout}"
    elif tensor.device.type == "meta" and not may_be_meta:
        found = "a tensor on the meta device, which has no data"
    elif tensor.dtype not in PLAIN:
        found = f"a tensor of dtype {tensor.dtype}"
    else:
        return
    raise TypeError(f"{where}: expected a plain tensor to save, got {found}")


def _refuse_saved_elsewhere(tensor: Tensor, path: str, where: str) -> None:
    """Refuse a tensor that is another file than the one that it is to be saved in. One that has been replaced is copied."""
    found = mapped_file(tensor)
    if found is None or path in (found.path, found.path.rpartition(PENDING)[0]):
        return
    # In this order: the file may be replaced between the two questions.
    if is_current(found._replace(path=path)) or not is_current(found):
        return
    raise ValueError(
        f"{where} is saved already, in {found.path}; to save a copy of it in {path} pass copy_existing=True"
    )


def rebuilt(self: T, level: Level, folder: str, tensors: dict[str, Tensor]) -> T:
    """An object like the described one, with the tensors that are at the paths of its files. On the CPU."""
    values = [
        _rebuilt(value, level.entries[name], folder, tensors)
        for name, value in zip(tensor_and_nested(self), self._field_values()[0], strict=True)
    ]
    made = allocate_like(self)._assign(values, self._field_values()[1], self._batch_size, torch.device("cpu"))
    made._names = self._names
    return made


def _rebuilt(value: object, entry: Entry, folder: str, tensors: dict[str, Tensor]) -> object:
    """The value of a field that is not static, with the tensors at the paths that its entry says."""
    if isinstance(entry, TensorEntry):
        return tensors[f"{folder}{os.sep}{entry.file}"]
    if not isinstance(entry, Level):
        return value
    inside = f"{folder}{os.sep}{entry.folder}"
    if isinstance(value, dict):
        return {key: _rebuilt(item, entry.entries[key], inside, tensors) for key, item in value.items()}
    if isinstance(value, list):
        return [_rebuilt(item, entry.entries[str(at)], inside, tensors) for at, item in enumerate(value)]
    return rebuilt(value, entry, inside, tensors) if isinstance(value, Stored) else value
