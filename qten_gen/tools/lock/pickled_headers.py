"""The headers of files of torch and of the metadata of `torch.distributed.checkpoint`, which are pickles.

They are read with a stand-in in the place of each class and function that they name, so none of these runs.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

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


def pickled_header(path: str) -> dict[str, Stored]:
    """The tensors of a checkpoint by name.

    Raises:
        ValueError: It is damaged, or holds no dict of tensors.
        OSError: It cannot be read.
    """
    try:
        return dict(_of_distributed(path) if os.path.basename(path) == ".metadata" else _of_torch(path))
    except (pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise ValueError(str(error)) from None


class _StandIn:
    """A stand-in for an object that a pickle makes by a class or a function: the arguments, and the state."""

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
            raise ValueError("it has no data.pkl, so it is no file of torch")
        found = _Reader(io.BytesIO(file.read(pickled))).load()
    for key in ("state_dict", "model", "module"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
            break
    if not isinstance(found, Mapping):
        raise ValueError(f"it holds a {type(found).__name__}, not a dict of tensors")
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
