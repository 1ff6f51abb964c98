"""From an object to what is saved of it: the levels of the metadata, and the file that each tensor goes to."""

from __future__ import annotations

import os
from functools import partial
from typing import Literal, NamedTuple

import torch
from torch import Size, Tensor, nn

from ..core.contents import contents
from ..core.error_text import label
from ..core.other_libraries import bare
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.per_item import PerItem
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


class Placed(NamedTuple):
    """A tensor and the file it goes to."""

    tensor: Tensor
    entry: TensorEntry
    path: str

    def is_there(self) -> bool:
        """Whether the tensor is that file already, which holds only as long as nobody else saves to the folder."""
        found = mapped_file(self.tensor)
        return found is not None and is_current(found._replace(path=self.path))


class _Folder(NamedTuple):
    """A folder that an object is described for."""

    path: str
    names: FileNames
    options: SaveOptions
    placed: list[Placed]
    """The tensors so far, those of other folders included."""

    def below(self, key: str) -> tuple[str, _Folder]:
        """The folder of a nested value, and its name in this one."""
        name = self.names.give(key)
        return name, self._replace(path=f"{self.path}{os.sep}{name}", names=FileNames())


def describe_object(self: Stored, folder: str, options: SaveOptions) -> tuple[Level, list[Placed]]:
    """The saved parts of an object in a folder, and the places of its tensors, in the order of its leaves.

    Everything that cannot be saved is refused here.

    Raises:
        TypeError: a field holds what has no form on disk, or a tensor that its annotation would not let be loaded.
        ValueError: a tensor is a file elsewhere, and `copy_existing` is off; or has a shape that its annotation does not say; or
            a nested object has a batch size that does not start with its owner's.
    """
    placed: list[Placed] = []
    return _object(self, "", _Folder(folder, FileNames(), options, placed)), placed


def _object(self: Stored, name: str, folder: _Folder) -> Level:
    """The level of an object. Its tensors are added to `placed`, those of nested objects included."""
    entries: dict[str, Entry] = {}
    if self._shapes:
        refuse_contents(self, self._batch_size, contents(self))
    for key, value in contents(self).items():
        if key in self._static:
            entries[key] = _static(self, key, value, folder)
        else:
            size = Size() if key in self._unbatched else self._batch_size
            entries[key] = _entry(value, label(self, key), size, key, folder)
    return Level("class", type(self).__qualname__, tuple(self._batch_size), self._names, name, entries)


def _static(self: Stored, key: str, value: object, folder: _Folder) -> StaticEntry:
    """The entry of a static field."""
    code = encode(value, label(self, key), partial(enum_of, type(self), key), allow_pickle=folder.options.allow_pickle)
    stacked = isinstance(value, PerItem) and value.batch_size.numel() > 0 and len(value.batch_size) > 0
    return StaticEntry(code, plain(value), folder.names.give(key) if has_plain_form(value) else "", stacked)


def _entry(value: object, where: str, batch_size: Size, key: str, folder: _Folder) -> Entry:
    """The entry of a field that is not static; `key` is what the names of its files begin with."""
    if value is None:
        return None
    value = bare(value)
    if isinstance(value, Tensor):
        entry = TensorEntry(value.dtype, tuple(value.shape), folder.names.give(key, TENSOR_SUFFIX))
        refuse_unplain(value, where, may_be_meta=folder.options.like)
        path = f"{folder.path}{os.sep}{entry.file}"
        if not folder.options.copy_existing:
            _refuse_saved_elsewhere(value, path, where)
        folder.placed.append(Placed(value, entry, path))
        return entry
    name, inside = folder.below(key)
    if isinstance(value, (dict, list)):
        return _container(value, where, batch_size, name, inside)
    if isinstance(value, Stored):
        # An object does not know who holds it, so its batch size may have been shortened since.
        if value._batch_size[: len(batch_size)] != batch_size:
            starts = f"expected a batch size that starts with {list(batch_size)}, got {list(value._batch_size)}"
            raise ValueError(f"{where}: {starts}; assign the object to the field again")
        return _object(value, name, inside)
    raise TypeError(f"{where}: cannot save a {type(value).__name__}")


def _container(
    value: dict[str, object] | list[object], where: str, batch_size: Size, name: str, folder: _Folder
) -> Level:
    """A dict or list of tensors; the items of a list are called by their positions."""
    items = value.items() if isinstance(value, dict) else ((str(at), item) for at, item in enumerate(value))
    entries = {key: _entry(item, f"{where}[{key!r}]", batch_size, key, folder) for key, item in items}
    kind: Literal["dict", "list"] = "dict" if isinstance(value, dict) else "list"
    return Level(kind, kind, tuple(batch_size), None, name, entries)


def refuse_unplain(tensor: Tensor, where: str, *, may_be_meta: bool = False) -> None:
    """Refuse a tensor whose elements are not its bytes.

    Raises:
        TypeError: it is sparse, quantised, nested, without data, or of a class of its own.
    """
    kind = type(tensor)
    if kind is not Tensor and kind is not nn.Parameter:
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
    # A tensor that was mapped before a save was finished has the token behind its path.
    if found is None or path in (found.path, found.path.rpartition(PENDING)[0]):
        return
    # In this order: the file may be replaced between the two questions.
    if is_current(found._replace(path=path)) or not is_current(found):
        return
    raise ValueError(
        f"{where} is saved already, in {found.path}; to save a copy of it in {path} pass copy_existing=True"
    )
