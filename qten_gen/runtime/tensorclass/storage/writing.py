"""Saving: the old object or the new one is in a folder at any moment, never a part of each.

A first save writes the files of the tensors, then the metadata of nested folders, and last that of the folder itself: until then
there is nothing to load. A later save

1. writes every tensor to a new file beside the old one, `x.memmap.~<token>`;
2. replaces the metadata. From here on the new object is there: who reads the metadata takes a file with its token in the name
   before the one without. Nested folders come first, each in the same way;
3. gives the new files their names, and replaces the metadata once more.

No file is written to after it has its name, so whoever maps the old ones keeps them, whole. tensordict reads the same folder;
between 2 and 3 it finds a format version that it refuses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from ..core.stored import Stored
from . import files, metadata_files, schema, tensordict_folders
from .file_names import METADATA, PENDING
from .folder_lock import only_writer
from .metadata_files import metadata_in
from .saved_levels import Placed, SaveOptions, describe_object
from .schema import Level, Metadata, StaticEntry, TensorEntry
from .storage_errors import StorageError

T = TypeVar("T", bound=Stored)

_LEFT_BEHIND = re.compile(rf".*{re.escape(PENDING)}[0-9a-f]{{8}}")


class _Work(NamedTuple):
    """One save while it is carried out.

    Attributes:
        replaces: Whether there is metadata, so that somebody may read while the new object takes the place of another.
        levels: Every level with its folder, an owner before what is in it.
        fresh: The tensors that are to be written; the others are in their files already, or have no elements.
    """

    token: str
    replaces: bool
    levels: list[tuple[str, Level]]
    fresh: list[Placed]
    options: SaveOptions


def save(self: T, folder: str, options: SaveOptions) -> T:
    """Save an object in a folder, and return one like it whose tensors are the files.

    Raises:
        TypeError, ValueError: something cannot be saved, see `describe_object`; nothing is written then.
        FileExistsError: the folder holds an object, and `existsok` is off.
        StorageError: the folder is one of a larger object.
    """
    level, placed = describe_object(self, folder, options)
    _refuse_part_of_larger(folder)
    with only_writer(folder):
        levels = list(_levels(level, folder))
        # Asked under the lock: whoever had it before may have replaced the files.
        stay = {item.path: item.tensor.detach() for item in placed if not options.like and item.is_there()}
        moved = [item for item in placed if item.path not in stay]
        if not options.existsok:
            _refuse_existing(levels, moved)
        replaces = any(metadata_files.is_in(folder) for folder, _ in levels)
        before = _files_of_old(folder) if replaces else set()
        fresh = [item for item in moved if item.entry.size]
        _write(_Work(os.urandom(4).hex(), replaces, levels, fresh, options))
        _clean(levels, before)
        if options.durable:
            files.sync_folder(os.path.dirname(folder))
        tensors = [stay[item.path] if item.path in stay else _mapped(item) for item in placed]
    return _with_tensors(self, iter(tensors))


def _with_tensors(self: T, tensors: Iterator[Tensor]) -> T:
    """An object like another one with other tensors, on the CPU, which come in the order of its leaves."""
    made = self._map_with(lambda leaf, _: next(tensors), None, torch.device("cpu"))
    made._names = self._names
    return made


def _levels(level: Level, folder: str) -> Iterator[tuple[str, Level]]:
    """Every level with its folder, an owner before what is in it."""
    yield folder, level
    for entry in level.entries.values():
        if isinstance(entry, Level):
            yield from _levels(entry, f"{folder}{os.sep}{entry.folder}")


def _values(folder: str, level: Level) -> Iterator[tuple[str, StaticEntry]]:
    """The static values of a level that tensordict can read, and the folder in which it looks for each."""
    for entry in level.entries.values():
        if isinstance(entry, StaticEntry) and entry.folder:
            yield f"{folder}{os.sep}{entry.folder}", entry


def _write(work: _Work) -> None:
    """Write the tensors, and the metadata that makes them the content of the folder."""
    for folder, _ in work.levels[1:]:
        files.make_folder(folder)
    suffix = PENDING + work.token if work.replaces else ""
    try:
        _write_tensors(work.fresh, suffix, work.options)
        if work.replaces:
            _write_metadata(work, readable=False)
    except BaseException:
        for item in work.fresh:
            files.remove(item.path + suffix)
        raise
    if work.replaces:
        for item in work.fresh:
            files.put_in_place(item.path + suffix, item.path)
    _write_values(work)
    _write_metadata(work, readable=True)


def _write_tensors(fresh: list[Placed], suffix: str, options: SaveOptions) -> None:
    """Write the files of new tensors, whose names end with `suffix` for now, on several threads where the options say so."""

    def write(item: Placed) -> None:
        if options.like:
            files.allocate(item.path + suffix, item.entry.size)
        else:
            files.write_tensor(item.path + suffix, item.tensor.detach(), options.durable)

    if options.threads > 0:
        with ThreadPoolExecutor(options.threads) as pool:
            list(pool.map(write, fresh))
    else:
        for item in fresh:
            write(item)


def _write_metadata(work: _Work, *, readable: bool) -> None:
    """Write the metadata of each folder, which stands for itself: it can be loaded alone, and be copied elsewhere."""
    # The folder itself last: what it describes is there by then.
    for folder, level in reversed(work.levels):
        value = tensordict_folders.render(level, readable=readable)
        value[schema.SECTION] = schema.to_json(Metadata(level._replace(folder=""), work.token))
        if work.options.durable:
            files.sync_folder(folder)
        metadata_files.write(folder, metadata_files.text_of(value), work.token, work.options.durable)


def _write_values(work: _Work) -> None:
    """The static values once more, where tensordict looks for them."""
    for folder, level in work.levels:
        for inside, entry in _values(folder, level):
            files.make_folder(inside)
            text = metadata_files.text_of(tensordict_folders.render_value(entry))
            metadata_files.write(inside, text, work.token, work.options.durable)


def _mapped(item: Placed) -> Tensor:
    return files.map_tensor(item.path, item.entry.dtype, item.entry.shape, item.path)


def _files_of_old(folder: str) -> set[str]:
    """The files of the object that the folder holds, as far as its metadata can be read and is ours."""
    try:
        found = metadata_files.read(folder)
        level = schema.from_json(found.get(schema.SECTION), folder).level
    except (OSError, StorageError):
        return set()
    return _files(_levels(level, folder))


def _files(levels: Iterable[tuple[str, Level]]) -> set[str]:
    """The files of an object: the metadata of each folder, and the tensors."""
    found = set()
    for folder, level in levels:
        found.add(metadata_in(folder))
        found.update(metadata_in(inside) for inside, _ in _values(folder, level))
        for entry in level.entries.values():
            if isinstance(entry, TensorEntry) and entry.size:
                found.add(f"{folder}{os.sep}{entry.file}")
    return found


def _clean(levels: list[tuple[str, Level]], before: set[str]) -> None:
    """Remove the files of the object before, metadata first, and what saves left that were not finished."""
    gone = before - _files(levels) if before else before
    for path in sorted(gone, key=lambda path: not path.endswith(METADATA)):
        files.remove(path)
    folders = {os.path.dirname(path) for path in gone}
    for folder, level in levels:
        folders.update((folder, *(inside for inside, _ in _values(folder, level))))
    for folder in folders:
        for name in filter(_LEFT_BEHIND.fullmatch, files.names_in(folder)):
            files.remove(f"{folder}{os.sep}{name}")


def _refuse_existing(levels: list[tuple[str, Level]], moved: list[Placed]) -> None:
    found = [metadata_in(folder) for folder, _ in levels if metadata_files.is_in(folder)]
    found += [item.path for item in moved if os.path.lexists(item.path)]
    if found:
        raise FileExistsError(f"{found[0]} exists already; pass existsok=True to replace what is saved there")


def _refuse_part_of_larger(folder: str) -> None:
    """The metadata of the larger object says what its parts are, so a part cannot be replaced behind its back."""
    owner, name = os.path.split(folder)
    if not metadata_files.is_in(owner):
        return  # as nearly always, and seen without an exception
    try:
        found = metadata_files.read(owner)
        level = schema.from_json(found.get(schema.SECTION), owner).level
    except (OSError, StorageError):
        return
    if any(isinstance(entry, Level) and entry.folder == name for entry in level.entries.values()):
        raise StorageError(f"{folder} belongs to the object in {owner}; save that one, or save to another folder")
