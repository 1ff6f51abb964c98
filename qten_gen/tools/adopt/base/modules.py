"""`class Encoder(nn.Module)` → `class Encoder(Module)`, and `class Norm(nn.LayerNorm)` → `class Norm(nn.LayerNorm, Module)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..adoption import Change, FoundClass, Kind, Proposal, Reason
from ..finding import NN_MODULE, is_layer_of_torch, is_module_of_a_library
from ..metaclasses import own_metaclass
from ..opened import OpenFile, Project
from .heads import spell_base
from .kept_constructor import FLAG, needs_flag


def propose_modules(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes for the modules of a file."""
    ready: list[FoundClass] = []
    for found in file.classes.values():
        if found.kind is not Kind.MODULE or found.is_adopted:
            continue
        reason = _obstacle(found, file, project)
        if reason is not None:
            yield Proposal(found.name, stays=reason)
        elif _replaced_base(found, file, project) is not None or _derives_from_layer(found, file, project):
            ready.append(found)
        elif needs_flag(found, file, project):
            yield Proposal(found.name, (_ADD_FLAG,), (_add_flag(),))
    if not ready:
        return
    replaced = {found.name: _replaced_base(found, file, project) for found in ready}
    going = [found.node.bases[at] for found in ready if (at := replaced[found.name]) is not None]
    spelling = spell_base(file, "Module", going)
    name = f"{spelling.text} of qten_gen" if "." not in spelling.text else spelling.text
    for found in ready:
        changes, done = _with_module(replaced[found.name], spelling.text), [f"derive from {name}"]
        if needs_flag(found, file, project):
            changes.append(_add_flag())
            done.append(_ADD_FLAG)
        yield Proposal(found.name, tuple(done), tuple(changes), spelling.needs)


def _with_module(position: int | None, text: str) -> list[Change]:
    """The changes that make Module a base: in place of nn.Module, or behind the layer of torch."""
    from ..rewriting.class_changes import with_arguments, with_base

    if position is None:
        return [partial(with_arguments, added=[text])]
    return [partial(with_base, position=position, text=text)]


_INTERFACE = "torch.jit.interface"
_ADD_FLAG = f"add {FLAG}, because it keeps its constructor"


def _add_flag() -> Change:
    from ..rewriting.class_changes import with_arguments

    return partial(with_arguments, added=[FLAG])


def _replaced_base(found: FoundClass, file: OpenFile, project: Project) -> int | None:
    """The position of the base of a class that is nn.Module itself."""
    means = project.programs[file.path].ancestry.bases(found.qualified)
    written = [position for position, base in enumerate(found.node.bases) if not isinstance(base, ast.Starred)]
    return next((position for position, name in zip(written, means, strict=True) if name in NN_MODULE), None)


def _derives_from_layer(found: FoundClass, file: OpenFile, project: Project) -> bool:
    """Whether a base of a class is a layer of torch, and none is a module that brings Module with it."""
    means = project.programs[file.path].ancestry.bases(found.qualified)
    return any(map(is_layer_of_torch, means)) and NN_MODULE.isdisjoint(found.ancestors)


def _obstacle(found: FoundClass, file: OpenFile, project: Project) -> Reason | None:
    """The obstacle in the text of a class: a part that stands in the way, or would behave in another way."""
    node = found.node
    if any(isinstance(base, ast.Starred) for base in node.bases) or any(not each.arg for each in node.keywords):
        return Reason("its bases or keywords are computed when the program runs", "write them out")
    if any(project.meaning(file, decorator) == _INTERFACE for decorator in node.decorator_list):
        return Reason("TorchScript reads it as an interface, which derives from nn.Module alone", is_open=False)
    if any(isinstance(each, ast.FunctionDef) and each.name == "__call__" for each in node.body):
        return Reason(
            "its own __call__ replaces that of Module, which has the signature of forward", "rename it forward"
        )
    if any(is_layer_of_torch(name) and name.endswith(".Embedding") for name in found.ancestors):
        return Reason(
            "torch annotates nn.Embedding.freeze, which mypy holds against Module.freeze",
            f"write {_with_last_base(found, file)}:  # type: ignore[misc]",
        )
    metaclass = own_metaclass(found, file, project)
    if metaclass is not None:
        return Reason(f"its metaclass is {metaclass}, and Module has one of its own")
    foreign = [name for name in found.ancestors if is_module_of_a_library(name) and not is_layer_of_torch(name)]
    if foreign and not any(name in NN_MODULE for name in found.ancestors):
        return of_library(found, foreign[0], file, project)
    return None


def of_library(found: FoundClass, foreign: str, file: OpenFile, project: Project) -> Reason:
    """Why a class stays that derives from a module of torch or of another library."""
    means = project.programs[file.path].ancestry.bases(found.qualified)
    short = foreign.removeprefix("torch.")
    if foreign not in means:
        base = next((name for name in means if name in found.ancestors), foreign)
        return Reason(f"its base {base.rpartition('.')[2]} derives from {short}", f"add Module to the bases of {base}")
    help = f"write {_with_last_base(found, file)}, which keeps the constructor of {short.rpartition('.')[2]}"
    return Reason(f"its base {short} is a class of a library", help)


def _with_last_base(found: FoundClass, file: OpenFile) -> str:
    """A class statement with Module behind its bases, for a help."""
    return f"class {found.name}({', '.join([*map(file.text.of, found.node.bases), 'Module'])})"
