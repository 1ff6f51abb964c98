"""Lists and containers that statements fill: what each statement adds, and the value with all its members."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .context import Context
from .expressions import flat, with_values
from .harmless import may_register
from .post_init import put_in_place


@dataclass(slots=True)
class Growing:
    """A list or dict whose members further statements add."""

    target: ast.expr
    made_by: ast.expr | None
    """The class of a container; None for a plain list."""
    members: list[ast.expr] = field(default_factory=list)
    sources: list[ast.stmt] = field(default_factory=list)

    @property
    def name(self) -> str:
        return ast.unparse(self.target)


def added_members(statements: Sequence[ast.stmt], name: str, context: Context) -> list[ast.expr] | None:
    """The members that statements add to a list; None if they do anything else.

    Raises:
        Stays: they make modules in another order than that of the list, or add one several times.
    """
    found: list[ast.expr] = []
    local: dict[str, ast.expr] = {}
    made: dict[str, ast.expr] = {}
    placed: set[str] = set()
    for statement in statements:
        if any(mentions(statement, each) for each in placed):
            return None
        added: list[ast.expr] | None
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=method), args=args, keywords=[])) if (
                ast.unparse(held) == name
            ):
                added = _called(method, args)
            case ast.AugAssign(target=target, op=ast.Add(), value=value) if ast.unparse(target) == name:
                added = _several(value)
            case ast.Assign(targets=[ast.Subscript(value=held, slice=key)], value=value) if ast.unparse(
                held
            ) == name and name.startswith("self."):
                added = [ast.Tuple([key, value], ast.Load())]
            case ast.If(test=test, body=body, orelse=orelse):
                one, other = added_members(body, name, context), added_members(orelse, name, context)
                added = None if one is None or other is None else _either(test, one, other)
            case ast.For(target=target, iter=source, body=body, orelse=[]):
                inner = added_members(body, name, context)
                added = None if inner is None else [_each(target, source, inner)]
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if len(statements) > 1 and bound not in {
                *local,
                *made,
            }:
                if any(mentions(each, bound) for each in (*found, value)):
                    return None
                computed, used = put_in_place(with_values(value, local), made, context)
                placed.update(used)
                (made if may_register(value, context) else local)[bound] = computed
                continue
            case _:
                return None
        if added is None:
            return None
        for each in added:
            member, used = put_in_place(with_values(each, local), made, context)
            placed.update(used)
            found.append(member)
    return None if made else found


def _called(method: str, args: list[ast.expr]) -> list[ast.expr] | None:
    match method, args:
        case "append", [value] if not isinstance(value, ast.Starred):
            return [value]
        case "extend", [value]:
            return _several(value)
        case "add_module" | "register_module", [key, value]:
            return [ast.Tuple([key, value], ast.Load())]
    return None


def _several(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, ast.List | ast.Tuple) else [ast.Starred(value, ast.Load())]


def _either(test: ast.expr, one: list[ast.expr], other: list[ast.expr]) -> list[ast.expr]:
    if len(one) == len(other) == 1 and not isinstance(one[0], ast.Starred) and not isinstance(other[0], ast.Starred):
        return [ast.IfExp(test, one[0], other[0])]
    lists = [ast.List(each, ast.Load()) for each in (one, other)]
    return [ast.Starred(ast.IfExp(test, lists[0], lists[1]), ast.Load())]


def _each(target: ast.expr, source: ast.expr, members: list[ast.expr]) -> ast.expr:
    """The members that a loop adds, as a comprehension."""
    loop = ast.comprehension(target, source, [], 0)
    match members:
        case [ast.Starred(value=ast.IfExp(test=test, body=ast.List(elts=[single]), orelse=ast.List(elts=[])))]:
            loop = ast.comprehension(target, source, [test], 0)
            made = ast.ListComp(single, [loop])
        case [ast.Starred(value=ast.ListComp(elt=element, generators=generators))]:
            made = ast.ListComp(element, [loop, *generators])
        case [single] if not isinstance(single, ast.Starred):
            made = ast.ListComp(single, [loop])
        case _:
            inner = ast.comprehension(ast.Name("member", ast.Store()), ast.Tuple(members, ast.Load()), [], 0)
            made = ast.ListComp(ast.Name("member", ast.Load()), [loop, inner])
    return ast.Starred(made, ast.Load())


def value_of(grown: Growing) -> ast.expr | None:
    """The list or container with all its members; None if they are of different kinds."""
    held, function = list(flat(grown.members)), grown.made_by
    value: ast.expr = ast.List(held, ast.Load())
    match held:
        case [ast.Starred(value=ast.ListComp() as single)]:
            value = single
    if function is not None:
        kind = ast.unparse(function).rpartition(".")[2]
        pairs = [isinstance(each, ast.Tuple) for each in _elements(held)]
        if kind == "ModuleDict":
            made = _dict(held) if all(pairs) else None
            if made is None:
                return None
            value = ast.Call(function, [made], [])
        elif any(pairs):
            return None
        else:
            value = ast.Call(function, [value] if kind == "ModuleList" else held, [])
    return value


def _elements(members: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """Each member that may be added, also in a branch or a loop."""
    for each in members:
        match each:
            case ast.Starred(
                value=ast.ListComp(
                    elt=ast.Name(id=element),
                    generators=[*_, ast.comprehension(ast.Name(id=bound), ast.Tuple(elts=added))],
                )
            ) if element == bound:
                yield from _elements(added)
            case ast.Starred(value=ast.ListComp(elt=element)):
                yield from _elements([element])
            case ast.Starred(value=ast.IfExp(body=ast.List(elts=one), orelse=ast.List(elts=other))):
                yield from _elements([*one, *other])
            case ast.IfExp(body=body, orelse=orelse):
                yield from _elements([body, orelse])
            case _:
                yield each


def _dict(members: list[ast.expr]) -> ast.expr | None:
    """A dict of pairs, or of those that one loop adds."""
    match members:
        case [ast.Starred(value=ast.ListComp(elt=ast.Tuple(elts=[key, value]), generators=generators))]:
            return ast.DictComp(key, value, generators)
    pairs = [each.elts for each in members if isinstance(each, ast.Tuple)]
    if len(pairs) != len(members):
        return None
    return ast.Dict([key for key, _ in pairs], [value for _, value in pairs])


def adds_to(statement: ast.stmt, name: str) -> bool:
    """Whether a statement may add to the list or container of that name."""
    for each in ast.walk(statement):
        match each:
            case ast.Call(func=ast.Attribute(value=held)) if ast.unparse(held) == name:
                return True
            case ast.AugAssign(target=target) if ast.unparse(target) == name:
                return True
            case ast.Assign(targets=[ast.Subscript(value=held)]) if ast.unparse(held) == name:
                return True
    return False


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name, or an attribute of `self`, stands in a node."""
    return any(isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) == name for each in ast.walk(node))
