"""`__call__: ClassVar[Any]` in the class body, where the project contradicts what `forward` is annotated with.

A call of a Module is checked against `forward`, a call of an nn.Module is not. Where the annotation is narrower than what the
project does, the calls of the class stay unchecked: it has as many errors as before, and the report says what to widen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from ....model.field_kinds import is_tensor, members_of
from ....model.field_parts import NO_PATH, TypeExpr
from ....read.annotations import type_expr
from ..adoption import FoundClass, Proposal
from ..opened import OpenFile, Project
from ..uses import nodes
from .lineage import class_named, lineage, method_of
from .statements import own_nodes

_TUPLES = ("builtins.tuple", "typing.Tuple")
_CONTAINERS = frozenset({*_TUPLES, "builtins.dict", "typing.Dict", "builtins.list", "typing.List", "builtins.str"})
"""Types that no tensor is, and no protocol of tensors."""

_Function = ast.FunctionDef


def unchecked_calls(found: FoundClass, file: OpenFile, project: Project) -> Proposal | None:
    """The annotation that leaves the calls of a class unchecked; None where nothing contradicts its `forward`."""
    classes = list(lineage(found, project))
    why = None if any(map(_is_unchecked, classes)) else _contradiction(*classes[0], project)
    if why is None or any(_contradiction(*each, project) for each in classes[1:]):
        return None
    any_type, class_var = file.spell("typing", "Any"), file.spell("typing", "ClassVar")
    line = f"__call__: {class_var.text}[{any_type.text}]  # type: ignore[misc]"
    from ..rewriting.class_changes import with_annotations

    does = (f"leave its calls unchecked, because {why}",)
    return Proposal(found.name, does, (partial(with_annotations, lines=[line]),), (*any_type.needs, *class_var.needs))


def _is_unchecked(cls: tuple[FoundClass, OpenFile]) -> bool:
    """Whether the body of a class says already what its calls are."""
    return any(isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "__call__" for each in cls[0].node.body)


def _contradiction(found: FoundClass, file: OpenFile, project: Project) -> str | None:
    """The contradiction to the annotations of the `forward` of a class, in the words of the report."""
    forward = method_of(found.node, "forward")
    if forward is None:
        return None
    return (
        _by_returns(forward, file, project) or _by_methods(found, forward, file, project) or _by_calls(found, project)
    )


def _by_returns(forward: _Function, file: OpenFile, project: Project) -> str | None:
    """A tuple that is written out, and has another length than the annotation says."""
    said = None if forward.returns is None else _expanded(forward.returns, file, project)
    if said is None or said.name not in _TUPLES or TypeExpr("...") in said.args:
        return None
    for node in own_nodes(forward):
        match node:
            case ast.Return(value=ast.Tuple(elts=values)) if len(values) != len(said.args):
                if not any(isinstance(each, ast.Starred) for each in values):
                    return f"forward returns {len(values)} values, and its annotation says {len(said.args)}"
    return None


def _by_methods(found: FoundClass, forward: _Function, file: OpenFile, project: Project) -> str | None:
    """A public method that takes the first argument of `forward`, by its name, as something else too."""
    if len(forward.args.args) < 2 or forward.args.args[1].annotation is None:
        return None
    name, said = forward.args.args[1].arg, _expanded(forward.args.args[1].annotation, file, project)
    for owner, home in lineage(found, project):
        for method in owner.node.body:
            if not isinstance(method, _Function) or method.name.startswith("_"):
                continue
            for each in method.args.args[1:]:
                if each.arg == name and each.annotation is not None:
                    wider = _beyond(_expanded(each.annotation, home, project), said)
                    if wider:
                        return f"{method.name} takes {name} as a {wider} too"
    return None


def _by_calls(found: FoundClass, project: Project) -> str | None:
    """A call by an object of the project, as `self.actor(observation)`, that passes more than `forward` is annotated with."""
    if not project.wide_calls:
        project.wide_calls[""] = ""
        for file in project.files.values():
            for caller in file.classes.values():
                for qualified, why in _wide_calls(caller, file, project):
                    project.wide_calls.setdefault(qualified, why)
    return project.wide_calls.get(found.qualified)


def _wide_calls(caller: FoundClass, file: OpenFile, project: Project) -> Iterator[tuple[str, str]]:
    """The classes that the methods of a class call with more than their `forward` is annotated with, and what they pass."""
    for method in (each for each in caller.node.body if isinstance(each, _Function) and each.args.args):
        owner, local = method.args.args[0].arg, _local_types(method, caller, file, project)
        for call in (node for node in own_nodes(method) if isinstance(node, ast.Call)):
            called = _class_called(call.func, owner, caller, project)
            for callee, home in () if called is None else lineage(called, project):
                forward = method_of(callee.node, "forward")
                if forward is not None:
                    for name, given in _given(call, forward):
                        wider = _passed(given, name, local, forward, home, project)
                        if wider:
                            yield callee.qualified, f"line {call.lineno} of {file.path} passes a {wider} too"
                    break


def _class_called(called: ast.expr, owner: str, caller: FoundClass, project: Project) -> FoundClass | None:
    """The class of what is called: of the object itself, or of an attribute that is annotated or assigned once."""
    match called:
        case ast.Name(id=name) if name == owner:
            return caller
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == owner:
            for cls, home in lineage(caller, project):
                source = project.programs[home.path].names.class_of(cls.qualified)
                types = [] if source is None else [each.type for each in source[1].registers if each.name == attribute]
                types += (
                    [] if source is None else [each.annotation for each in source[1].fields if each.name == attribute]
                )
                if types and types[0] is not None:
                    return class_named(project.programs[home.path].names.expand(types[0]).name, project)
    return None


def _given(call: ast.Call, forward: _Function) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a call, each with its name in the method."""
    if not any(isinstance(each, ast.Starred) for each in call.args):
        yield from zip((each.arg for each in forward.args.args[1:]), call.args, strict=False)
    yield from ((each.arg, each.value) for each in call.keywords if each.arg is not None)


