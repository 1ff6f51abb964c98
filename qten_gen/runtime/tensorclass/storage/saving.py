"""Saving: the old object or the new one is in a folder at any moment, and in every folder below it, never a part of each.

One file decides: the metadata of the folder, which describes the whole object. A save

1. writes every tensor to a new file in the folder itself, `.~<token>.<number>`;
2. replaces the metadata. From here on the new object is there: whoever reads takes a tensor from its pending file first. A
   folder of a nested object that is loaded alone asks the metadata of its owner, so that all change at once;
3. moves the files to their places, writes the metadata of nested folders, and replaces that of the folder once more.

A save into an empty folder writes the tensors to their places, and then the metadata; what is to be there is written down first.

A save that ends earlier leaves the old object, or, from step 2 on, the new one; the next save removes what is left over. No file
is written to after it has its name, so whoever maps the old ones keeps them, whole. tensordict reads the same folder; between 2
and 3 it finds a format version that it refuses.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import torch
from torch import Size, Tensor, nn

from ..core.contents import contents
from ..core.error_text import label
from ..core.other_libraries import bare
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from . import files, tensordict_folders
from . import metadata as schema
from .json_values import encode, enum_of
from .metadata import (
    METADATA,
    PLAIN,
    TENSOR_SUFFIX,
    Entry,
    FileNames,
    Json,
    Level,
    Metadata,
    StaticEntry,
    StorageError,
    TensorEntry,
    metadata_in,
)

T = TypeVar("T", bound=Stored)

_FIRST = ".first"
_UNFINISHED = re.compile(rf"\.~[0-9a-f]{{8}}(\.\d+|\.json|{_FIRST})")


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
        """True if the tensor is that file already, which holds only as long as nobody else saves to the folder."""
        found = files.mapped_file(self.tensor)
        return found is not None and files.is_current(found._replace(path=self.path))


class Description:
    """An object to be saved: its level, and the places of its tensors, in the order of its leaves.

    Everything that cannot be saved is refused while it is made.

    Raises:
        TypeError: a field holds what has no form on disk, or a tensor that its annotation would not let be loaded.
        ValueError: a tensor is a file elsewhere, and `copy_existing` is off; or has a shape that its annotation does not say; or
            a nested object has a batch size that does not start with its owner's.
    """

    def __init__(self, value: Stored, folder: str, options: SaveOptions) -> None:
        self.options = options
        self.token = os.urandom(4).hex()
        self.placed: list[Placed] = []
        self.level = self._object(value, "", folder)

    def _object(self, value: Stored, name: str, folder: str) -> Level:
        """The level of an object in a folder, which is called `name` in its owner's."""
        if value._shapes:
            refuse_contents(value, value._batch_size, contents(value))
        names, entries = FileNames(), dict[str, Entry]()
        for key, item in contents(value).items():
            where = label(value, key)
            if key in value._static:
                code = encode(item, where, partial(enum_of, type(value), key), allow_pickle=self.options.allow_pickle)
                shown = tensordict_folders.render_value(item)
                entries[key] = StaticEntry(code, shown, "" if shown is None else names.give(key))
            else:
                size = Size() if key in value._unbatched else value._batch_size
                entries[key] = self._entry(item, where, size, key, names, folder)
        return Level("class", type(value).__qualname__, tuple(value._batch_size), value._names, name, entries)

    def _entry(self, value: object, where: str, size: Size, key: str, names: FileNames, folder: str) -> Entry:
        """The entry of a field that is not static; the names of its files begin with `key`."""
        if value is None:
            return None
        value = bare(value)
        if isinstance(value, Tensor):
            return self._tensor(value, where, names.give(key, TENSOR_SUFFIX), folder)
        name = names.give(key)
        inside = f"{folder}{os.sep}{name}"
        if isinstance(value, (dict, list)):
            items = value.items() if isinstance(value, dict) else ((str(at), item) for at, item in enumerate(value))
            below = FileNames()
            entries = {at: self._entry(item, f"{where}[{at!r}]", size, at, below, inside) for at, item in items}
            kind: Literal["dict", "list"] = "dict" if isinstance(value, dict) else "list"
            return Level(kind, kind, tuple(size), None, name, entries)
        if isinstance(value, Stored):
            # An object does not know who holds it, so its batch size may have been shortened since.
            if value._batch_size[: len(size)] != size:
                starts = f"expected a batch size that starts with {list(size)}, got {list(value._batch_size)}"
                raise ValueError(f"{where}: {starts}; assign the object to the field again")
            return self._object(value, name, inside)
        raise TypeError(f"{where}: cannot save a {type(value).__name__}")

    def _tensor(self, tensor: Tensor, where: str, file: str, folder: str) -> TensorEntry:
        """The entry of a tensor, which is added to `placed`."""
        _refuse_unplain(tensor, where, may_be_meta=self.options.like)
        path = f"{folder}{os.sep}{file}"
        found = None if self.options.copy_existing else files.mapped_file(tensor)
        # The file of another path; a file that has been replaced is copied. In this order: it may be replaced meanwhile.
        if found is None or found.path == path or files.is_current(found._replace(path=path)):
            is_elsewhere = False
        else:
            is_elsewhere = files.is_current(found)
        if found is not None and is_elsewhere:
            copy = f"to save a copy of it in {path} pass copy_existing=True"
            raise ValueError(f"{where} is saved already, in {found.path}; {copy}")
        entry = TensorEntry(tensor.dtype, tuple(tensor.shape), file, f".~{self.token}.{len(self.placed)}")
        self.placed.append(Placed(tensor, entry, path))
        return entry


