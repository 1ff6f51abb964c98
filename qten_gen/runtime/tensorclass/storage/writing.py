"""Saving: the old object or the new one is in a folder at any moment, never a part of each.

A first save writes the files of the tensors, then the metadata of nested folders, and last that of the folder itself: until then
there is nothing to load. A later save

1. writes every tensor to a new file beside the old one, `x.memmap.~<token>`;
2. replaces the metadata of the folder in one step. From here on the new object is there: the metadata says `pending`, and who
   reads it takes a file with the token in its name before the one without. Nested folders follow, each in one step;
3. gives the new files their names, and replaces the metadata once more, which says now that nothing is pending.

No file is written to after it has its name, so whoever maps the old ones keeps them, whole. tensordict reads the same folder;
between 2 and 3 it finds a format version that it refuses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard, TypeVar, cast

from torch import Tensor

from . import files, schema, tensordict_folders
from .describing import Placed, describe, rebuilt
from .errors import StorageError
from .file_names import METADATA, PENDING
from .options import Options
from .schema import Entry, Level, Metadata, StaticEntry, TensorEntry

if TYPE_CHECKING:
    from ..tensorclass import TensorClass

T = TypeVar("T", bound="TensorClass")

_LEFT_BEHIND = re.compile(r".*\.~[0-9a-f]{8}")


def save(self: T, folder: str, options: Options) -> T:
    """Save an object in a folder, and return one like it whose tensors are the files.

    Raises:
        TypeError, ValueError: something cannot be saved, see `describe`; nothing is written then.
        FileExistsError: the folder holds an object, and `existsok` is off.
        StorageError: the folder is one of a larger object.
    """
    level, placed = describe(self, folder, options)
    _refuse_part_of_larger(folder)
    files.make_folders(folder)
    with files.only_writer(folder):
        levels = list(_levels(level, folder))
        if not options.existsok:
            _refuse_existing(levels, placed)
        metadata = Metadata(level, os.urandom(4).hex(), any(_has_metadata(at) for at, _ in levels))
        before = _files_of_old(folder) if metadata.pending else set()
        _write(metadata, levels, placed, options)
        if metadata.pending:
            _put_in_place(metadata, levels, placed, options)
        _clean(levels, before)
        if options.durable:
            files.sync_folder(os.path.dirname(folder))
        tensors = {item.path: item.tensor.detach() if item.stays else _mapped(item) for item in placed}
    return cast("T", rebuilt(self, level, folder, tensors))


def _levels(level: Level, folder: str) -> Iterator[tuple[str, Level]]:
    """Every level with its folder, an owner before what is in it."""
    yield folder, level
    for entry in level.entries.values():
        if isinstance(entry, Level):
            yield from _levels(entry, os.path.join(folder, entry.folder))


def _write(metadata: Metadata, levels: list[tuple[str, Level]], placed: list[Placed], options: Options) -> None:
    """Write the tensors, and the metadata that makes them the content of the folder."""
    for folder, _ in levels[1:]:
        files.make_folder(folder)
    suffix = PENDING + metadata.token if metadata.pending else ""
    fresh = [item for item in placed if not item.stays and item.entry.size]
    try:
        _write_tensors(fresh, suffix, options)
        if not metadata.pending:
            _write_values(levels, metadata.token, options)
    except BaseException:
        for item in fresh:
            files.remove(item.path + suffix)
        raise
    order = levels if metadata.pending else levels[::-1]
    for folder, level in order:
        _write_metadata(folder, level, metadata.token, metadata.pending, options)


def _write_tensors(fresh: list[Placed], suffix: str, options: Options) -> None:
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


def _write_metadata(folder: str, level: Level, token: str, pending: bool, options: Options) -> None:
    """Write the metadata of a folder, which stands for itself: it can be loaded alone, and be copied elsewhere."""
    text = tensordict_folders.render(level, readable=not pending)
    text[schema.SECTION] = schema.to_json(Metadata(replace(level, folder=""), token, pending))
    files.write_metadata(os.path.join(folder, METADATA), text, token, options.durable)


def _write_values(levels: list[tuple[str, Level]], token: str, options: Options) -> None:
    """The static values once more, where tensordict looks for them: in a folder each."""
    for folder, level in levels:
        for entry in level.entries.values():
            if _shown(entry):
                inside = os.path.join(folder, entry.folder)
                files.make_folder(inside)
                text = tensordict_folders.render_value(entry.shown)
                files.write_metadata(os.path.join(inside, METADATA), text, token, options.durable)


def _put_in_place(metadata: Metadata, levels: list[tuple[str, Level]], placed: list[Placed], options: Options) -> None:
    """Give the new files their names, and say that it is done."""
    for item in placed:
        if not item.stays and item.entry.size:
            files.put_in_place(item.path + PENDING + metadata.token, item.path)
    _write_values(levels, metadata.token, options)
    for folder, level in reversed(levels):
        if options.durable:
            files.sync_folder(folder)
        _write_metadata(folder, level, metadata.token, False, options)


def _mapped(item: Placed) -> Tensor:
    return files.map_tensor(item.path, item.entry.dtype, item.entry.shape, item.path)


def _has_metadata(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, METADATA))


def _files_of_old(folder: str) -> set[str]:
    """The files of the object that the folder holds, as far as its metadata can be read and is ours."""
    try:
        found, _ = files.read_metadata(os.path.join(folder, METADATA))
        level = schema.from_json(found.get(schema.SECTION), folder).level
    except (OSError, StorageError):
        return set()
    return _files(level, folder)


def _files(level: Level, folder: str) -> set[str]:
    """The files of an object: the metadata of each level, and the tensors."""
    levels = list(_levels(level, folder))
    return {os.path.join(at, METADATA) for at, _ in levels} | {
        os.path.join(at, entry.file)
        for at, level in levels
        for entry in level.entries.values()
        if isinstance(entry, TensorEntry) and entry.size
    }


def _clean(levels: list[tuple[str, Level]], before: set[str]) -> None:
    """Remove the files of the object before, metadata first, and what saves left that were not finished."""
    root, level = levels[0]
    for path in sorted(before - _files(level, root), key=lambda path: not path.endswith(METADATA)):
        files.remove(path)
    values = {
        os.path.join(at, entry.folder) for at, level in levels for entry in filter(_shown, level.entries.values())
    }
    for folder in {at for at, _ in levels} | values | {os.path.dirname(path) for path in before}:
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if _LEFT_BEHIND.fullmatch(name):
                files.remove(os.path.join(folder, name))


def _shown(entry: Entry) -> TypeGuard[StaticEntry]:
    """Whether an entry has a folder for tensordict to read."""
    return isinstance(entry, StaticEntry) and entry.folder != ""


def _refuse_existing(levels: list[tuple[str, Level]], placed: list[Placed]) -> None:
    paths = [os.path.join(folder, METADATA) for folder, _ in levels] + [item.path for item in placed if not item.stays]
    for path in paths:
        if os.path.lexists(path):
            raise FileExistsError(f"{path} exists already; pass existsok=True to replace what is saved there")


def _refuse_part_of_larger(folder: str) -> None:
    """The metadata of the larger object says what its parts are, so a part cannot be replaced behind its back."""
    owner, name = os.path.split(os.path.abspath(folder))
    try:
        found, _ = files.read_metadata(os.path.join(owner, METADATA))
        level = schema.from_json(found.get(schema.SECTION), owner).level
    except (OSError, StorageError):
        return
    if any(isinstance(entry, Level) and entry.folder == name for entry in level.entries.values()):
        raise StorageError(f"{folder} belongs to the object in {owner}; save that one, or save to another folder")
