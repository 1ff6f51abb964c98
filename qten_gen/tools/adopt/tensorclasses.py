"""Classes of tensordict, and dataclasses with tensor fields where that is asked for → classes of qten_gen.

`@tensorclass class Batch` → `class Batch(TensorClass)`, `class Batch(TensorClass["nocast"])` → the same with the class of
qten_gen, and `@dataclass class Output` → `class Output(TensorClass, nocast=True)`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from ...common import language
from ...common.field_kinds import members_of
from ...model.field_parts import TypeExpr
from .files import OpenFile, Project, Spelling
from .opening import DATACLASS_DECORATORS, TENSORCLASS_BASES, TENSORCLASS_DECORATORS
from .records import Change, FoundClass, Kind, Proposal, Reason

_LEFT_OUT = {"skip_post_init_on_rebuild"}
"""Flags that ask for what TensorClass does anyway."""

_HELP_OF_FLAG = {
    "cast_filter": "override .to, .float() and the like",
    "kw_only": "write field(kw_only=True) for the fields",
}
_LISTS = frozenset({"builtins.list", "typing.List"})
_ANYTHING = frozenset({"typing.Any", "builtins.object", "?", ""})
"""Types that None is of, or may be."""

_MEANINGLESS = {"repr": True, "eq": True, "init": True, "slots": None, "weakref_slot": None, "unsafe_hash": False}
"""Arguments of a dataclass that a TensorClass does not need, with the value that they have to have; None for any."""

_ABSTRACT = frozenset({"abc.ABC", "typing.Generic", "builtins.object"})
"""Bases that a TensorClass may have beside dataclasses that are adopted too."""

_CANDIDATE = Reason(
    "it is a dataclass with tensor fields, whose objects have no batch size",
    "run with --dataclasses to make it a TensorClass, whose constructor also takes batch_size and device",
    is_open=False,
)
_PRIVATE = {
    "_from_tensordict": "write from_tensordict",
    "_get_at_str": "index the field",
    "_get_str": "write get, or read the field",
    "_non_tensordict": "read the fields that hold other values",
    "_set_str": "write set, or assign to the field",
    "_tensordict": "write to_tensordict()",
}
"""Private members that tensordict gives a tensorclass, and what to write instead."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for a class, before it is known how the file writes the base."""

    found: FoundClass
    base: ast.expr | None
    """Tensordict's class among its bases, to be replaced; None for a decorated class."""
    decorator: ast.expr | None
    flags: tuple[str, ...]
    """The flags that are on, without flags in brackets that stay."""
    needs_base: bool
    """True if a base has to be added, because no base becomes a TensorClass."""
    notes: tuple[str, ...] = ()


def propose_tensorclasses(file: OpenFile, project: Project) -> Iterator[Proposal]:
    """The changes for the classes of tensordict and the dataclasses of a file."""
    plans: list[_Plan] = []
    for found in file.classes.values():
        made: _Plan | Reason | None = None
        if found.kind is Kind.TENSORCLASS and not (found.is_adopted and _decorator(found, file, project) is None):
            made = _plan(found, file, project)
        elif found.kind is Kind.DATACLASS:
            made = _plan_of_dataclass(found, file, project) if project.options.dataclasses else _CANDIDATE
        if isinstance(made, Reason):
            yield Proposal(found.name, stays=made)
        elif made is not None:
            plans.append(made)
    if plans:
        replaced = [_head(plan.base) for plan in plans if plan.base is not None]
        spelling = file.spell_base("TensorClass", replaced)
        for plan in plans:
            yield _proposal(plan, spelling, file, project)


def _head(base: ast.expr) -> ast.expr:
    """The name in a base that may have flags or type arguments: `TensorClass` in `TensorClass["nocast"]`."""
    return _head(base.value) if isinstance(base, ast.Subscript) else base


def _plan(found: FoundClass, file: OpenFile, project: Project) -> _Plan | Reason | None:
    """The plan for a class of tensordict, or the reason why it stays; None for one that changes with its base."""
    node = found.node
    if any(isinstance(base, ast.Starred) for base in node.bases) or any(not each.arg for each in node.keywords):
        return Reason("its bases or keywords are computed when the program runs", "write them out")
    means = project.programs[file.path].ancestry.bases(found.qualified)
    base = next((base for base, name in zip(node.bases, means, strict=True) if name in TENSORCLASS_BASES), None)
    decorator = _decorator(found, file, project)
    if base is None and decorator is None:
        return None
    changed = _comment_beside(decorator, file) or _changed_afterwards(node.name, file.tree)
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
    if _LEFT_OUT & {*in_brackets, *given}:
        return Reason(
            "its flag skip_post_init_on_rebuild has no counterpart in qten_gen",
            "remove the flag: __post_init__ runs in the constructor only",
        )
    kinds = {other.qualified: other.kind for each in project.files.values() for other in each.classes.values()}
    inherits = any(kinds.get(name) is Kind.TENSORCLASS for name in means)
    lists = {
        name for name, type in _types(found, project) if not _LISTS.isdisjoint(each.name for each in members_of(type))
    }
    notes = tuple(_differences(node, lists))
    return _Plan(found, base, decorator, tuple(flags), base is None and not inherits, notes)