def _refuse_unplain(tensor: Tensor, where: str, *, may_be_meta: bool) -> None:
    """Refuse a tensor whose elements are not its bytes."""
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


def save(self: T, folder: str, options: SaveOptions) -> T:
    """Save an object in a folder, and return one like it whose tensors are the files.

    Raises:
        TypeError, ValueError: something cannot be saved, see `Description`; nothing is written then.
        FileExistsError: the folder holds an object, and `existsok` is off.
        StorageError: the folder is one of a larger object.
    """
    made = Description(self, folder, options)
    _refuse_part_of_larger(folder)
    with files.only_writer(folder):
        work = _Save(folder, made)
        # Asked under the lock: whoever had it before may have replaced the files.
        stay = {item.path: item.tensor.detach() for item in made.placed if not options.like and item.is_there()}
        moved = [item for item in made.placed if item.path not in stay]
        if not options.existsok:
            _refuse_existing(work.levels, moved)
        work.run([item for item in moved if item.entry.size])
        tensors = iter(
            [
                stay[path] if path in stay else files.map_tensor(path, entry.dtype, entry.shape, path)
                for _, entry, path in made.placed
            ]
        )
    result = self._map_with(lambda leaf, _: next(tensors), None, torch.device("cpu"))
    result._names = self._names
    return result


