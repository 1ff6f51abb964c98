"""What a checkpoint says that it holds, from its header: names, shapes and dtypes. No torch is imported, and no tensor is read.

Files of torch and the metadata of `torch.distributed.checkpoint` are pickles. They are read with a stand-in in the place of each
class and function that they name, so none of these runs.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from ...common.safetensors_dtypes import SAFETENSORS_DTYPES
from ...common.state_differences import Stored

_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
_LARGEST_HEADER = 100_000_000
"""That of safetensors itself."""


class HeaderError(ValueError):
    """A file is no checkpoint whose header can be read."""


def header(path: str) -> dict[str, Stored]:
    """The tensors of a checkpoint by name: a file of safetensors, its index, a file of torch, or a folder with one of these.

    Raises:
        HeaderError: It is none of these, or damaged.
        OSError: It cannot be read.
    """
    try:
        if os.path.isdir(path):
            return header(_in_folder(path))
        if path.endswith(".json"):
            return _of_index(path)
        if os.path.basename(path) == ".metadata":
            return dict(_of_distributed(path))
        if zipfile.is_zipfile(path):
            return dict(_of_torch(path))
        return dict(_of_safetensors(path))
    except (
        pickle.UnpicklingError,
        zipfile.BadZipFile,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        EOFError,
    ) as error:
        if isinstance(error, HeaderError):
            raise
        raise HeaderError(f"{path} is no checkpoint that can be read: {error}") from None


def _in_folder(folder: str) -> str:
    for name in ("model.safetensors.index.json", "model.safetensors", ".metadata", "pytorch_model.bin"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise HeaderError(f"{folder} has no model.safetensors, no index of one, no .metadata and no pytorch_model.bin")


def _of_safetensors(path: str) -> Iterator[tuple[str, Stored]]:
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 1 < size <= _LARGEST_HEADER:
            raise HeaderError(f"{path} is neither a file of safetensors nor one of torch")
        text = file.read(size)
    for name, entry in json.loads(text).items():
        if name != "__metadata__":
            dtype: str = entry["dtype"]  # one that is newer than this table is shown as it is
            yield name, Stored(SAFETENSORS_DTYPES.get(dtype, dtype), str(entry["shape"]), tuple(entry["data_offsets"]))


def _of_index(path: str) -> dict[str, Stored]:
    with open(path, encoding="utf-8") as file:
        placed: Mapping[str, str] = json.load(file)["weight_map"]
    folder = os.path.dirname(path)
    files = {name: header(os.path.join(folder, name)) for name in dict.fromkeys(placed.values())}
    missing = [name for name, file in placed.items() if name not in files[file]]
    if missing:
        raise HeaderError(f"{path}: {missing[0]} is not in {placed[missing[0]]}, where the index has it")
    return {name: files[file][name]._replace(memory=None) for name, file in placed.items()}


class _StandIn:
    """What a pickle makes by a class or a function: the arguments, and the state."""

    args: tuple[Any, ...] = ()
    state: Any = None

    def __new__(cls, *args: Any) -> _StandIn:
        made = super().__new__(cls)
        made.args = args
        return made

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def append(self, value: Any) -> None: ...

    def extend(self, values: Any) -> None: ...


class _Reader(pickle.Unpickler):
    """Reads a pickle with a stand-in for everything that it names."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        return type(name, (_StandIn,), {"__module__": module})

    def persistent_load(self, pid: Any) -> Any:
        return pid


def _of_torch(path: str) -> Iterator[tuple[str, Stored]]:
    """The tensors of a dict that `torch.save` wrote, or of the model in a dict of a trainer."""
    with zipfile.ZipFile(path) as file:
        pickled = next((name for name in file.namelist() if name.endswith("/data.pkl")), None)
        if pickled is None:
            raise HeaderError(f"{path} has no data.pkl, so it is no file of torch")
        found = _Reader(io.BytesIO(file.read(pickled))).load()
    for key in ("state_dict", "model", "module"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
            break
    if not isinstance(found, Mapping):
        raise HeaderError(f"{path} holds a {type(found).__name__}, not a dict of tensors")
    for name, value in found.items():
        stored = _tensor(value)
        if stored is not None:
            yield str(name), stored


def _tensor(value: object) -> Stored | None:
    """The tensor that a call of torch's would rebuild."""
    if not isinstance(value, _StandIn):
        return None
    made = type(value).__name__
    if made in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return _tensor(value.args[0])
    if made not in ("_rebuild_tensor_v2", "_rebuild_tensor_v3"):
        return None
    (_, storage, key, *_), offset, size = value.args[:3]
    dtype = value.args[6].__name__ if made.endswith("v3") else _STORAGES[storage.__name__.removesuffix("Storage")]
    return Stored(dtype, str(list(size)), (key, offset))


def _of_distributed(path: str) -> Iterator[tuple[str, Stored]]:
    with open(path, "rb") as file:
        found = _Reader(file).load()
    for name, value in found.state["state_dict_metadata"].items():
        state = value.state if isinstance(value.state, dict) else {}
        if "properties" in state:  # others are bytes
            properties, size = state["properties"].state, state["size"].args[0]
            dtype = properties[0] if isinstance(properties, tuple) else properties["dtype"]
            yield name, Stored(dtype.__name__, str(list(size)))
