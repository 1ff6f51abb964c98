"""Loading: the object that a folder holds, as an instance of the class that is asked for."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

import torch
from torch import Size, Tensor
from torch._guards import active_fake_mode
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ..core.construction import default
from ..core.contents import contents, nested_class
from ..core.error_text import describe, suggestion
from ..core.stored import Stored
from ..core.tensordict_library import collection_class, library, made_classes_in
from ..fields.annotated_shapes import refuse_contents
from ..fields.as_declared import as_declared
from ..fields.per_item import PerItem, per_item, refuse_unfit
from ..fields.tensordict_entries import Entries, Layout, class_of, collection
from . import files, metadata_files, schema, tensordict_folders
from .file_names import PENDING
from .json_values import Json, as_annotated, decode, enum_of
from .schema import Entry, Level, Metadata, StaticEntry, TensorEntry
from .storage_errors import StorageError

if TYPE_CHECKING:
    from ...declaring.kept_facts import FieldSummary

T = TypeVar("T", bound=Stored)

_ATTEMPTS = 100
_CPU = torch.device("cpu")


class Source(Protocol):
    """Where the tensors of an object come from.

    Attributes:
        device: Where they are put; None is the CPU.
        allow_pickle: Whether static values may be pickled.
        foreign: Whether static values are plain JSON, which others wrote.
    """

    @property
    def foreign(self) -> bool: ...
    @property
    def device(self) -> torch.device | None: ...
    @property
    def allow_pickle(self) -> bool: ...
    def tensor(self, folder: str, entry: TensorEntry, where: str) -> Tensor:
        """A tensor; `where` is the file and the field, for errors."""
        ...

    def check_folder(self, folder: str, where: str) -> None:
        """Refuse the folder of a nested object where it is none."""
        ...

    def metadata(self, folder: str) -> str:
        """The file that says what is in a folder, for errors."""
        ...


class MappedFiles(NamedTuple):
    """The files of a folder.

    Attributes:
        device: Where tensors are put; None leaves them in the mapped files.
        suffix: What the names of files may still end in, while a save is not finished.
        foreign: Whether tensordict wrote the files, which may be longer than their tensors; static values are plain JSON then.
        without_data: Whether tensors are on the meta device, or fake. No file of them is opened, nor need there be one.
    """

    device: torch.device | None
    suffix: str
    foreign: bool
    allow_pickle: bool
    without_data: bool

    def metadata(self, folder: str) -> str:
        """The metadata of the folder itself."""
        return metadata_files.metadata_in(folder)

    def check_folder(self, folder: str, where: str) -> None:
        """Refuse what is not a folder."""
        if not self.without_data:
            files.check_folder(folder, where)

    def tensor(self, folder: str, entry: TensorEntry, where: str) -> Tensor:
        """A tensor of the folder."""
        if self.without_data:
            return torch.empty(entry.shape, dtype=entry.dtype, device=self.device or "cpu")
        path = f"{folder}{os.sep}{entry.file}"
        found = None
        if self.suffix and os.path.lexists(path + self.suffix):
            found = self._with_suffix(path, entry, where)
        if found is None:
            found = files.map_tensor(path, entry.dtype, entry.shape, where, longer=self.foreign)
        return found if self.device is None else found.to(self.device, non_blocking=True)

    def _with_suffix(self, path: str, entry: TensorEntry, where: str) -> Tensor | None:
        """The file of a save that is not finished; None where it got its name meanwhile."""
        path += self.suffix
        try:
            found = files.map_tensor(path, entry.dtype, entry.shape, where)
        except StorageError:
            if os.path.lexists(path):
                raise
            return None
        return found if os.path.lexists(path) else None


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
    suffix = PENDING + metadata.token if metadata.token else ""
    without_data = is_fake() or (device is not None and device.type == "meta")
    source = MappedFiles(device, suffix, foreign, allow_pickle, without_data)
    level = metadata.level
    return fill(cls, level, f"{folder}{os.sep}{level.folder}" if level.folder else folder, source)


def is_fake() -> bool:
    """Whether new tensors are fake. The usual case, no mode of any kind, takes a small part of the time to see."""
    return _get_current_dispatch_mode() is not None and active_fake_mode() is not None


def fill(cls: type[T], level: Level, folder: str, source: Source) -> T:
    """An object of a class from a level, every field checked against the declaration."""
    where = source.metadata(folder)
    if level.kind != "class":
        raise StorageError(f"{where}: expected a {cls.__name__}, got a {level.kind}")
    for key in level.entries:
        if key not in cls._fields:
            raise StorageError(f"{where}: {cls.__name__} has no field {key!r}{suggestion(key, cls._fields)}")
    made = object.__new__(cls)
    batch_size = Size(level.batch_size)
    carried: list[object] = []
    static: list[object] = []
    for declared in cls._declared_as.fields:
        name = declared.name
        at = f"{where}: {cls.__name__}.{name}"
        entry = level.entries.get(name)
        if isinstance(entry, TensorEntry) and _is_one_tensor(cls, declared):
            if not declared.unbatched:
                _refuse_unfit_shape(entry.shape, batch_size, at)
            carried.append(source.tensor(folder, entry, at))
            continue
        if name not in level.entries and not (source.foreign and _may_be_left_out(cls, declared)):
            value = _added(made, declared, batch_size, source.device or _CPU, at)
        else:
            value = _value(cls, declared, entry, folder, at, source)
            if name in cls._per_item:
                value = _items(made, declared, value, batch_size, at, source)
            value = _fitting(made, value, declared, batch_size, at)
        (static if name in cls._static else carried).append(value)
    made._assign(carried, static, batch_size, source.device or _CPU)
    made._names = level.names
    _refuse_unfit(made, batch_size, where)
    return made


def _is_one_tensor(cls: type[Stored], declared: FieldSummary) -> bool:
    return declared.nested is None and declared.container is None and declared.name not in cls._static


def _value(cls: type[Stored], declared: FieldSummary, entry: Entry, folder: str, where: str, source: Source) -> object:
    """The value of an entry that is not simply one tensor: static, nested, None, or several tensors."""
    if declared.name in cls._static:
        if not isinstance(entry, StaticEntry):
            raise StorageError(f"{where}: expected {_expected(cls, declared)}, got {_kind(entry)}")
        value = decode(entry.value, where, partial(enum_of, cls, declared.name), allow_pickle=source.allow_pickle)
        return as_annotated(value, cls, declared.name) if source.foreign else value
    if entry is None and declared.optional:
        return None
    if declared.container is not None:
        return _container(declared.container, entry, folder, where, source)
    if isinstance(entry, Level) and declared.name in cls._collections:
        return collection(_entries(collection_class(cls, declared.name), entry, folder, where, source))
    if isinstance(entry, Level) and declared.name in cls._nested:
        inside = f"{folder}{os.sep}{entry.folder}"
        source.check_folder(inside, where)
        return fill(nested_class(cls, declared.name), entry, inside, source)
    raise StorageError(f"{where}: expected {_expected(cls, declared)}, got {_kind(entry)}")


def _entries(wanted: type | None, level: Level, folder: str, where: str, source: Source) -> Entries:
    """The entries of a TensorDict from a level: what its keys lead to is what was saved. `wanted` is a tensordict class."""
    inner = {} if wanted is None else made_classes_in(wanted)
    inside = f"{folder}{os.sep}{level.folder}"
    source.check_folder(inside, where)
    batch_size = Size(level.batch_size)
    carried: dict[str, object] = {}
    static: dict[str, object] = {}
    for key, entry in level.entries.items():
        at = f"{where}[{key!r}]"
        if isinstance(entry, TensorEntry):
            carried[key] = source.tensor(inside, entry, at)
        elif isinstance(entry, Level):
            carried[key] = _entries(inner.get(key), entry, inside, at, source)
        elif isinstance(entry, StaticEntry):
            static[key] = decode(entry.value, at, allow_pickle=source.allow_pickle)
        else:
            raise StorageError(f"{at}: expected a tensor, an object or a value, got nothing")
    layout = Layout(
        wanted or library(where).TensorDict,
        tuple(level.entries),
        nested=tuple(key for key, value in carried.items() if isinstance(value, Stored)),
        unbatched=(),
        static=tuple(static),
        per_item=tuple(key for key, value in static.items() if isinstance(value, PerItem)),
    )
    made = object.__new__(class_of(layout))
    made._assign([*carried.values()], [*static.values()], batch_size, source.device or _CPU)
    made._names = level.names
    return made


def _container(kind: str, entry: Entry, folder: str, where: str, source: Source) -> dict[str, Tensor] | list[Tensor]:
    """A dict or list of tensors."""
    if not isinstance(entry, Level) or (entry.kind != kind and entry.kind != "class"):
        raise StorageError(f"{where}: expected a {kind} of tensors, got {_kind(entry)}")
    inside = f"{folder}{os.sep}{entry.folder}"
    source.check_folder(inside, where)
    found: dict[str, Tensor] = {}
    for key, item in entry.entries.items():
        if not isinstance(item, TensorEntry):
            raise StorageError(f"{where}[{key!r}]: expected a tensor, got {_kind(item)}")
        found[key] = source.tensor(inside, item, f"{where}[{key!r}]")
    if kind == "dict":
        return found
    if found.keys() != {str(at) for at in range(len(found))}:
        raise StorageError(f"{where}: expected positions from 0 on as keys, got {list(found)}")
    return [found[str(at)] for at in range(len(found))]


def _fitting(made: Stored, value: object, declared: FieldSummary, batch_size: Size, where: str) -> object:
    """A value whose shape, or whose batch size, starts with the owner's, where the batch carries it; or one that is cast."""
    if declared.cast is not None:
        try:
            return as_declared(made, declared, value, batch_size, None)
        except (TypeError, ValueError) as error:
            raise StorageError(f"{where}: {error}") from None
    if declared.unbatched:
        return value
    if declared.container is not None and value is not None:
        items = cast("dict[str, Tensor] | list[Tensor]", value)
        shapes: list[object] = [item.shape for item in (items.values() if isinstance(items, dict) else items)]
    else:
        shapes = [value.shape if isinstance(value, Tensor) else getattr(value, "_batch_size", None)]
    for shape in shapes:
        if isinstance(shape, Size):
            _refuse_unfit_shape(shape, batch_size, where)
    return value


