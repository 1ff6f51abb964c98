"""The forms in which objects are stored, and classes that are declared as a test wants them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from qten_gen import PerItem, Ragged, TensorClass, Unbatched, field


class Part(TensorClass):
    """What nested fields hold."""

    q: Tensor


class Other(TensorClass):
    """What they hold later."""

    q: Tensor


_NAMES: dict[str, Any] = {
    "Float": Float,
    "Int": Int,
    "Other": Other,
    "Part": Part,
    "PerItem": PerItem,
    "Ragged": Ragged,
    "Tensor": Tensor,
    "TensorClass": TensorClass,
    "Unbatched": Unbatched,
    "field": field,
    "torch": torch,
}


class Declared:
    """Declares the class `Batch` as it is now, in a module where pickles find it."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __call__(self, *fields: str, flags: str = "") -> Any:
        found = _declared(self.module.__name__, fields, flags)
        vars(self.module)["Batch"] = found
        return found


@cache
def _declared(module: str, fields: tuple[str, ...], flags: str) -> Any:
    """The class `Batch` with these lines, made once for all forms: what takes longest in a test is the class statement."""
    lines = "".join(f"    {line}\n" for line in fields)
    namespace = {**_NAMES, "__name__": module}
    exec(f"class Batch(TensorClass{flags}):\n{lines}", namespace)
    return namespace["Batch"]


@dataclass(frozen=True)
class Form:
    """A form of storage. `save` gives what loads the object, with the class of that time."""

    name: str
    save: Callable[[Any, Path], Callable[[Any], Any]]


def _pickled(protocol: int) -> Callable[[Any, Path], Callable[[Any], Any]]:
    def save(made: Any, folder: Path) -> Callable[[Any], Any]:
        text = pickle.dumps(made, protocol)
        return lambda cls: pickle.loads(text)

    return save


def _torch_saved(made: Any, folder: Path) -> Callable[[Any], Any]:
    file = BytesIO()
    torch.save(made, file)

    def load(cls: Any) -> Any:
        file.seek(0)
        with torch.serialization.safe_globals([cls, Part, Other]):
            return torch.load(file, weights_only=True)

    return load


def _mapped(made: Any, folder: Path) -> Callable[[Any], Any]:
    made.memmap(folder)
    return lambda cls: cls.load_memmap(folder)


def _in_one_file(made: Any, folder: Path) -> Callable[[Any], Any]:
    path = folder / "batch.safetensors"
    made.save_safetensors(path)
    return lambda cls: cls.load_safetensors(path)


def _as_state(flatten: bool) -> Callable[[Any, Path], Callable[[Any], Any]]:
    def save(made: Any, folder: Path) -> Callable[[Any], Any]:
        file = BytesIO()
        torch.save(made.state_dict(flatten=flatten), file)
        file.seek(0)
        return lambda cls: made.apply(torch.zeros_like).load_state_dict(torch.load(file))

    return save


FORMS = (
    Form("pickle 2", _pickled(2)),
    Form("pickle 4", _pickled(4)),
    Form("pickle 5", _pickled(5)),
    Form("torch.save", _torch_saved),
    Form("memory map", _mapped),
    Form("safetensors", _in_one_file),
)
"""What keeps an object for a later program, whose class may be declared otherwise."""

ALL_FORMS = (
    *FORMS,
    Form("deepcopy", lambda made, folder: lambda cls: copy.deepcopy(made)),
    Form("temporary files", lambda made, folder: lambda cls: made.memmap()),
    Form("state dict", _as_state(False)),
    Form("flat state dict", _as_state(True)),
    Form("queue", lambda made, folder: lambda cls: pickle.loads(ForkingPickler.dumps(made))),
)
