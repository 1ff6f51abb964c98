"""From a target to its lock: builds a model on fake tensors, as `qten-gen inspect` does, or reads the fields of a TensorClass."""

from __future__ import annotations

import json
import re
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ...model import Argument, BufferDecl, Dim, ModuleDecl, ParameterDecl, SubmoduleDecl, TensorClassDecl, Value
from ...model.dimensions import in_words
from ...runtime.declaring.declared_class import DeclaredClass
from ...runtime.module.module_base import ModuleBase
from ...runtime.module.ties_and_dtypes import kept_tensors
from ..inspect.model_building import model_of
from ..inspect.model_tree import contents_of, tensors_of
from ..inspect.targets import named, split_call
from ..inspect.user_code import aside, is_users
from .lock import TIE, UNNAMED, UNSAVED, Line, Lock, folded, unfolded


class Current(NamedTuple):
    """The lock of the code as it is now."""

    lock: Lock
    classes: Mapping[str, str]
    """The name of the class of each module by its path, of the classes whose version counts."""
    model: nn.Module | None = None
    """None for a TensorClass."""


def current(target: str, import_roots: tuple[str, ...] = ()) -> Current:
    """The lock of a target such as `shop.model:Decoder(width=64, depth=2)`, whose arguments are Python.

    Raises:
        InspectionError: It names nothing, or cannot be built.
    """
    with aside():
        found = named(split_call(target)[0], import_roots)
        declaration = getattr(found, "_declaration", None) if isinstance(found, DeclaredClass) else None
        if isinstance(declaration, TensorClassDecl):
            return Current(Lock(target, {}, tuple(_fields(declaration))), {})
        model = model_of(target, import_roots=import_roots)
        lines = folded(_tensors(model))
    classes = {
        path: type(module)
        for path, module in model.named_modules(remove_duplicate=False)
        if _is_own(type(module).__module__, found.__module__)
    }
    # Each declared class has a version, and a plain one that sets `_version`.
    versioned = [cls for cls in classes.values() if issubclass(cls, ModuleBase) or cls._version != nn.Module._version]
    versions = {cls.__name__: cls._version for cls in versioned}
    return Current(Lock(target, versions, lines), {path: cls.__name__ for path, cls in classes.items()}, model)


def _is_own(module: str, target: str) -> bool:
    """True if the versions of a module's classes are the user's: not of a library, but for the one that holds the target."""
    file = str(getattr(sys.modules.get(module), "__file__", ""))
    return module.partition(".")[0] == target.partition(".")[0] or is_users(file)


def _fields(declaration: TensorClassDecl) -> Iterator[Line]:
    """The fields of a TensorClass, inherited ones included."""
    for field in declaration.fields:
        kind = "unbatched" if field.unbatched else field.kind.value.replace(" ", "-")
        is_tensor = not field.kind.is_static and field.nested is None
        dtype = (field.dtype or "Tensor") if is_tensor else re.sub(r"\s+", "", field.type.text)
        shape = "?" if field.dims is None else f"[{field.dims}]"
        yield Line(field.name, dtype, f"{kind}?" if field.optional else kind, shape, field.type.text)


def _tensors(model: nn.Module) -> Iterator[Line]:
    """The parameters and buffers of a model."""
    declared = _declared(model)
    keeping = {f"{path}.{name}".lstrip(".") for path, each in model.named_modules() for name, _ in kept_tensors(each)}
    for entry in tensors_of(contents_of(model)):
        path = entry.path
        if entry.kind == "attribute":
            continue
        if entry.tied_to is not None:
            yield Line(path, kind=TIE, tie=entry.tied_to)
            continue
        kind = "param" if entry.kind == "parameter" else "buffer" if entry.persistent else UNSAVED
        shape = str(list(entry.shape)) if entry.is_initialised else "?"
        yield Line(path, entry.dtype, kind, shape, declared.get(path, ""), keeps_dtype=path in keeping)


def _declared(model: nn.Module) -> dict[str, str]:
    """The declaration of each tensor by its path: `[3*width, width]`, or the layer that holds it, `Linear(width, 3*width)`."""
    spelled: dict[str, str] = {}
    declarations: dict[str, ModuleDecl] = {}
    for path, module in model.named_modules():
        declaration = getattr(type(module), "_declaration", None)
        if not (isinstance(type(module), DeclaredClass) and isinstance(declaration, ModuleDecl)):
            continue
        declarations[path] = declaration
        for field in declaration.fields:
            name = f"{path}.{field.name}".lstrip(".")
            if isinstance(field, BufferDecl) or (isinstance(field, ParameterDecl) and field.tie is None):
                spelled[name] = f"[{', '.join(map(in_words, field.dims))}]"
            elif isinstance(field, SubmoduleDecl):
                spelled[name] = f"{field.made.rpartition('.')[2]}({', '.join(map(_argument, field.arguments))})"
    found: dict[str, str] = {}
    for name in [name for name, _ in (*model.named_parameters(), *model.named_buffers())]:
        # The nearest field around a tensor that is no declared module, whose own fields say more.
        holder = name
        while holder and holder not in spelled and holder not in declarations:
            holder = holder.rpartition(".")[0]
        if holder in spelled and holder not in declarations:
            found[name] = spelled[holder]
    return found


def _argument(argument: Argument) -> str:
    value = argument.value
    text = in_words(value) if isinstance(value, Dim) else value.text if isinstance(value, Value) else argument.text
    text = " ".join((text or "...").split())
    return text if argument.keyword is None else f"{argument.keyword}={text}"


def broken_migrations(code: Current, lock: Lock) -> list[str]:
    """Why checkpoints of the earlier locks of a lock do not load: each has to fit the model strictly, as tensors without memory.

    A `migrate` that raises NotImplementedError refuses old checkpoints on purpose.
    """
    problems: list[str] = []
    for earlier in lock.earlier:
        state = _state_dict(earlier, code.classes)
        if state is None or code.model is None:
            continue
        versions = ", ".join(f"{name} {version}" for name, version in earlier.versions.items())
        try:
            with aside(), torch.no_grad():
                code.model.load_state_dict(state, strict=True, assign=True)
        except NotImplementedError:
            continue
        except Exception as error:  # of the user's `migrate`, or what does not fit
            message = " ".join(str(error).split())
            what = message.partition(f"for {type(code.model).__name__}: ")[2] or f"{type(error).__name__}: {message}"
            problems.append(f"a checkpoint of {versions} does not load: {what}")
    return problems


def _state_dict(lock: Lock, classes: Mapping[str, str]) -> OrderedDict[str, Tensor] | None:
    """The state dict that a lock describes, with the versions of its modules; None if a tensor has no shape."""
    lines = [line for line in unfolded(lock.lines) if line.is_saved]
    if any(line.shape == "?" for line in lines):
        return None
    found: OrderedDict[str, Tensor] = OrderedDict()
    paths = {""}
    for line in lines:
        if line.kind != TIE:
            dtype: torch.dtype = getattr(torch, line.dtype)
            found[line.name] = torch.empty(json.loads(line.shape), dtype=dtype, device="meta")
        segments = line.name.split(".")
        paths.update(".".join(segments[:count]) for count in range(1, len(segments)))
    # A tie to what no checkpoint holds is in none either.
    found.update((line.name, found[line.tie]) for line in lines if line.kind == TIE and line.tie in found)
    # torch keeps the versions of a state dict in this attribute.
    versions = {path: {"version": lock.versions.get(classes[path], UNNAMED)} for path in paths if path in classes}
    found._metadata = versions  # type: ignore[attr-defined] # torch's own attribute
    return found