def _refuse_unfit_shape(shape: tuple[int, ...], batch_size: Size, where: str) -> None:
    if shape[: len(batch_size)] != batch_size:
        raise StorageError(f"{where}: expected a shape that starts with {list(batch_size)}, got {list(shape)}")


def _may_be_left_out(cls: type[Stored], declared: FieldSummary) -> bool:
    """Whether others, who write nothing of what is None, mean None by a field that they did not write."""
    return declared.optional and declared.name not in cls._defaults and declared.name not in cls._static


def _added(made: Stored, declared: FieldSummary, batch_size: Size, device: torch.device, where: str) -> object:
    """The default of a field that was declared after the object was saved, as the constructor would store it."""
    if declared.name not in type(made)._defaults:
        expected = _expected(type(made), declared)
        raise StorageError(
            f"{where}: expected {expected}, got nothing; to load what was saved without it give it a default"
        )
    try:
        return as_declared(made, declared, default(made, declared.name), batch_size, device)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{where}: nothing was saved for it, and its default does not fit: {error}") from None


def _expected(cls: type[Stored], declared: FieldSummary) -> str:
    if declared.name in cls._static:
        return "a static value"
    if declared.container is not None:
        return f"a {declared.container} of tensors"
    return "an object" if declared.name in cls._nested else "a tensor"


def _items(made: Stored, declared: FieldSummary, value: object, batch_size: Size, where: str, source: Source) -> object:
    """The values of a PerItem field; others write a list of them, or one value for all items."""
    if isinstance(value, PerItem) or (value is None and declared.optional):
        return value
    if not source.foreign:
        raise StorageError(f"{where}: expected a value for each item, got {describe(value)}")
    if not isinstance(value, list):
        return PerItem([value] * batch_size.numel(), batch_size)
    try:
        return per_item(made, declared.name, value, batch_size)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{where}: {error}") from None


def _refuse_unfit(self: Stored, batch_size: Size, where: str) -> None:
    """Refuse tensors that are not what the annotations say, and PerItem values for another batch size."""
    try:
        if self._shapes:
            refuse_contents(self, batch_size, contents(self))
        if self._per_item:
            refuse_unfit(self, batch_size, self._field_values()[1])
    except (TypeError, ValueError) as error:
        raise StorageError(f"{where}: {error}") from None


def _kind(entry: Entry) -> str:
    if entry is None:
        return "nothing"
    if isinstance(entry, Level):
        return "an object" if entry.kind == "class" else f"a {entry.kind}"
    return "a tensor" if isinstance(entry, TensorEntry) else "a static value"
