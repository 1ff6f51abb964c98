"""`class Encoder(nn.Module)` → `class Encoder(Module)`, and `class Norm(nn.LayerNorm)` → `class Norm(nn.LayerNorm, Module)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...common.language import INIT, OPEN_MODULE
from ...model import ClassSource, FieldSource, MethodSource
from ...model.build_field import is_attribute_only
from .annotations import has_unseen_names
from .files import OpenFile, Project, method_of
from .opening import NN_MODULE, is_layer_of_torch, is_module_of_a_library
from .records import Change, FoundClass, Kind, Proposal, Reason

_COMBINED = frozenset({"abc.ABCMeta", "type", "builtins.type"})
"""Metaclasses that ours derive from."""

_FLAG = f"{INIT}=False"

_CALL_NOTE = "pyright reports that its own __call__ is not the one of Module: # pyright: ignore"


def propose_modules(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes for the modules of a file."""
    ready: list[FoundClass] = []
    for found in file.classes.values():
        if found.kind is Kind.MODULE and not found.is_adopted:
            reason = _obstacle(found, file, project)
            if reason is not None:
                yield Proposal(found.name, stays=reason)
            else:
                ready.append(found)
    if not ready:
        return
    from .rewriting import with_arguments, with_base

    replaced = {found.name: _replaced_base(found, file, project) for found in ready}
    going = [found.node.bases[at] for found in ready if (at := replaced[found.name]) is not None]
    for found in ready:
        does: list[str] = []
        changes: list[Change] = []
        position = replaced[found.name]
        is_open = _opens(found, project)
        spelling = file.spell_base("OpenModule" if is_open else "Module", going)
        if position is not None:
            changes.append(partial(with_base, position=position, text=spelling.text))
        elif is_open or _derives_from_layer(found, file, project):
            changes.append(partial(with_arguments, added=[spelling.text]))
        needs = spelling.needs if changes else ()
        if changes:
            why = ", because type checkers do not see all of its attributes" if is_open else ""
            does.append(f"derive from {spelling.text}{'' if '.' in spelling.text else ' of qten_gen'}{why}")
        if _needs_flag(found, file, project):
            changes.append(partial(with_arguments, added=[_FLAG]))
            does.append(f"add {_FLAG}, because it keeps its constructor")
        if changes:
            notes = (_CALL_NOTE,) if method_of(found.node, "__call__") is not None else ()
            yield Proposal(found.name, tuple(does), tuple(changes), needs, notes=notes)


def _replaced_base(found: FoundClass, file: OpenFile, project: Project) -> int | None:
    """The position of the base of a class that is nn.Module itself."""
    means = project.programs[file.path].ancestry.bases(found.qualified)
    return next((position for position, name in enumerate(means) if name in NN_MODULE), None)


def _derives_from_layer(found: FoundClass, file: OpenFile, project: Project) -> bool:
    """True if a base of a class is a layer of torch, and none is a module that brings Module with it."""
    means = project.programs[file.path].ancestry.bases(found.qualified)
    return any(map(is_layer_of_torch, means)) and NN_MODULE.isdisjoint(found.ancestors)


def _opens(found: FoundClass, project: Project) -> bool:
    """True if a class is the first one of its lineage with attributes that type checkers do not see."""
    own, *inherited = (has_unseen_names(cls, file, project) for cls, file in project.lineage(found))
    return own and not any(inherited) and OPEN_MODULE not in found.ancestors


