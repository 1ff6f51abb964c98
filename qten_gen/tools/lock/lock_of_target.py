"""From a target to its lock: builds a model on fake tensors, as `qten-gen inspect` does, or reads the fields of a TensorClass."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

import torch
from torch import nn

from ...model import TensorClassDecl
from ...runtime.declaring.declared_class import DeclaredClass
from ...runtime.module.core.module_base import ModuleBase
from ...runtime.module.kept_dtypes import kept_tensors
from ..inspect.declared_sizes import spelled
from ..inspect.inspection import model_of
from ..inspect.model_building import on_fakes
from ..inspect.model_tree import TensorEntry, contents_of
from ..inspect.request import Request
from ..inspect.targets import named, split_call
from ..inspect.user_code import aside
from .lines import TIE, UNSAVED, Line, Lock, folded


class Recorded(NamedTuple):
    """A lock as the code is now."""

    lock: Lock
    classes: Mapping[str, str]
    """The class of each module by its path, with those whose version counts."""
    types: Mapping[str, type]
    """The same as class objects; of a TensorClass, the class itself."""
    model: nn.Module | None = None


def record(target: str, import_roots: tuple[str, ...] = ()) -> Recorded:
    """The lock of a target such as `shop.model:Decoder(width=64, depth=2)`, whose arguments are Python.

    Raises:
        InspectionError: It names nothing, or cannot be built.
    """
    with aside():
        found = named(split_call(target)[0], import_roots)
        declaration = getattr(found, "_declaration", None) if isinstance(found, DeclaredClass) else None
        if isinstance(found, type) and isinstance(declaration, TensorClassDecl):
            return Recorded(Lock(target, {}, tuple(_fields(declaration))), {}, {"": found})
        model = model_of(Request(target, import_roots=import_roots))
        declared = spelled(model)
        model = on_fakes(model, torch.device("cpu"), None)
        kept = {f"{path}.{name}".lstrip(".") for path, each in model.named_modules() for name, _ in kept_tensors(each)}
        lines = [
            _line(entry, declared, kept) for entry in contents_of(model).all_tensors() if entry.kind != "attribute"
        ]
        counted = _classes(model)
    versions = {kind.__name__: kind._version for kind in counted.values() if _names_version(kind)}
    names = {path: kind.__name__ for path, kind in counted.items()}
    return Recorded(Lock(target, versions, folded(lines)), names, counted, model)


def _line(entry: TensorEntry, declared: Mapping[str, str], kept: Container[str]) -> Line:
    if entry.tied_to is not None:
        return Line(entry.path, kind=TIE, tie=entry.tied_to)
    kind = "param" if entry.kind == "parameter" else "buffer" if entry.persistent else UNSAVED
    shape = str(list(entry.shape)) if entry.is_initialised else "?"
    return Line(entry.path, entry.dtype, kind, shape, declared.get(entry.path, ""), kept=entry.path in kept)


def _classes(model: nn.Module) -> dict[str, type[nn.Module]]:
    """The class of each module by its path, without those of torch, whose versions are not the user's."""
    return {
        path: type(module)
        for path, module in model.named_modules(remove_duplicate=False)
        if type(module).__module__.partition(".")[0] not in ("torch", "qten_gen")
    }


def _names_version(kind: type[nn.Module]) -> bool:
    """Whether a class says its version: each declared one does, and a plain one that sets `_version`."""
    return issubclass(kind, ModuleBase) or kind._version != nn.Module._version


def _fields(declaration: TensorClassDecl) -> Iterator[Line]:
    """The fields of a TensorClass, inherited ones included."""
    for field in declaration.fields:
        kind = "unbatched" if field.unbatched else field.kind.value.replace(" ", "-")
        is_tensor = not field.kind.is_static and field.nested is None
        dtype = (field.dtype or "Tensor") if is_tensor else _one_word(field.type.text)
        shape = "?" if field.dims is None else f"[{field.dims}]"
        yield Line(field.name, dtype, f"{kind}?" if field.optional else kind, shape, field.type.text)


def _one_word(text: str) -> str:
    """A type without a space, as a column has it."""
    return re.sub(r"\s+", "", text)