def _plan_of_dataclass(found: FoundClass, file: OpenFile, project: Project) -> _Plan | Reason | None:
    """The plan for a dataclass, or the reason why it stays. `nocast` keeps numbers what they are."""
    decorator = _decorator(found, file, project)
    if decorator is None:
        return None
    flags = ["nocast"]
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else []:
        given = keyword.value.value if isinstance(keyword.value, ast.Constant) else ...
        if keyword.arg == "frozen" and isinstance(given, bool):
            flags += ["frozen"] if given else []
        elif keyword.arg not in _MEANINGLESS or _MEANINGLESS[keyword.arg] not in (None, given):
            return Reason(f"a TensorClass cannot do what {file.text.of(decorator)} asks for")
    comment = _comment_beside(decorator, file)
    if comment is not None:
        return comment
    bases = project.programs[file.path].ancestry.bases(found.qualified)
    adopted = [name for name in bases if (base := project.class_named(name)) and base.kind is not Kind.MODULE]
    others = [name for name in bases if name not in adopted and name not in _ABSTRACT]
    if others or found.node.keywords or any(isinstance(base, ast.Starred) for base in found.node.bases):
        return Reason("it has other bases than dataclasses of the project", "adopt it by hand")
    for name, type in _types(found, project):
        if not _ANYTHING.isdisjoint(type.mentioned):
            return Reason(
                f"its field {name} may hold tensors or not, and a TensorClass has to know",
                "write the type: dict[str, Tensor], or what else it holds",
            )
    note = "== compares tensors element by element, and the constructor also takes batch_size and device"
    return _Plan(found, None, decorator, () if adopted else tuple(flags), not adopted, (note,))


def _types(found: FoundClass, project: Project) -> Iterator[tuple[str, TypeExpr]]:
    """The fields of a class with an annotation, each with its type."""
    names = project.programs[found.path].names
    source = names.class_of(found.qualified)
    for field in () if source is None else source[1].fields:
        if field.annotation is not None:
            yield field.name, names.expand(field.annotation)


def _decorator(found: FoundClass, file: OpenFile, project: Project) -> ast.expr | None:
    """The decorator that makes a class one of tensordict, or a dataclass."""
    wanted = DATACLASS_DECORATORS if found.kind is Kind.DATACLASS else TENSORCLASS_DECORATORS
    for decorator in found.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if project.meaning(file, called) in wanted:
            return decorator
    return None


def _comment_beside(decorator: ast.expr | None, file: OpenFile) -> Reason | None:
    """Why a class stays whose decorator has a comment beside it."""
    lines = [] if decorator is None else file.text.lines[decorator.lineno - 1 : decorator.end_lineno]
    if any("#" in line for line in lines):
        return Reason("a comment stands beside its decorator, which has to go", "move the comment")
    return None


def _changed_afterwards(name: str, tree: ast.Module) -> Reason | None:
    """Why a class stays whose attributes the file assigns below it, or whose methods that tensordict made it reads."""
    for part in (part for each in tree.body if isinstance(each, ast.Assign) for part in ast.walk(each)):
        match part:
            case ast.Attribute(value=ast.Name(id=of), attr=attribute, ctx=context) if of == name:
                place = f"line {part.lineno} of its file"
                if isinstance(context, ast.Store):
                    return Reason(f"{place} replaces {name}.{attribute}", "make it a method or a property of the class")
                if attribute.startswith("__") and attribute not in (
                    "__doc__",
                    "__name__",
                    "__module__",
                    "__qualname__",
                ):
                    help = "call super() in a method of the class"
                    return Reason(f"{place} reads {name}.{attribute}, which tensordict made", help)
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
    from .rewriting import allowing_none, with_arguments, with_base, without_decorator

    found = plan.found
    changes: list[Change] = []
    does: list[str] = []
    needs = spelling.needs if plan.base is not None or plan.needs_base else ()
    flags = [f"{flag}=True" for flag in plan.flags]
    if plan.base is not None or plan.needs_base:
        with_flags = f" with {', '.join(flags)}" if flags and found.kind is Kind.DATACLASS else ""
        does.append(f"derive from TensorClass of qten_gen{with_flags}")
    if plan.base is not None:
        changes.append(partial(with_base, position=found.node.bases.index(plan.base), text=spelling.text))
    if plan.decorator is not None:
        changes.append(partial(without_decorator, position=found.node.decorator_list.index(plan.decorator)))
        does.append(f"remove @{file.text.of(plan.decorator)}")
        base = [spelling.text] if plan.needs_base else []
        changes.append(partial(with_arguments, added=[*base, *flags]))
    for name in _optional_fields(found, project):
        changes.append(partial(allowing_none, field=name))
        does.append(f"write {name} with | None, because its default is None")
    return Proposal(found.name, tuple(does), tuple(changes), needs, notes=plan.notes)


def _optional_fields(found: FoundClass, project: Project) -> Iterator[str]:
    """The fields whose default is None although their annotation does not allow it."""
    types = dict(_types(found, project))
    for statement in found.node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=None)):
                members = {member.name for member in members_of(types[name])} if name in types else _ANYTHING
                if "None" not in members and not members & _ANYTHING:
                    yield name


def _differences(node: ast.ClassDef, lists: Collection[str]) -> Iterator[str]:
    """What methods and fields, some of them lists, meant in tensordict that they do not mean here, in the order of lines."""
    own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name="__post_init__"):
                yield "__post_init__ runs in the constructor only; tensordict also runs it for results of operations"
            case ast.AnnAssign(target=ast.Name(id=name)) if name in lists:
                yield (
                    f"a list in {name} is one value for the batch; in tensordict it has one value for each item: "
                    "write PerItem[...] for that"
                )
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _private_calls(statement, own)


def _private_calls(method: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str]) -> Iterator[str]:
    """The private members of tensordict that a method reads of its object, its class or `super()`."""
    named = {each.arg for each in method.args.args[:1]}
    for each in ast.walk(method):
        match each:
            case ast.Attribute(value=ast.Name(id=of), attr=attribute) if of in named:
                pass
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attribute):
                pass
            case _:
                continue
        if attribute in _PRIVATE and attribute not in own:
            yield f"line {each.lineno} uses {attribute}, which is private to tensordict: {_PRIVATE[attribute]}"
