"""The level `annotate`: the class body says what `__init__` registers by name, and `forward` what it provably returns.

Checkers do not see a name in a string: `self.register_buffer("mask", mask)`. They do see `self.norm = nn.LayerNorm(dim)`, so that
is not repeated. A call of a Module is checked against `forward`, a call of an nn.Module is not. Where the class contradicts the
annotations of its `forward`, its calls stay unchecked: it has as many errors as before, and the report says what to widen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...common.field_kinds import is_tensor, members_of
from ...model.field_parts import TypeExpr
from ...model.source import Registered, RegisteredKind
from ...rules.field_names import MODULE
from ...rules.plain_classes import attribute_of, owner_of
from ...rules.plain_modules import PRIVATE
from .files import OpenFile, Project, method_of
from .functions import attributes_set, returned
from .opening import is_layer_of_torch
from .records import Change, FoundClass, Kind, Level, Need, Proposal
from .values import NEVER, NONE, TENSOR, Values, own_nodes

_TYPES = {RegisteredKind.BUFFER: ("torch", "Tensor"), RegisteredKind.PARAMETER: ("torch.nn", "Parameter")}

_TUPLES = ("builtins.tuple", "typing.Tuple")
_CONTAINERS = frozenset({*_TUPLES, "builtins.dict", "typing.Dict", "builtins.list", "typing.List", "builtins.str"})
"""Types that no tensor is, and no protocol of tensors."""


def propose_annotations(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes that the level proposes for the adopted modules of a file."""
    for found in file.classes.values():
        if found.kind is not Kind.MODULE or not found.is_adopted:
            continue
        lines = {f"{name}: {said[0]}": said[1] for name, said in _registered(found, file, project) if said is not None}
        why = _contradiction(found, project)
        forward = method_of(found.node, "forward")
        proves = forward is not None and _returns_tensor(forward, found, file, project)
        if not (lines or proves or why):
            continue
        from .rewriting import with_annotations, with_result

        does = [f"add {line}" for line in lines]
        changes: list[Change] = [partial(with_annotations, lines=[*lines])] if lines else []
        needs = [need for of_line in lines.values() for need in of_line]
        if proves:
            tensor = file.spell("torch", "Tensor")
            changes.append(partial(with_result, method="forward", text=tensor.text))
            does.append(f"add -> {tensor.text} to forward")
            needs += tensor.needs
        if why:
            any_type, class_var = file.spell("typing", "Any"), file.spell("typing", "ClassVar")
            line = f"__call__: {class_var.text}[{any_type.text}]  # type: ignore[misc]"
            changes.append(partial(with_annotations, lines=[line]))
            does.append(f"leave its calls unchecked, because {why}")
            needs += (*any_type.needs, *class_var.needs)
        yield Proposal(found.name, tuple(does), tuple(changes), tuple(needs))


def has_unseen_names(found: FoundClass, file: OpenFile, project: Project) -> bool:
    """True if checkers will not see an attribute of a class: it is registered by a string and not annotated, or only read."""
    seen = {*MODULE, *PRIVATE, *_bound(found, file, project)}
    for cls, home in project.lineage(found):
        for name, said in _registered(cls, home, project):
            if said is not None and project.options.level is Level.ANNOTATE:
                seen.add(name)
            elif cls is found:
                return True
        attributes = (each for each in ast.walk(cls.node) if isinstance(each, ast.Attribute))
        seen |= {each.attr for each in attributes if isinstance(each.ctx, ast.Store)}
    if any(map(is_layer_of_torch, found.ancestors)):
        return False  # whose attributes the text of the project does not show
    methods = [each for each in found.node.body if isinstance(each, ast.FunctionDef)]
    reads = (attribute_of(node, owner_of(each)) for each in methods for node in ast.walk(each))
    return any(name is not None and name not in seen and not name.startswith("__") for name in reads)


def _registered(
    found: FoundClass, file: OpenFile, project: Project
) -> Iterator[tuple[str, tuple[str, tuple[Need, ...]] | None]]:
    """What the `__init__` of a class registers by name: its type with the imports that it needs, None if it is not certain."""
    source = project.programs[file.path].names.class_of(found.qualified)
    if source is None or not any(method.name == "__init__" for method in source[1].methods):
        return
    bound = set(_bound(found, file, project))
    groups: dict[str, list[Registered]] = {}
    for each in source[1].registers:
        if each.name.isidentifier() and each.name not in bound and not each.name.startswith("__"):
            groups.setdefault(each.name, []).append(each)
    by_name = {name: group for name, group in groups.items() if any(each.by_name for each in group)}
    values = attributes_set(found, file, project) if by_name else {}
    for name, group in by_name.items():
        yield name, _spelled(group, values.get(name, NEVER) | values.get("*", NEVER), file)


