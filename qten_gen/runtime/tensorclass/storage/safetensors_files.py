"""Objects in one file of the package `safetensors`, which is imported when one is saved or loaded and not before."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from torch import Tensor

from ..core.construction import as_device
from ..core.stored import Stored
from . import files
from . import metadata as schema
from .loading import Source, fill
from .metadata import Level, Metadata, StorageError, TensorEntry
from .saving import Description, SaveOptions
from .state_dict import dotless

if TYPE_CHECKING:
    from ..core.construction import DeviceLike
    from .memory_map import PathLike

T = TypeVar("T", bound=Stored)

_KEY: Final = "qten_gen"
"""The entry of the header that says what is not a tensor."""


def save_safetensors(self: Stored, path: PathLike, *, allow_pickle: bool = False) -> None:
    """Save an object in one file that every reader of safetensors understands: `tokens`, `point.position`.

    >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")

    Tensors keep their shapes and dtypes. Batch size, names of dimensions and static values are in the header. A file that is
    there is replaced in one step.

    Args:
        path: The file.
        allow_pickle: Whether static values that JSON cannot hold are pickled.

    Raises:
        ImportError: safetensors is not installed.
        TypeError: a static value has no form in JSON, or a tensor is none of plain bytes.
    """
    library = _library(f"{type(self).__name__}.save_safetensors")
    made = Description(self, "", SaveOptions(copy_existing=True, allow_pickle=allow_pickle))
    names = [name for name, _ in _tensors(made.level, "")]
    tensors = dict(zip(names, _apart(item.tensor for item in made.placed), strict=True))
    header = {"format": "pt", _KEY: json.dumps(schema.to_json(Metadata(made.level, made.token)))}
    target = files.absolute(path)
    folder, name = os.path.split(target)
    # What saves of the same file left that were killed. A folder of its own, because the package gives its file a random name.
    for found in filter(re.compile(rf"{re.escape(name)}\.~[0-9a-f]{{8}}").fullmatch, os.listdir(folder)):
        files.remove_unused(f"{folder}{os.sep}{found}")
    temporary = f"{target}.~{made.token}"
    try:
        with files.only_writer(temporary):
            library.torch.save_file(tensors, f"{temporary}{os.sep}{name}", header)
            os.replace(f"{temporary}{os.sep}{name}", target)
    # safetensors looks the dtype up in a table of its own.
    except KeyError as error:
        raise TypeError(f"{type(self).__name__}.save_safetensors: the format has no {error.args[0]}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _tensors(level: Level, prefix: str) -> Iterator[tuple[str, TensorEntry]]:
    """The tensors of a level and their names in the file, in order."""
    for key, entry in level.entries.items():
        name = prefix + dotless(key)
        if isinstance(entry, TensorEntry):
            yield name, entry
        elif isinstance(entry, Level):
            yield from _tensors(entry, f"{name}.")


def _apart(tensors: Iterable[Tensor]) -> Iterator[Tensor]:
    """Contiguous tensors, no two of which share memory: the format has no word for that."""
    seen: set[int] = set()
    for tensor in tensors:
        made = tensor.detach().resolve_conj().resolve_neg().contiguous()
        if made.untyped_storage().data_ptr() in seen:
            made = made.clone()
        seen.add(made.untyped_storage().data_ptr())
        yield made


def load_safetensors(cls: type[T], path: PathLike, device: DeviceLike = None, *, allow_pickle: bool = False) -> T:
    """The object that `save_safetensors` saved, by whichever class: fields are found by name and checked against this one.

    >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")
    >>> Batch.load_safetensors("batch.safetensors").tokens
    tensor([0, 1])

    Args:
        path: The file.
        device: Where to put the tensors.
        allow_pickle: Whether values that were pickled are read. A pickle can run any code.

    Raises:
        ImportError: safetensors is not installed.
        FileNotFoundError: there is no file.
        StorageError: the file is damaged, or was tampered with, or does not fit the class; a ValueError.
    """
    library = _library(f"{cls.__name__}.load_safetensors")
    file = files.absolute(path)
    found = None if device is None else as_device(device)
    try:
        with library.safe_open(file, "pt", device=str(found or "cpu")) as opened:
            text = (opened.metadata() or {}).get(_KEY)
            if text is None:
                other = "to load tensors of another use safetensors and from_dict"
                raise StorageError(f"{file}: expected a file that save_safetensors wrote; {other}")
            level = schema.from_json(schema.parsed(text.encode(), file), file).level
            by_name = dict(_tensors(level, ""))
            unlike = sorted(by_name.keys() ^ set(opened.keys()))
            if unlike:
                raise StorageError(
                    f"{file}: expected the tensors that its header says, which differ in {', '.join(unlike)}"
                )
            # By identity, because two tensors can have equal entries.
            names = {id(entry): name for name, entry in by_name.items()}

            def tensor(_: str, entry: TensorEntry, where: str) -> Tensor:
                read: Tensor = opened.get_tensor(names[id(entry)])
                if read.dtype != entry.dtype or tuple(read.shape) != entry.shape:
                    said = f"{entry.dtype} {list(entry.shape)} as its header says"
                    raise StorageError(f"{where}: expected {said}, got {read.dtype} {list(read.shape)}")
                return read

            return fill(cls, level, "", file, Source(tensor, lambda *_: None, found, allow_pickle))
    except library.SafetensorError as error:
        raise StorageError(f"{file}: expected a file of safetensors: {error}") from None


def _library(user: str) -> Any:  # a package that may not be there
    try:
        import_module("safetensors.torch")
        return import_module("safetensors")
    except ImportError:
        raise ImportError(f"{user}: safetensors is not installed; pip install safetensors") from None