def _obstacle(found: FoundClass, file: OpenFile, project: Project) -> Reason | None:
    """The obstacle in the text of a class: a part that stands in the way, or would behave in another way."""
    node = found.node
    if any(isinstance(base, ast.Starred) for base in node.bases) or any(not each.arg for each in node.keywords):
        return Reason("its bases or keywords are computed when the program runs", "write them out")
    if any(project.meaning(file, decorator) == "torch.jit.interface" for decorator in node.decorator_list):
        return Reason("TorchScript reads it as an interface, which derives from nn.Module alone", is_open=False)
    with_module = f"class {found.name}({', '.join([*map(file.text.of, node.bases), 'Module'])})"
    if any(is_layer_of_torch(name) and name.endswith(".Embedding") for name in found.ancestors):
        return Reason(
            "torch annotates nn.Embedding.freeze, which mypy holds against Module.freeze",
            f"write {with_module}:  # type: ignore[misc]",
        )
    metaclass = _own_metaclass(found, file, project)
    if metaclass is not None:
        return Reason(f"its metaclass is {metaclass}, and Module has one of its own")
    foreign = [name for name in found.ancestors if is_module_of_a_library(name) and not is_layer_of_torch(name)]
    if not foreign or not NN_MODULE.isdisjoint(found.ancestors):
        return None
    means = project.programs[file.path].ancestry.bases(found.qualified)
    if foreign[0] not in means:
        base = next((name for name in means if name in found.ancestors), foreign[0])
        short = foreign[0].removeprefix("torch.")
        return Reason(f"its base {base.rpartition('.')[2]} derives from {short}", f"add Module to the bases of {base}")
    short = foreign[0].removeprefix("torch.")
    help = f"write {with_module}, which keeps the constructor of {short.rpartition('.')[2]}"
    return Reason(f"its base {short} is a class of a library", help)


def _needs_flag(found: FoundClass, file: OpenFile, project: Project) -> bool:
    """True if a class has to say `init=False`: that it keeps its constructor.

    That is so where a class that writes no `__init__` would get one from annotations: from its own when it runs, and from those
    of its bases too in the eyes of type checkers. Below a layer of torch, checkers would see a constructor without its arguments.
    """
    program = project.programs[file.path]
    source = program.names.class_of(found.qualified)
    if source is None or _init(source[1]) is not None or any(keyword.arg == INIT for keyword in found.node.keywords):
        return False
    if any(map(is_layer_of_torch, found.ancestors)) and NN_MODULE.isdisjoint(found.ancestors):
        return True
    modules = [name for name in found.ancestors if not NN_MODULE.isdisjoint(program.ancestry.mro(name))]
    bases = [base[1] for name in modules if (base := program.names.class_of(name)) is not None]
    written = next((init for cls in bases if (init := _init(cls)) is not None), None)
    if written is not None and written.signature.parameters:
        return True
    fields: list[FieldSource] = []
    keeps, needs = written is not None, False
    for cls in (*reversed(bases), source[1]):
        fields += cls.fields
        needs = bool(fields) and (keeps or all(map(is_attribute_only, fields)))
        keeps = keeps or needs  # a class below one that keeps the constructor of nn.Module can keep it too
    return needs


def _init(cls: ClassSource) -> MethodSource | None:
    return next((method for method in cls.methods if method.name == "__init__"), None)


def metaclass_obstacle(found: FoundClass, file: OpenFile, project: Project) -> Reason | None:
    """The problem with a class whose metaclass cannot be combined with ours: its class statement would raise TypeError."""
    name, metaclass = found.name, _own_metaclass(found, file, project)
    if metaclass is None:
        name, metaclass = next(_inherited_metaclasses(found, file, project), ("", None))
    if metaclass is None:
        return None
    root = "TensorClass" if found.kind is Kind.TENSORCLASS else "Module"
    return Reason(f"the metaclass of {name} is {metaclass}, and {root} has one of its own")


def _own_metaclass(found: FoundClass, file: OpenFile, project: Project) -> str | None:
    """The metaclass that a class statement names, as written, if it is one of the user's or of a library."""
    for keyword in found.node.keywords:
        if keyword.arg == "metaclass" and project.meaning(file, keyword.value) not in _COMBINED:
            return file.text.of(keyword.value)
    return None


def _inherited_metaclasses(found: FoundClass, file: OpenFile, project: Project) -> Iterator[tuple[str, str]]:
    """The ancestors that name such a metaclass, the nearest first, and the metaclass."""
    names = project.programs[file.path].names
    for ancestor in found.ancestors:
        located = names.class_of(ancestor)
        for keyword, value in located[1].keywords if located is not None else ():
            if keyword == "metaclass" and names.resolve(value.name) not in _COMBINED:
                yield ancestor.rpartition(".")[2], value.name.rpartition(".")[2] or value.text
