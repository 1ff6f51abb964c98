"""Saving: the old object or the new one is in a folder at any moment, and in every folder below it, never a part of each.

One file decides: the metadata of the folder, which describes the whole object. A save

1. writes every tensor to a new file in the folder itself, `.~<token>.<number>`;
2. replaces the metadata. From here on the new object is there: whoever reads takes a tensor from its pending file first. A
   folder of a nested object that is loaded alone asks the metadata of its owner, so that all change at once;
3. moves the files to their places, writes the metadata of nested folders, and replaces the metadata of the folder once more.

A save that ends earlier leaves the old object, or, from step 2 on, the new one; the next save removes what is left over. No
file is written to after it has its name, so whoever maps the old ones keeps them, whole. tensordict reads the tensors of the
same folder; between 2 and 3 it finds a format version there that it refuses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Final, NamedTuple, TypeVar

import torch
from torch import Size, Tensor, nn

from ..core.contents import contents, nested_class
from ..core.error_text import abridged, describe, label
from ..core.other_libraries import bare
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..torch_tools.packing import DTYPES, with_tensors
from . import files
from . import metadata as schema
from .json_values import encode
from .metadata import METADATA, Entry, Level, Metadata, StaticEntry, StorageError, TensorEntry, encoded

T = TypeVar("T", bound=Stored)

_LONGEST: Final = 200
"""Bytes of a name; file systems take 255, and a suffix follows."""

_UNFINISHED = re.compile(r"\.~[0-9a-f]{8}\.(\d+|json)")


class SaveOptions(NamedTuple):
    """How to save: `like` makes files of zeros, and reads no element; `temporary` files are for the tensors alone."""

    copy_existing: bool = False
    existsok: bool = True
    threads: int = 0
    like: bool = False
    temporary: bool = False


class Placed(NamedTuple):
    """A tensor and the file it goes to."""

    tensor: Tensor
    entry: TensorEntry
    path: str


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
        self.structure = set[int]()  # entries that say where the rows of others belong: files of zeros have them too
        self.level = self._object(value, folder)

    def _object(self, value: Stored, folder: str) -> Level:
        """The level of an object in a folder."""
        if value._shapes:
            refuse_contents(value, value._batch_size, contents(value))
        entries: dict[str, Entry] = {}
        for key, item in contents(value).items():
            where = label(value, key)
            if key in value._static:
                entries[key] = None if self.options.temporary else StaticEntry(encode(item, where))
            else:
                cls = nested_class(type(value), key) if isinstance(item, Stored) else type(item)
                if type(item) is not cls and not self.options.temporary:
                    raise TypeError(f"{where}: expected a {cls.__name__}, as which it is loaded, got {describe(item)}")
                size = Size() if key in value._unbatched else value._batch_size
                entries[key] = self._entry(item, where, size, key, folder)
            if key in value.__structure__ and isinstance(item, Tensor) and not item.is_meta:
                self.structure.add(id(entries[key]))
        _refuse_names(entries, type(value).__name__, folder)
        return Level("class", tuple(value._batch_size), value._names, entries)

    def _entry(self, value: object, where: str, size: Size, key: str, folder: str) -> Entry:
        """The entry of a field that is not static."""
        if value is None:
            return None
        value = bare(value)
        if isinstance(value, Tensor):
            return self._tensor(value, where, f"{folder}{os.sep}{schema.file_of_key(key)}")
        inside = folder and f"{folder}{os.sep}{encoded(key)}"
        if isinstance(value, (dict, list)):
            items = value.items() if isinstance(value, dict) else ((str(at), item) for at, item in enumerate(value))
            entries = {at: self._entry(item, f"{where}[{at!r}]", size, at, inside) for at, item in items}
            _refuse_names(entries, where, folder)
            return Level("dict" if isinstance(value, dict) else "list", tuple(size), None, entries)
        if isinstance(value, Stored):
            # An object does not know who holds it, so its batch size may have been shortened since.
            if value._batch_size[: len(size)] != size:
                starts = f"expected a batch size that starts with {list(size)}, got {list(value._batch_size)}"
                raise ValueError(f"{where}: {starts}; assign the object to the field again")
            return self._object(value, inside)
        raise TypeError(f"{where}: cannot save a {type(value).__name__}")

    def _tensor(self, tensor: Tensor, where: str, path: str) -> TensorEntry:
        """The entry of a tensor, which is added to `placed`."""
        _refuse_unplain(tensor, where, may_be_meta=self.options.like)
        found = None if self.options.copy_existing else files.mapped_file(tensor)
        # The file of another path; a file that has been replaced is copied. In this order: it may be replaced meanwhile.
        is_here = found is None or found.path == path or files.is_at(tensor, path)
        if found is not None and not is_here and files.is_at(tensor, found.path):
            copy = f"to save a copy of it in {path} pass copy_existing=True"
            raise ValueError(f"{where} is saved already, in {found.path}; {copy}")
        entry = TensorEntry(tensor.dtype, tuple(tensor.shape), f".~{self.token}.{len(self.placed)}")
        self.placed.append(Placed(tensor, entry, path))
        return entry


def _refuse_names(entries: dict[str, Entry], where: str, folder: str) -> None:
    """Refuse keys that are no Unicode, or whose files some file systems, or all, would not keep apart or not take."""
    seen: dict[str, str] = {}
    for key in entries:
        name = encoded(key)
        other = seen.setdefault(name.casefold(), key)
        if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise TypeError(f"{where}: {key!a} has half of a pair of surrogates, which no file can be named by")
        if folder and ((other != key and os.name != "posix") or len(name.encode()) > _LONGEST):
            why = f"is longer than {_LONGEST} bytes" if other == key else f"differs from {other!r} by case alone"
            raise TypeError(f"{where}: {abridged(key)} {why}, so that it has no file of its own; use save_safetensors")


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
    elif tensor.dtype not in DTYPES.values():
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
    _refuse_part(folder)
    with files.only_writer(folder):
        _refuse_part(folder)  # it may have got an owner meanwhile
        work = _Save(folder, made)
        # Asked under the lock: whoever had it before may have replaced the files.
        there = [] if options.like else [item for item in made.placed if files.is_at(item.tensor, item.path)]
        stay = {item.path: item.tensor.detach() for item in there}
        moved = [item for item in made.placed if item.path not in stay]
        existing = [schema.metadata_in(inside) for inside, _ in work.levels] + [item.path for item in moved]
        found = [] if options.existsok else [path for path in existing if os.path.lexists(path)]
        if found:
            raise FileExistsError(f"{found[0]} exists already; pass existsok=True to replace what is saved there")
        work.run([item for item in moved if item.entry.size])
        mapped = [
            stay[path] if path in stay else files.map_tensor(path, entry.dtype, entry.shape, path)
            for _, entry, path in made.placed
        ]
    tensors = iter(mapped)
    return with_tensors(self, lambda _: next(tensors), torch.device("cpu"))


def _refuse_part(folder: str) -> None:
    """Refuse a folder of a larger object, whose metadata says what its parts are: none is replaced behind its back."""
    owner = schema.owner_of(folder)
    if owner is not None:
        other = "save that one, or save to another folder"
        raise StorageError(f"{folder} belongs to the object in {owner.folder}; {other}")


class _Save:
    """One save while it is carried out, by whoever has the lock of the folder."""

    def __init__(self, folder: str, made: Description) -> None:
        self.folder, self.options, self.token = folder, made.options, made.token
        self.level, self.structure = made.level, made.structure
        self.levels = [
            (os.sep.join([folder, *map(encoded, keys)]), entry)
            for keys, entry in schema.walk(made.level)
            if isinstance(entry, Level)
        ]
        """Every level with its folder, an owner before what is in it."""
        self.files = schema.files_of(made.level)
        before = set[str]()
        # Metadata that is damaged, or tensordict's, names no files.
        with suppress(StorageError):
            if METADATA in os.listdir(folder):
                old = schema.from_json(schema.parsed(schema.text_in(folder), folder).get(schema.SECTION), folder)
                before = {*(old.replaced or ()), *schema.files_of(old.level)}
        self.replaced = tuple(sorted(before - self.files))

    def run(self, fresh: list[Placed]) -> None:
        """Write the new tensors, and make the object the content of the folder."""
        for folder, _ in self.levels[1:]:
            if os.path.lexists(folder):
                files.make_folder(folder)  # refuses what else is there before anything is written
        try:
            self._write(fresh)
            self._put(self.folder, schema.rendered(Metadata(self.level, self.token, self.replaced)))
        except BaseException:
            if not self._is_done():
                self._remove_leftovers(f".~{self.token}.")
            raise
        for folder, _ in self.levels[1:]:
            files.make_folder(folder)
            with files.only_writer(folder):
                pass  # a save of this part alone has ended by now, and another one is refused
        for item in fresh:
            os.replace(f"{self.folder}{os.sep}{item.entry.pending}", item.path)
        self._remove(self.replaced)
        # The folder itself last: what it says is finished is there by then.
        for folder, level in reversed(self.levels):
            self._put(folder, schema.rendered(Metadata(level, self.token)))
        self._remove_leftovers(".~")

    def _write(self, fresh: list[Placed]) -> None:
        """Write new tensors to pending files, on several threads where the options say so."""

        def write(item: Placed) -> None:
            path = f"{self.folder}{os.sep}{item.entry.pending}"
            is_kept = not self.options.like or id(item.entry) in self.structure
            files.write_new(path, item.tensor.detach() if is_kept else item.entry.size)

        with ThreadPoolExecutor(self.options.threads) if self.options.threads > 0 else nullcontext() as pool:
            list(map(write, fresh) if pool is None else pool.map(write, fresh))

    def _put(self, folder: str, text: bytes) -> None:
        """Give a folder other metadata in one step: whoever opens it finds the old text or the new one."""
        temporary = f"{self.folder}{os.sep}.~{self.token}.json"
        files.write_new(temporary, text)
        os.replace(temporary, schema.metadata_in(folder))

    def _is_done(self) -> bool:
        """True if the metadata is of this save; also where nothing can be found out."""
        try:
            return self.token.encode() in schema.text_in(self.folder)
        except (OSError, StorageError) as error:
            return not isinstance(error, FileNotFoundError)

    def _remove(self, paths: Iterable[str]) -> None:
        """Remove files by their paths in the folder, metadata first, and the folders that no other file belongs in."""
        root = os.path.realpath(self.folder)
        for path in sorted(paths, key=lambda path: not path.endswith(METADATA)):
            inside, name = os.path.split(os.path.join(root, *path.split("/")))
            if os.path.realpath(inside) == inside:  # a link leads to files of somebody else
                files.remove(f"{inside}{os.sep}{name}")
        kept = {os.path.dirname(path) for path in self.files}
        for path in sorted({os.path.dirname(path) for path in paths} - kept - {""}, reverse=True):
            with suppress(OSError):
                os.rmdir(os.path.join(self.folder, *path.split("/")))

    def _remove_leftovers(self, start: str) -> None:
        """Remove the files of saves that were not finished whose names start like this."""
        for name in os.listdir(self.folder):
            if name.startswith(start) and _UNFINISHED.fullmatch(name):
                files.remove(f"{self.folder}{os.sep}{name}")
