"""Statements of a constructor, as `__post_init__` does them: `dim` is `self.dim` there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .context import Context
from .expressions import bound_in, reading, with_values
from .harmless import draws, draws_itself, held, may_register
from .pieces import MovedPiece, Piece, Stays


def names_read(node: ast.stmt, context: Context) -> dict[str, str]:
    """The names that a statement reads in place of names of the constructor.

    Raises:
        Stays: it gives one of these names another meaning.
    """
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {
        each.id
        for part in ast.walk(node)
        if isinstance(part, ast.comprehension)
        for each in ast.walk(part.target)
        if isinstance(each, ast.Name)
    }
    if bound & (context.types.keys() | context.names.keys()):
        raise Stays("the statement redefines a name of the constructor", node)
    name = next((each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in context.inlined), None)
    if name is not None:
        raise Stays(held(name, context.inlined[name], context), node)
    loads = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    return {name: text for name in loads if (text := read_as(name, context)) is not None}


def put_in_place(value: ast.expr, made: dict[str, ast.expr], context: Context) -> tuple[ast.expr, list[str]]:
    """An expression with what local names hold in their place, where it makes all in the order in which it was made.

    The names that it reads, which are returned too, are `made` no more.

    Raises:
        Stays: it makes them in another order, or several times.
    """
    if not made:
        return value, []
    waiting = [name for name, held in made.items() if draws(held, context)]
    events = list(in_order(value, made, context))
    used = [name for name in events if name is not None]
    drawn = [name for name in used if name in waiting]
    is_first = None not in events[: max((events.index(name) for name in drawn), default=-1) + 1]
    is_moved = (drawn or None in events) and (drawn != waiting or not is_first)
    if is_moved or len({*used}) < len(used):
        first = (waiting or used)[0]
        raise Stays(held(first, made[first], context), value)
    return with_values(value, {name: made.pop(name) for name in used}), used


def in_order(node: ast.AST, made: Mapping[str, ast.expr], context: Context) -> Iterator[str | None]:
    """The local names with modules that an expression reads, in the order of its evaluation, and None for what draws.

    Raises:
        Stays: one is read several times, or perhaps never.
    """
    if isinstance(node, ast.Name) and node.id in made:
        yield node.id
    inner = [each for part in ast.iter_child_nodes(node) for each in in_order(part, made, context)]
    if isinstance(
        node, ast.comprehension | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.Lambda | ast.IfExp | ast.BoolOp
    ):
        name = next((each for each in inner if each is not None), None)
        if name is not None:
            raise Stays(held(name, made[name], context), node)
    yield from inner
    if isinstance(node, ast.Call) and draws_itself(node, context):
        yield None


def read_as(name: str, context: Context) -> str | None:
    """How `__post_init__` reads a name of the constructor; None if the name stays."""
    value = value_read(name, context)
    if value is None:
        return None
    text = ast.unparse(value)
    return text if isinstance(value, _CLOSED) else f"({text})"


_CLOSED = (
    ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.Call | ast.Tuple | ast.List | ast.Dict | ast.ListComp
)
"""Expressions that need no parentheses wherever a name may stand."""


def value_read(name: str, context: Context) -> ast.expr | None:
    """The expression that `__post_init__` reads in place of a name of the constructor; None if the name stays."""
    if name in context.names:
        found = context.names[name]
        return None if found is None or name in context.kept else reading(found, context, "self")
    return ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load()) if name in context.types else None


def drop_unread(pieces: list[Piece], context: Context) -> None:
    """Leave out the statements for local names that nothing in `__post_init__` reads: fields have their values."""
    read: set[str] = set()
    for piece in reversed(pieces.copy()):
        if not isinstance(piece, MovedPiece):
            continue
        names = [each for each in ast.walk(piece.origin) if isinstance(each, ast.Name)]
        inner = {name for each in ast.walk(piece.origin) for name in bound_in(each)}
        stored = {each.id for each in names if isinstance(each.ctx, ast.Store)} - inner
        is_kept = stored and stored <= context.kept and isinstance(piece.origin, ast.Assign | ast.AnnAssign)
        if is_kept and not stored & read and not may_register(piece.origin, context):
            pieces.remove(piece)
            continue
        added = {each.target for each in ast.walk(piece.origin) if isinstance(each, ast.AugAssign)}
        read |= {each.id for each in names if isinstance(each.ctx, ast.Load) or each in added} - piece.names.keys()
