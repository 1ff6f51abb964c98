"""The names and shapes in files of checkpoints, read without torch."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple


class StandIn:
    """What a pickle makes by a class or a function: the arguments, and the state."""

    args: tuple[Any, ...] = ()
    state: Any = None

    def __new__(cls, *args: Any) -> StandIn:
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
        return type(name, (StandIn,), {"__module__": module})

    def persistent_load(self, pid: Any) -> Any:
        return pid


def unpickled(file: IO[bytes]) -> Any:
    """What a pickle holds."""
    return _Reader(file).load()


class SavedPart(NamedTuple):
    """A region of a tensor in a folder of `torch.distributed.checkpoint`, and the range of a file that has it."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    file: str
    start: int
    length: int
    is_transformed: bool
    """The range is compressed, or otherwise no file of `torch.save`."""


class SavedTensor(NamedTuple):
    """A tensor in such a folder."""

    name: str
    dtype: str
    size: tuple[int, ...]
    parts: tuple[SavedPart, ...]


def distributed_tensors(file: IO[bytes]) -> Iterator[SavedTensor | str]:
    """The tensors of which the metadata of a folder says where they are; of other entries the name.

    Raises:
        ValueError: it is no such metadata. What else is wrong with it raises whatever that leads to.
    """
    found = getattr(unpickled(file), "state", None)
    if not isinstance(found, dict):
        raise ValueError("it holds something else")
    places = {
        (index.state["fqn"], _numbers(index.state.get("offset"))): place.state
        for index, place in (found.get("storage_data") or {}).items()
    }
    for name, value in found["state_dict_metadata"].items():
        state = value.state if isinstance(value.state, dict) else {}
        if "properties" not in state:
            yield name
            continue
        properties = state["properties"].state
        dtype = properties[0] if isinstance(properties, tuple) else properties["dtype"]
        parts = tuple(_part(name, chunk.state, places) for chunk in state["chunks"])
        yield SavedTensor(name, dtype.__name__, _numbers(state["size"]), parts)


def _part(name: str, chunk: Mapping[str, Any], places: Mapping[tuple[str, tuple[int, ...]], Any]) -> SavedPart:
    offsets = _numbers(chunk["offsets"])
    place = places[name, offsets]
    is_transformed = bool(place.get("transform_descriptors"))
    return SavedPart(
        offsets, _numbers(chunk["sizes"]), place["relative_path"], place["offset"], place["length"], is_transformed
    )


def _numbers(size: StandIn | None) -> tuple[int, ...]:
    """A `torch.Size`; of an entry that is no tensor it is None."""
    return () if size is None else tuple(size.args[0])


SAFETENSORS_DTYPES = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"C{bits}": f"complex{bits}" for bits in (64, 128)},
}
"""An older torch does not have them all."""