def _passed(
    given: ast.expr, name: str, local: Mapping[str, TypeExpr], forward: _Function, home: OpenFile, project: Project
) -> str:
    """The value that a variable may be, and that the argument it is passed for may not."""
    taken = next((each for each in (*forward.args.args, *forward.args.kwonlyargs) if each.arg == name), None)
    if taken is None or taken.annotation is None or not isinstance(given, ast.Name) or given.id not in local:
        return ""
    return _beyond(local[given.id], _expanded(taken.annotation, home, project))


def _local_types(method: _Function, caller: FoundClass, file: OpenFile, project: Project) -> dict[str, TypeExpr]:
    """The types of annotated arguments, and of variables assigned once, from a method of the object."""
    stores = [each.id for each in nodes(method) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    found = {
        each.arg: _expanded(each.annotation, file, project)
        for each in (*method.args.args, *method.args.kwonlyargs)
        if each.annotation is not None and each.arg not in stores
    }
    for node in own_nodes(method):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=called))
            ) if stores.count(name) == 1 and owner == method.args.args[0].arg:
                for cls, home in lineage(caller, project):
                    helper = method_of(cls.node, called)
                    if helper is not None:
                        if helper.returns is not None:
                            found[name] = _expanded(helper.returns, home, project)
                        break
    return found


def _beyond(given: TypeExpr, taken: TypeExpr) -> str:
    """The members of a type that another one certainly lacks: a dict beside a tensor. None is left to checkers' narrowing."""
    allowed = members_of(taken)
    if not all(is_tensor(each) for each in allowed) or not any(is_tensor(each) for each in members_of(given)):
        return ""
    return " or a ".join(each.name.rpartition(".")[2].lower() for each in members_of(given) if each.name in _CONTAINERS)


def _expanded(annotation: ast.expr, file: OpenFile, project: Project) -> TypeExpr:
    """The meaning of an annotation, through aliases of other files."""
    return project.programs[file.path].names.expand(type_expr(annotation, NO_PATH, file.scope))