def _bound(found: FoundClass, file: OpenFile, project: Project) -> Iterator[str]:
    """The names that the class or a base among the files binds in its body, so that their type is known there."""
    names = project.programs[file.path].names
    for qualified in (found.qualified, *found.ancestors):
        source = names.class_of(qualified)
        if source is not None:
            cls = source[1]
            yield from (field.name for field in (*cls.fields, *cls.conditional.fields, *cls.for_checkers.fields))
            yield from (method.name for method in (*cls.methods, *cls.conditional.methods, *cls.for_checkers.methods))
            yield from cls.attributes


def _spelled(group: list[Registered], values: Values, file: OpenFile) -> tuple[str, tuple[Need, ...]] | None:
    """The type of a name by all statements that register it; None if it is not certain."""
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    if len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    if kind in _TYPES:
        if not values >= NONE and any(each == "anything" or each.startswith("?") for each in values):
            return None
        spelling = file.spell(*_TYPES[kind])
        return spelling.text + (" | None" if values >= NONE else ""), spelling.needs
    types = {each.type.text if each.type is not None else "" for each in group if each.kind is kind}
    text = next(iter(types))
    if kind is RegisteredKind.CHILD and len(types) == 1 and text.partition(".")[0] in file.scope.imports:
        return text + (" | None" if any(each.may_be_none for each in group) else ""), ()
    return None


def _returns_tensor(forward: ast.FunctionDef, found: FoundClass, file: OpenFile, project: Project) -> bool:
    """True if the text proves that a `forward` without a result type returns a tensor.

    Every value that may reach a `return` has to be one for certain: the result of a layer of torch that the constructor alone
    sets, of a function of torch or of the project, or of a module of the project. An argument without annotation is not known to
    be one, until a layer has taken it that raises for anything else.
    """
    if forward.returns is not None or forward.decorator_list:
        return False
    return returned(forward, file, project, found) == TENSOR


def _contradiction(found: FoundClass, project: Project) -> str | None:
    """The contradiction to the annotations of the `forward` of a class, in the words of the report, unless a base has it too."""
    classes = list(project.lineage(found))
    for cls, _ in classes:  # the body may say already what its calls are
        if any(isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "__call__" for each in cls.node.body):
            return None
    own, *inherited = (_own_contradiction(cls, file, project) for cls, file in classes)
    return own if not any(inherited) else None


def _own_contradiction(found: FoundClass, file: OpenFile, project: Project) -> str | None:
    """A tuple of another length than `forward` says, or a method that takes its first argument as something else too."""
    forward = method_of(found.node, "forward")
    if forward is None:
        return None
    said = None if forward.returns is None else project.type_of(file, forward.returns)
    if said is not None and said.name in _TUPLES and TypeExpr("...") not in said.args:
        for node in own_nodes(forward):
            match node:
                case ast.Return(value=ast.Tuple(elts=values)) if len(values) != len(said.args):
                    if not any(isinstance(each, ast.Starred) for each in values):
                        return f"forward returns {len(values)} values, and its annotation says {len(said.args)}"
    if len(forward.args.args) < 2 or forward.args.args[1].annotation is None:
        return None
    name, taken = forward.args.args[1].arg, project.type_of(file, forward.args.args[1].annotation)
    for owner, home in project.lineage(found):
        for method in owner.node.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                for each in method.args.args[1:]:
                    if each.arg == name and each.annotation is not None:
                        wider = _beyond(project.type_of(home, each.annotation), taken)
                        if wider:
                            return f"{method.name} takes {name} as a {wider} too"
    return None


def _beyond(given: TypeExpr, taken: TypeExpr) -> str:
    """The members of a type that another one certainly lacks: a dict beside a tensor. None is left to checkers' narrowing."""
    allowed = members_of(taken)
    if not all(is_tensor(each) for each in allowed) or not any(is_tensor(each) for each in members_of(given)):
        return ""
    return " or a ".join(each.name.rpartition(".")[2].lower() for each in members_of(given) if each.name in _CONTAINERS)
