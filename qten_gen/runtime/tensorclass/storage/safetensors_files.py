"""Objects in one file of the format safetensors, whose package is imported when a file is loaded and not before."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from torch import Tensor

from ....common.state_differences import SAFETENSORS_DTYPES
from ..core.construction import as_device
from ..core.stored import Stored
from ..torch_tools.packing import dtype_name
from . import files
from . import metadata as schema
from .loading import Source, fill
from .metadata import Level, Metadata, StorageError, TensorEntry, walk
from .saving import Description, SaveOptions
from .state_dict import dotless

if TYPE_CHECKING:
    from ..core.construction import DeviceLike
    from .memory_map import PathLike

T = TypeVar("T", bound=Stored)

_KEY: Final = "qten_gen"
"""The entry of the header that says what is not a tensor."""

_DTYPES: Final = {dtype: name for name, dtype in SAFETENSORS_DTYPES.items()}


def save_safetensors(self: Stored, path: PathLike) -> None:
    """Save an object in one file that every reader of safetensors understands: `tokens`, `point.position`.

    >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")

    Tensors keep their shapes and dtypes. Batch size, names of dimensions and static values are in the header. A file that is
    there is replaced in one step.

    Args:
        path: The file.

    Raises:
        TypeError: a static value has no form in JSON, or a tensor is none of plain bytes.
    """
    made = Description(self, "", SaveOptions(copy_existing=True))
    ours = json.dumps(schema.to_json(Metadata(made.level, made.token)))
    header: dict[str, Any] = {"__metadata__": {"format": "pt", _KEY: ours}}
    # The largest elements first, so that all are aligned.
    placed = sorted(zip(_tensors(made.level), made.placed, strict=True), key=lambda item: -item[1].entry.dtype.itemsize)
    end = 0
    for name, (_, entry, _) in placed:
        start, end = end, end + entry.size
        dtype = _DTYPES.get(dtype_name(entry.dtype))
        if dtype is None:
            raise TypeError(f"{type(self).__name__}.save_safetensors: the format has no {entry.dtype}")
        header[name] = {"dtype": dtype, "shape": entry.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    target = files.absolute(path)
    folder, own = os.path.split(target)
    temporary = f"{target}.~{made.token}"
    with files.only_writer(folder):
        # The leftovers of saves that were killed.
        for found in filter(re.compile(rf"{re.escape(own)}\.~[0-9a-f]{{8}}").fullmatch, os.listdir(folder)):
            files.remove(f"{folder}{os.sep}{found}")
        try:
            tensors = [item.tensor.detach() for _, item in placed]
            files.write_new(temporary, len(text).to_bytes(8, "little"), text, *tensors)
            os.replace(temporary, target)
        except BaseException:
            files.remove(temporary)
            raise


def _tensors(level: Level) -> dict[str, TensorEntry]:
    """The tensors of a level by their names in the file, in order."""
    return {".".join(map(dotless, keys)): entry for keys, entry in walk(level) if isinstance(entry, TensorEntry)}


def load_safetensors(cls: type[T], path: PathLike, device: DeviceLike = None) -> T:
    """The object that `save_safetensors` saved, by whichever class: fields are found by name and checked against this one.

    >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")
    >>> Batch.load_safetensors("batch.safetensors").tokens
    tensor([0, 1])

    Args:
        path: The file.
        device: Where to put the tensors.

    Raises:
        ImportError: safetensors is not installed.
        FileNotFoundError: there is no file.
        StorageError: the file is damaged, or was tampered with, or does not fit the class; a ValueError.
    """
    try:
        library: Any = import_module("safetensors")
    except ImportError:
        needs = "needs the package safetensors, which is not installed: pip install safetensors"
        raise ImportError(f"{cls.__name__}.load_safetensors {needs}", name="safetensors") from None
    file = files.absolute(path)
    if os.path.isdir(file):
        raise StorageError(f"{file}: expected a file, got a folder; load_memmap loads the object in a folder")
    found = None if device is None else as_device(device)
    try:
        with library.safe_open(file, "pt", device=str(found or "cpu")) as opened:
            text = (opened.metadata() or {}).get(_KEY)
            if text is None:
                other = "to load tensors of another use safetensors and from_dict"
                raise StorageError(f"{file}: expected a file that save_safetensors wrote; {other}")
            level = schema.from_json(schema.parsed(text.encode(), file), file).level
            by_name = _tensors(level)
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

            return fill(cls, level, "", file, Source(tensor, found))
    except library.SafetensorError as error:
        raise StorageError(f"{file}: expected a file of safetensors: {error}") from None