class _Save:
    """One save while it is carried out, by whoever has the lock of the folder."""

    def __init__(self, folder: str, made: Description) -> None:
        self.folder, self.options, self.token = folder, made.options, made.token
        self.level = made.level
        self.levels = list(_levels(made.level, folder))
        """Every level with its folder, an owner before what is in it."""
        self.parts = {folder for folder, _ in self.levels[1:]}
        """The folders of nested objects, of this object and the one before."""
        found = os.listdir(folder)
        self.is_first = not found
        # Metadata that cannot be read is an error; metadata that is damaged, or tensordict's, names no files.
        texts = [schema.text_in(folder)] if METADATA in found else []
        for name in found:
            if _UNFINISHED.fullmatch(name) and name.endswith(_FIRST):
                with open(f"{folder}{os.sep}{name}", "rb") as file:
                    texts.append(file.read())
        before = set[str]()
        for text in texts:
            with contextlib.suppress(StorageError):
                old = schema.from_json(schema.parsed(text, folder).get(schema.SECTION), folder)
                old_levels = list(_levels(old.level, folder))
                before |= {*(old.replaced or ()), *self._files(old_levels)}
                self.parts.update(inside for inside, _ in old_levels[1:])
        self.replaced = sorted(before - self._files(self.levels))

    def _files(self, levels: Iterable[tuple[str, Level]]) -> set[str]:
        """The files of an object, by their paths in the folder with slashes: metadata of folders and values, and tensors."""
        found = set()
        for folder, level in levels:
            found.add(metadata_in(folder))
            for entry in level.entries.values():
                if isinstance(entry, TensorEntry) and entry.size:
                    found.add(f"{folder}{os.sep}{entry.file}")
                elif isinstance(entry, StaticEntry) and entry.folder:
                    found.add(metadata_in(f"{folder}{os.sep}{entry.folder}"))
        return {path[len(self.folder) + 1 :].replace(os.sep, "/") for path in found}

    def run(self, fresh: list[Placed]) -> None:
        """Write the new tensors, and make the object the content of the folder."""
        try:
            if self.is_first:
                self._fill(fresh)
            else:
                self._write({f"{self.folder}{os.sep}{item.entry.pending}": item for item in fresh})
                section = self._section(self.level, tuple(self.replaced))
                self._put(self.folder, {**tensordict_folders.UNREADABLE, **section})
        except BaseException:
            if not self._is_done():
                self._remove(self._files(self.levels) if self.is_first else ())
                self._remove_leftovers(f".~{self.token}.")
            raise
        if not self.is_first:
            self._move(fresh)
        for folder, level in self.levels:
            for entry in level.entries.values():
                if isinstance(entry, StaticEntry) and entry.shown is not None:
                    inside = f"{folder}{os.sep}{entry.folder}"
                    files.make_folder(inside)
                    self._put(inside, entry.shown)
        # The folder itself last: what it says is finished is there by then.
        for folder, level in reversed(self.levels[1:] if self.is_first else self.levels):
            self._put(folder, self._finished(level))
        if not self.is_first:
            self._remove_leftovers(".~")
        if self.options.durable:
            files.sync_folder(os.path.dirname(self.folder))

    def _fill(self, fresh: list[Placed]) -> None:
        """Write into an empty folder, where there is nothing to mix with. What is to be there is written down first."""
        first = f"{self.folder}{os.sep}.~{self.token}{_FIRST}"
        files.write_new(first, schema.rendered(self._finished(self.level)), self.options.durable)
        for folder, _ in self.levels[1:]:
            files.make_folder(folder)
        self._write({item.path: item for item in fresh})
        for folder, _ in reversed(self.levels if self.options.durable else []):
            files.sync_folder(folder)
        os.replace(first, metadata_in(self.folder))
        if self.options.durable:
            files.sync_folder(self.folder)

    def _move(self, fresh: list[Placed]) -> None:
        """Put the pending files in place of those of the object before."""
        # First of all: tensordict must not read the metadata of nested folders while files change.
        for folder in sorted(self.parts):
            if os.path.lexists(metadata_in(folder)):
                self._put(folder, {**tensordict_folders.UNREADABLE, schema.SECTION: schema.PART})
        for folder, _ in self.levels[1:]:
            files.make_folder(folder)
        for item in fresh:
            os.replace(f"{self.folder}{os.sep}{item.entry.pending}", item.path)
        self._remove(self.replaced)

    def _write(self, fresh: dict[str, Placed]) -> None:
        """Write new tensors, by the paths of their files, on several threads where the options say so."""

        def write(path: str) -> None:
            item = fresh[path]
            if self.options.like:
                files.write_new(path, item.entry.size, self.options.durable)
            else:
                files.write_tensor(path, item.tensor.detach(), self.options.durable)

        if self.options.threads > 0:
            with ThreadPoolExecutor(self.options.threads) as pool:
                list(pool.map(write, fresh))
        else:
            for path in fresh:
                write(path)

    def _finished(self, level: Level) -> dict[str, Json]:
        """The metadata of the folder of a level, for tensordict too."""
        return {**tensordict_folders.render(level), **self._section(level, None)}

    def _section(self, level: Level, replaced: tuple[str, ...] | None) -> dict[str, Json]:
        """Our section of the metadata of a level, which stands for itself, so that its folder can be copied elsewhere."""
        return {schema.SECTION: schema.to_json(Metadata(level._replace(folder=""), self.token, replaced))}

    def _put(self, folder: str, value: dict[str, Json]) -> None:
        """Give a folder other metadata in one step: whoever opens it finds the old text or the new one."""
        temporary = f"{self.folder}{os.sep}.~{self.token}.json"
        files.write_new(temporary, schema.rendered(value), self.options.durable)
        if self.options.durable:
            files.sync_folder(folder)
        os.replace(temporary, metadata_in(folder))
        if self.options.durable:
            files.sync_folder(folder)

    def _is_done(self) -> bool:
        """True if the metadata is that of this save; also where that cannot be found out."""
        try:
            return self.token.encode() in schema.text_in(self.folder)
        except FileNotFoundError:
            return False
        except (OSError, StorageError):
            return True

    def _remove(self, paths: Iterable[str]) -> None:
        """Remove files by their paths in the folder, metadata first, and the folders that no other file belongs in."""
        for path in sorted(paths, key=lambda path: not path.endswith(METADATA)):
            files.remove(os.path.join(self.folder, *path.split("/")))
        kept = {os.path.dirname(path) for path in self._files(self.levels).difference(paths)}
        for path in sorted({os.path.dirname(path) for path in paths} - kept - {""}, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(self.folder, *path.split("/")))

    def _remove_leftovers(self, start: str) -> None:
        """Remove the files of saves that were not finished whose names start like this."""
        for name in os.listdir(self.folder):
            if name.startswith(start) and _UNFINISHED.fullmatch(name):
                files.remove(f"{self.folder}{os.sep}{name}")


def _levels(level: Level, folder: str) -> Iterator[tuple[str, Level]]:
    """Every level with its folder, an owner before what is in it."""
    yield folder, level
    for entry in level.entries.values():
        if isinstance(entry, Level):
            yield from _levels(entry, f"{folder}{os.sep}{entry.folder}")


def _refuse_existing(levels: list[tuple[str, Level]], moved: list[Placed]) -> None:
    found = [metadata_in(folder) for folder, _ in levels if os.path.lexists(metadata_in(folder))]
    found += [item.path for item in moved if os.path.lexists(item.path)]
    if found:
        raise FileExistsError(f"{found[0]} exists already; pass existsok=True to replace what is saved there")


def _refuse_part_of_larger(folder: str) -> None:
    """The metadata of the larger object says what its parts are, so a part cannot be replaced behind its back."""
    owner = schema.owner_of(folder)
    if owner is not None:
        larger = owner.folder
        raise StorageError(f"{folder} belongs to the object in {larger}; save that one, or save to another folder")
