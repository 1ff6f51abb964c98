"""`@dataclass class Output` with tensor fields → `class Output(TensorClass["nocast"])`, where that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..adoption import Change, FoundClass, Kind, Proposal, Reason
from ..finding import DATACLASS_DECORATORS
from ..opened import OpenFile, Project
from .heads import spell_base
from .tensorclasses import is_alone, optional_fields

_MEANINGLESS = {"repr": True, "eq": True, "init": True, "slots": None, "weakref_slot": None, "unsafe_hash": False}
"""Arguments that a TensorClass does not need, with the value that they have to have; None for any."""

_CANDIDATE = Reason(
    "it is a dataclass with tensor fields, whose objects have no batch size",
    "run with --dataclasses to make it a TensorClass, whose constructor also takes batch_size and device",
    is_open=False,
)


def propose_dataclasses(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes for the dataclasses of a file that have tensor fields."""
    for found in file.classes.values():
        if found.kind is Kind.DATACLASS and not found.is_adopted:
            yield (
                _proposal(found, file, project)
                if project.options.dataclasses
                else Proposal(found.name, stays=_CANDIDATE)
            )


def _proposal(found: FoundClass, file: OpenFile, project: Project) -> Proposal:
    """The changes of a dataclass. `nocast` keeps numbers what they are."""
    from ..rewriting.class_changes import allowing_none, with_arguments, without_decorator

    decorator = next(each for each in found.node.decorator_list if _is_dataclass(each, file, project))
    arguments = decorator.keywords if isinstance(decorator, ast.Call) else []
    frozen = False
    for keyword in arguments:
        given = keyword.value.value if isinstance(keyword.value, ast.Constant) else ...
        if keyword.arg == "frozen" and isinstance(given, bool):
            frozen = given
        elif keyword.arg not in _MEANINGLESS or _MEANINGLESS[keyword.arg] not in (None, given):
            return Proposal(
                found.name, stays=Reason(f"a TensorClass cannot do what {file.text.of(decorator)} asks for")
            )
    if not is_alone(decorator, file.text):
        return Proposal(found.name, stays=Reason("a comment stands beside its decorator", "move the comment"))
    if found.node.bases or found.node.keywords:
        return Proposal(found.name, stays=Reason("it has bases, which may be dataclasses too", "adopt it by hand"))
    spelling = spell_base(file, "TensorClass", [])
    flags = ["nocast", *(["frozen"] if frozen else [])]
    base = f"{spelling.text}[{', '.join(repr(flag).replace(chr(39), chr(34)) for flag in flags)}]"
    optional = list(optional_fields(found, file, project))
    does = [f"derive from {base} of qten_gen", f"remove @{file.text.of(decorator)}"]
    does += [f"write {name} with | None, because its default is None" for name in optional]
    changes: list[Change] = [partial(without_decorator, position=found.node.decorator_list.index(decorator))]
    changes += [partial(with_arguments, added=[base]), *(partial(allowing_none, field=name) for name in optional)]
    note = "== compares tensors element by element, and the constructor also takes batch_size and device"
    return Proposal(found.name, tuple(does), tuple(changes), spelling.needs, notes=(note,))


def _is_dataclass(decorator: ast.expr, file: OpenFile, project: Project) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return project.meaning(file, called) in DATACLASS_DECORATORS
