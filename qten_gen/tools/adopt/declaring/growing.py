"""Lists and containers that statements fill: what each statement adds, and the value with all its members."""

from __future__ import annotations

import ast
from collections.abc import Sequence
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
    return None


def _several(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, ast.List | ast.Tuple) else [ast.Starred(value, ast.Load())]


def _each(target: ast.expr, source: ast.expr, members: list[ast.expr]) -> ast.expr:
    """The members that a loop adds, as a comprehension."""
    loop = ast.comprehension(target, source, [], 0)
    match members:
        case [single] if not isinstance(single, ast.Starred):
            made = ast.ListComp(single, [loop])
        case _:
            inner = ast.comprehension(ast.Name("member", ast.Store()), ast.Tuple(members, ast.Load()), [], 0)
            made = ast.ListComp(ast.Name("member", ast.Load()), [loop, inner])
    return ast.Starred(made, ast.Load())


def value_of(grown: Growing) -> ast.expr:
    """The list or container with all its members."""
    held, function = list(flat(grown.members)), grown.made_by
    value: ast.expr = ast.List(held, ast.Load())
    match held:
        case [ast.Starred(value=ast.ListComp() as single)]:
            value = single
    if function is not None:
        is_list = ast.unparse(function).rpartition(".")[2] == "ModuleList"
        value = ast.Call(function, [value] if is_list else held, [])
    return value


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
