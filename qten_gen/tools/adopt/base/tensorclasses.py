"""`@tensorclass class Batch` and `class Batch(TensorClass["nocast"])` of tensordict → the same class of qten_gen."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ....common import language
from ....model.field_kinds import members_of
from ..adoption import Change, FoundClass, Kind, Proposal, Reason
from ..finding import TENSORCLASS_BASES, TENSORCLASS_DECORATORS
from ..opened import OpenFile, Project, Spelling
from ..source_text import Text
from .heads import head, spell_base
from .notes import differences_in_use

_LEFT_OUT = {"skip_post_init_on_rebuild"}
"""Flags that ask for what TensorClass does anyway."""
_ANYTHING = {"typing.Any", "builtins.object", "?", ""}
"""Types that None is of, or may be."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for a class of tensordict, before it is known how the file writes the base."""

    found: FoundClass
    base: ast.expr | None
    """Tensordict's class among its bases, to be replaced; None for a decorated class."""
    decorator: ast.expr | None
    flags: tuple[str, ...]
    """The flags that are on, without flags in brackets that stay."""
    needs_base: bool
    """Whether a base has to be added, because no base becomes a TensorClass."""


def propose_tensorclasses(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes for the classes of tensordict in a file."""
    plans: list[_Plan] = []
    for found in file.classes.values():
        if found.kind is Kind.TENSORCLASS and not (found.is_adopted and _decorator(found, file, project) is None):
            made = _plan(found, file, project)
            if isinstance(made, Reason):
                yield Proposal(found.name, stays=made)
            elif made is not None:
                plans.append(made)
    if not plans:
        return
    replaced = [head(plan.base) for plan in plans if plan.base is not None]
    spelling = spell_base(file, "TensorClass", replaced)
    for plan in plans:
        yield _proposal(plan, spelling, file, project)


def _plan(found: FoundClass, file: OpenFile, project: Project) -> _Plan | Reason | None:
    """The plan for a class, or the reason why it stays; None for one that changes with its base."""
    node = found.node
    if any(isinstance(base, ast.Starred) for base in node.bases) or any(not each.arg for each in node.keywords):
        return Reason("its bases or keywords are computed when the program runs", "write them out")
    means = project.programs[file.path].ancestry.bases(found.qualified)
    base = next((base for base, name in zip(node.bases, means, strict=True) if name in TENSORCLASS_BASES), None)
    decorator = _decorator(found, file, project)
    if base is None and decorator is None:
        return None
    if decorator is not None and not is_alone(decorator, file.text):
        return Reason("a comment stands beside its decorator, which has to go", "move the comment")
    changed = changed_afterwards(found.node.name, file.tree)
    if changed is not None:
        return changed
    flags = _flags_of_call(decorator)
    given = {each.arg or "": each.value for each in node.keywords}
    in_brackets = _flags_in_brackets(base)
    if isinstance(flags, Reason):
        return flags
    if isinstance(in_brackets, Reason):
        return in_brackets
    unknown = [name for name in (*flags, *in_brackets, *given) if name not in (*language.FLAGS, *_LEFT_OUT)]
    if unknown:
        return Reason(f"its flag {unknown[0]} has no counterpart in qten_gen", _HELP_OF_FLAG.get(unknown[0], ""))
    if set(_LEFT_OUT) & {*in_brackets, *given}:
        return Reason(
            "its flag skip_post_init_on_rebuild has no counterpart in qten_gen",
            "remove the flag: __post_init__ runs in the constructor only",
        )
    kinds = {other.qualified: other.kind for each in project.files.values() for other in each.classes.values()}
    inherits = any(kinds.get(name) is Kind.TENSORCLASS for name in means)
    return _Plan(found, base, decorator, tuple(flags), base is None and not inherits)


def changed_afterwards(name: str, tree: ast.Module) -> Reason | None:
    """Why a class stays whose attributes the file assigns below it, or whose methods that tensordict made it reads."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        for part in ast.walk(statement):
            match part:
                case ast.Attribute(value=ast.Name(id=of), attr=attribute, ctx=context) if of == name:
                    if isinstance(context, ast.Store):
                        return Reason(
                            f"line {part.lineno} of its file replaces {name}.{attribute}",
                            "make it a method or a property of the class",
                        )
                    if attribute.startswith("__") and attribute not in (
                        "__doc__",
                        "__name__",
                        "__module__",
                        "__qualname__",
                    ):
                        return Reason(
                            f"line {part.lineno} of its file reads {name}.{attribute}, which tensordict made",
                            "call super() in a method of the class",
                        )
    return None


_HELP_OF_FLAG = {
    "cast_filter": "pass cast_filter to .to and to .float() and its like",
    "kw_only": "write field(kw_only=True) for the fields",
}


def _decorator(found: FoundClass, file: OpenFile, project: Project) -> ast.expr | None:
    """The decorator of tensordict on a class."""
    for decorator in found.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if project.meaning(file, called) in TENSORCLASS_DECORATORS:
            return decorator
    return None


def _flags_of_call(decorator: ast.expr | None) -> list[str] | Reason:
    """The flags that are on in a decorator: `["autocast"]` for `@tensorclass(autocast=True, nocast=False)`."""
    found: list[str] = []
    if not isinstance(decorator, ast.Call):
        return found
    for keyword in decorator.keywords:
        if keyword.arg is None or decorator.args or not isinstance(keyword.value, ast.Constant):
            return Reason("the flags of its decorator are computed when the program runs", "write them out")
        value = keyword.value.value
        if (value is True and keyword.arg not in _LEFT_OUT) or value not in (True, False, None):
            found.append(keyword.arg)
    return found


def _flags_in_brackets(base: ast.expr | None) -> list[str] | Reason:
    """The flags in `TensorClass["nocast", "frozen"]`."""
    if not isinstance(base, ast.Subscript):
        return []
    elements = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
    flags = [each.value for each in elements if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if len(flags) < len(elements):
        return Reason("its flags are computed when the program runs", "write them out")
    return flags


def _proposal(plan: _Plan, spelling: Spelling, file: OpenFile, project: Project) -> Proposal:
    """The changes of a class: its base, its decorator, and the annotations of fields that may be None."""
    from ..rewriting.class_changes import allowing_none, with_arguments, with_base, without_decorator

    found, text = plan.found, file.text
    changes: list[Change] = []
    needs = spelling.needs if plan.base is not None or plan.needs_base else ()
    does = ["derive from TensorClass of qten_gen"] if needs or plan.needs_base or plan.base is not None else []
    if plan.base is not None:
        changes.append(partial(with_base, position=found.node.bases.index(plan.base), text=spelling.text))
    if plan.decorator is not None:
        changes.append(partial(without_decorator, position=found.node.decorator_list.index(plan.decorator)))
        does.append(f"remove @{text.of(plan.decorator)}")
        base = [spelling.text] if plan.needs_base else []
        changes.append(partial(with_arguments, added=[*base, *(f"{flag}=True" for flag in plan.flags)]))
    for name in optional_fields(found, file, project):
        changes.append(partial(allowing_none, field=name))
        does.append(f"write {name} with | None, because its default is None")
    return Proposal(found.name, tuple(does), tuple(changes), needs, notes=tuple(differences_in_use(found.node)))


def is_alone(decorator: ast.expr, text: Text) -> bool:
    """Whether no comment stands beside a decorator that has to go."""
    return not any("#" in line for line in text.lines[decorator.lineno - 1 : decorator.end_lineno])


def optional_fields(found: FoundClass, file: OpenFile, project: Project) -> Iterator[str]:
    """The fields whose default is None although their annotation does not allow it."""
    names = project.programs[file.path].names
    source = names.class_of(found.qualified)
    types: Mapping[str, object] = {} if source is None else {field.name: field.annotation for field in source[1].fields}
    for statement in found.node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=None)) if name in types:
                declared = (
                    next(field.annotation for field in source[1].fields if field.name == name) if source else None
                )
                members = {member.name for member in members_of(names.expand(declared))} if declared else _ANYTHING
                if "None" not in members and not members & _ANYTHING:
                    yield name
