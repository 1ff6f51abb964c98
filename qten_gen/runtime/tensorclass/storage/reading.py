"""Loading: the object that a folder holds, as an instance of the class that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from torch import Size, Tensor
from torch._guards import active_fake_mode
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ..core.contents import nested_class, tensor_and_nested
from ..core.stored import Stored
from ..fields.annotated_shapes import refuse_contents
from ..fields.as_declared import fit_saved
from ..fields.per_item import PerItem
from . import files, metadata_files, schema, tensordict_folders
from .file_names import PENDING
from .json_values import Json, as_annotated, decode, enum_of
from .schema import Entry, Level, Metadata, StaticEntry, TensorEntry
from .storage_errors import StorageError

if TYPE_CHECKING:
    from ...declaring.declared_class import FieldSummary

T = TypeVar("T", bound=Stored)

_ATTEMPTS = 100
_CPU = torch.device("cpu")


class Source(NamedTuple):
    """Where the tensors of an object come from."""

    tensor: Callable[[str, TensorEntry, str], Tensor]
    """The tensor of an entry, in a folder; the last argument is the file and the field, for errors."""
    check_folder: Callable[[str, str], object]
    """Refuses the folder of a nested object where it is none."""
    device: torch.device | None
    """Where the tensors are put; None is the CPU, in mapped files."""
    allow_pickle: bool
    """Whether static values may be pickled."""
    foreign: bool = False
    """Whether tensordict wrote the files: static values are plain JSON, and files may be longer than their tensors."""


def load(cls: type[T], folder: str, device: torch.device | None = None, *, allow_pickle: bool = False) -> T:
    """The object in a folder. Read again where another process replaces it meanwhile, so that it is all old or all new.

    Raises:
        FileNotFoundError: there is no saved object.
        StorageError: it is damaged, or does not fit the class.
    """
    text = _text(cls, folder)
    for _ in range(_ATTEMPTS):
        before = text
        made: T | StorageError
        try:
            made = _object(cls, folder, metadata_files.parsed(before, folder), device, allow_pickle)
        except StorageError as error:
            made = error
        text = _text(cls, folder)
        if text == before:
            if isinstance(made, StorageError):
                raise made
            return made
    raise StorageError(f"{folder}: another process replaces what is saved there faster than it can be read")


def _text(cls: type[Stored], folder: str) -> bytes:
    """The text of the metadata, which says something else after every save."""
    try:
        return metadata_files.text_in(folder)
    except FileNotFoundError:
        path = metadata_files.metadata_in(folder)
        message = f"no saved {cls.__name__}: expected {path}, which every finished save writes"
        raise FileNotFoundError(message) from None


def _object(
    cls: type[T],
    folder: str,
    found: dict[str, Json],
    device: torch.device | None,
    allow_pickle: bool,
) -> T:
    """The object that metadata describes, in the format of this package or in that of tensordict."""
    foreign = schema.SECTION not in found
    if foreign:
        metadata = Metadata(tensordict_folders.read(folder, found, allow_pickle=allow_pickle), "")
    else:
        metadata = schema.from_json(found[schema.SECTION], metadata_files.metadata_in(folder))
    if is_fake() or (device is not None and device.type == "meta"):
        source = Source(partial(_without_data, device), _accept_any, device, allow_pickle, foreign)
    else:
        suffix = PENDING + metadata.token if metadata.token else ""
        source = Source(partial(_mapped, suffix, foreign, device), files.check_folder, device, allow_pickle, foreign)
    level = metadata.level
    inside = f"{folder}{os.sep}{level.folder}" if level.folder else folder
    return fill(cls, level, inside, metadata_files.metadata_in(folder), source)


def _without_data(device: torch.device | None, folder: str, entry: TensorEntry, where: str) -> Tensor:
    """A tensor on the meta device, or a fake one. No file of it is opened, nor need there be one."""
    return torch.empty(entry.shape, dtype=entry.dtype, device=device or "cpu")


def _accept_any(folder: str, where: str) -> None:
    """Accept any folder, also one that is not there."""


def _mapped(
    suffix: str, longer: bool, device: torch.device | None, folder: str, entry: TensorEntry, where: str
) -> Tensor:
    """A tensor of a folder, whose file may still end in `suffix`, while a save is not finished."""
    path = f"{folder}{os.sep}{entry.file}"
    found = None
    if suffix and os.path.lexists(path + suffix):
        found = _pending(path + suffix, entry, where)
    if found is None:
        found = files.map_tensor(path, entry.dtype, entry.shape, where, longer=longer)
    # `load_memmap` waits once for all of them.
    return found if device is None else found.to(device, non_blocking=True)


def _pending(path: str, entry: TensorEntry, where: str) -> Tensor | None:
    """The file of a save that is not finished; None where it got its name meanwhile."""
    try:
        found = files.map_tensor(path, entry.dtype, entry.shape, where)
    except StorageError:
        if os.path.lexists(path):
            raise
        return None
    return found if os.path.lexists(path) else None


def is_fake() -> bool:
    """Whether new tensors are fake. The usual case, no mode of any kind, takes a small part of the time to see."""
    return _get_current_dispatch_mode() is not None and active_fake_mode() is not None


def fill(cls: type[T], level: Level, folder: str, where: str, source: Source) -> T:
    """An object of a class from a level, every field checked against the declaration. `where` is the file, for errors."""
    if level.kind != "class":
        raise StorageError(f"{where}: expected a {cls.__name__}, got a {level.kind}")
    made = object.__new__(cls)
    batch_size = Size(level.batch_size)
    device = source.device or _CPU
    values: dict[str, object] = {**level.entries}  # those of no field are refused below
    for declared in cls._declared_as.fields:
        name = declared.name
        if name in level.entries:
            at = f"{where}: {cls.__name__}.{name}"
            values[name] = _value(cls, declared, level.entries[name], batch_size, folder, at, source)
        elif source.foreign and _may_be_left_out(cls, declared):
            values[name] = None
    try:
        fit_saved(made, values, batch_size, device)
        if cls._shapes:
            refuse_contents(made, batch_size, values)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{where}: {error}") from None
    carried = [values[name] for name in tensor_and_nested(cls)]
    made._assign(carried, [values[name] for name in cls._static], batch_size, device)
    made._names = level.names
    return made


def _value(
    cls: type[Stored],
    declared: FieldSummary,
    entry: Entry,
    batch_size: Size,
    folder: str,
    where: str,
    source: Source,
) -> object:
    """The value of an entry: static, a tensor, nested, None, or several tensors."""
    name = declared.name
    if isinstance(entry, StaticEntry) != (name in cls._static):
        expected, got = ("a", "none") if name in cls._static else ("no", "one")
        raise StorageError(f"{where}: expected {expected} static value, got {got}")
    if isinstance(entry, StaticEntry):
        value = decode(entry.value, where, partial(enum_of, cls, name), allow_pickle=source.allow_pickle)
        if source.foreign and name in cls._per_item and value is not None and not isinstance(value, (list, PerItem)):
            return PerItem([value] * batch_size.numel(), batch_size)
        return as_annotated(value, cls, name) if source.foreign else value
    if entry is None:
        return None
    if isinstance(entry, TensorEntry):
        return source.tensor(folder, entry, where)
    inside = f"{folder}{os.sep}{entry.folder}"
    source.check_folder(inside, where)
    if name in cls._nested:
        return fill(nested_class(cls, name), entry, inside, where, source)
    return _container(declared.container or entry.kind, entry, inside, where, source)


def _container(kind: str, level: Level, folder: str, where: str, source: Source) -> dict[str, Tensor] | list[Tensor]:
    """A dict or list of tensors."""
    # tensordict has objects only, and a dict or list is one there.
    if level.kind not in (kind, "class"):
        raise StorageError(f"{where}: expected a {kind} of tensors, got a {level.kind}")
    found: dict[str, Tensor] = {}
    for key, item in level.entries.items():
        if not isinstance(item, TensorEntry):
            raise StorageError(f"{where}[{key!r}]: expected a tensor, got something else")
        found[key] = source.tensor(folder, item, f"{where}[{key!r}]")
    if kind != "list":
        return found
    if found.keys() != {str(at) for at in range(len(found))}:
        raise StorageError(f"{where}: expected positions from 0 on as keys, got {list(found)}")
    return [found[str(at)] for at in range(len(found))]


def _may_be_left_out(cls: type[Stored], declared: FieldSummary) -> bool:
    """Whether others, who write nothing of what is None, mean None by a field that they did not write."""
    return declared.optional and declared.name not in cls._defaults and declared.name not in cls._static
