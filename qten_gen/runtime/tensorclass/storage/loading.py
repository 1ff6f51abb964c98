"""Loading: the object that a folder holds, as an instance of the class that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._guards import active_fake_mode
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ..core.contents import nested_class, tensor_and_nested
from ..core.stored import Stored
from ..fields.as_declared import fit_saved
from . import files
from . import metadata as schema
from .json_values import decode
from .metadata import Entry, Level, Place, StaticEntry, StorageError, TensorEntry

if TYPE_CHECKING:
    from ...declaring.declared_class import FieldSummary

T = TypeVar("T", bound=Stored)

_ATTEMPTS = 100
_CPU = torch.device("cpu")


class Source(NamedTuple):
    """Where the tensors of an object come from."""

    tensor: Callable[[str, TensorEntry, str], Tensor]
    """The tensor of an entry with the path of its file; the last argument is the metadata and the field, for errors."""
    device: torch.device | None
    """Where the tensors are put; None is the CPU, in mapped files."""


def load(cls: type[T], folder: str, device: torch.device | None = None) -> T:
    """The object in a folder. Read again where another process replaces it meanwhile, so that it is all old or all new.

    Raises:
        FileNotFoundError: there is no saved object.
        StorageError: it is damaged, or does not fit the class.
    """
    place = _place(cls, folder)
    for _ in range(_ATTEMPTS):
        made, error = None, None
        try:
            made = _object(cls, folder, place, device)
        except StorageError as found:
            error = found
        before, place = place, _place(cls, folder)
        if place == before:
            if made is None:
                raise error or _not_found(cls, folder)
            return made
    raise StorageError(f"{folder}: another process replaces what is saved there faster than it can be read")


def _place(cls: type[Stored], folder: str) -> Place:
    """Where the metadata stands that says what a folder holds, which says something else after every save."""
    try:
        return schema.owner_of(folder) or Place(folder, schema.text_in(folder), ())
    except FileNotFoundError:
        raise _not_found(cls, folder) from None


def _not_found(cls: type[Stored], folder: str) -> FileNotFoundError:
    path = schema.metadata_in(folder)
    return FileNotFoundError(f"no saved {cls.__name__}: expected {path}, which every finished save writes")


def _object(cls: type[T], folder: str, place: Place, device: torch.device | None) -> T | None:
    """The object that metadata describes; None where it has none."""
    where = schema.metadata_in(place.folder)
    found = schema.parsed(place.text, where)
    if schema.SECTION not in found:
        advice = f"a folder of tensordict is loaded by {cls.__name__}.from_tensordict(TensorDict.load_memmap(folder))"
        raise StorageError(f"{where}: expected metadata that a save of qten-gen wrote; {advice}")
    level = schema.level_at(schema.from_json(found[schema.SECTION], where).level, place.below)
    if level is None:
        return None
    if is_fake() or (device is not None and device.type == "meta"):
        tensor = partial(_without_data, device)
    else:
        tensor = partial(_mapped, place.folder, device)
    return fill(cls, level, folder, where, Source(tensor, device))


def is_fake() -> bool:
    """True if new tensors are fake. The usual case, no mode of any kind, takes a small part of the time to see."""
    return _get_current_dispatch_mode() is not None and active_fake_mode() is not None


def _without_data(device: torch.device | None, path: str, entry: TensorEntry, where: str) -> Tensor:
    """A tensor on the meta device, or a fake one. No file of it is opened, nor need there be one."""
    return torch.empty(entry.shape, dtype=entry.dtype, device=device or "cpu")


def _mapped(whole: str, device: torch.device | None, path: str, entry: TensorEntry, where: str) -> Tensor:
    """A tensor of a folder, whose file may still be a pending one in the folder of the whole object."""
    pending = f"{whole}{os.sep}{entry.pending}"
    found = None
    if entry.pending and os.path.lexists(pending):
        try:
            found = files.map_tensor(pending, entry.dtype, entry.shape, where, name=path)
        except StorageError:
            if os.path.lexists(pending):
                raise
            # It got its name meanwhile.
    if found is None:
        found = files.map_tensor(path, entry.dtype, entry.shape, where)
    # `load_memmap` waits once for all of them.
    return found if device is None else found.to(device, non_blocking=True)


def fill(cls: type[T], level: Level, folder: str, where: str, source: Source) -> T:
    """An object of a class from a level, every field checked against the declaration. `where` is the file, for errors.

    `folder` is empty where the tensors are in one file.
    """
    if level.kind != "class":
        raise StorageError(f"{where}: expected a {cls.__name__}, got a {level.kind}")
    made = object.__new__(cls)
    batch_size = Size(level.batch_size)
    device = source.device or _CPU
    values: dict[str, object] = {**level.entries}  # what belongs to no field is refused below
    for declared in cls._declared_as.fields:
        name = declared.name
        if name in level.entries:
            at = f"{where}: {cls.__name__}.{name}"
            values[name] = _value(cls, declared, level.entries[name], folder, at, source)
    try:
        fit_saved(made, values, batch_size, device)
        return filled(made, values, batch_size, device, level.names)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{where}: {error}") from None


def filled(
    made: T, values: dict[str, Any], size: Size, device: torch.device | None, names: tuple[str | None, ...] | None
) -> T:
    """Store values that fit in an object, which is returned."""
    carried, static = [values[name] for name in tensor_and_nested(made)], [values[name] for name in made._static]
    made._assign(carried, static, size, device)
    made._names = names
    if made.__structure__:
        cast(Any, made).refuse_damaged(" in a file or pickle, which is damaged")
    return made


def _value(cls: type[Stored], declared: FieldSummary, entry: Entry, folder: str, where: str, source: Source) -> object:
    """The value of an entry: static, a tensor, nested, None, or several tensors."""
    name = declared.name
    if isinstance(entry, StaticEntry) != (name in cls._static):
        saved, declared_as = ("tensors", "static") if name in cls._static else ("static", "tensors")
        raise StorageError(f"{where}: saved as {saved}, but declared as {declared_as}")
    if isinstance(entry, StaticEntry):
        return decode(entry.value, where)
    if entry is None:
        return None
    if isinstance(entry, TensorEntry):
        return source.tensor(f"{folder}{os.sep}{schema.file_of_key(name)}", entry, where)
    inside = folder and f"{folder}{os.sep}{schema.encoded(name)}"
    if os.path.islink(inside):
        raise StorageError(f"{where}: expected a folder at {inside}, got a link")
    if name in cls._nested:
        return fill(nested_class(cls, name), entry, inside, where, source)
    return _container(declared.container or entry.kind, entry, inside, where, source)


def _container(kind: str, level: Level, folder: str, where: str, source: Source) -> dict[str, Tensor] | list[Tensor]:
    """A dict or list of tensors."""
    if level.kind != kind:
        raise StorageError(f"{where}: expected a {kind} of tensors, got a {level.kind}")
    found: dict[str, Tensor] = {}
    for key, item in level.entries.items():
        if not isinstance(item, TensorEntry):
            raise StorageError(f"{where}[{key!r}]: expected a tensor, got something else")
        path = f"{folder}{os.sep}{schema.file_of_key(key)}"
        found[key] = source.tensor(path, item, f"{where}[{key!r}]")
    if kind != "list":
        return found
    if found.keys() != {str(at) for at in range(len(found))}:
        raise StorageError(f"{where}: expected positions from 0 on as keys, got {list(found)}")
    return [found[str(at)] for at in range(len(found))]
