"""The statements of a constructor that `__post_init__` does as they are written, from the first on that cannot be declared.

They find there what they had: fields of `self`, and under its own name what they give another value, or read in a function.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from .assignments import read_before_bound
from .context import Context, self_attribute
from .expressions import CHANGING, bound_in, free_names
from .harmless import root
from .pieces import MovedPiece, Stays
from .post_init import read_as, value_read

_BY_FRAME = frozenset({"locals", "vars", "exec", "eval", "globals", "delattr"})
_OF_GENERATORS = ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal | ast.AsyncFor | ast.AsyncWith
_REGISTER = ("register_buffer", "register_parameter", "register_module", "add_module", "setattr", "__setattr__")
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def remaining(statements: Sequence[ast.stmt], arguments: Collection[str], context: Context) -> list[MovedPiece]:
    """The statements, with what has to come before them.

    Raises:
        Stays: one of them would not do the same there.
    """
    nodes = [each for statement in statements for each in ast.walk(statement)]
    for each in nodes:
        _refuse(each, {*arguments, *context.types, *context.registered}, context)
    local = set(_local(statements, nodes, context))
    context.annotated.update(_annotations(nodes, context))
    loads = list(dict.fromkeys(each.id for each in nodes if isinstance(each, ast.Name)))
    values = {name: value for name in loads if name in local and (value := value_read(name, context)) is not None}
    before = [f"{name} = {ast.unparse(value)}" for name, value in values.items()]
    names = {name: text for name in loads if name not in local and (text := read_as(name, context)) is not None}
    return [
        MovedPiece(
            {name: names[name] for name in free_names(each) if name in names}, each, () if position else (*before,)
        )
        for position, each in enumerate(statements)
    ]


def _refuse(node: ast.AST, taken: Collection[str], context: Context) -> None:
    """Refuse what depends on the frame of the constructor, or changes what fields have.

    Raises:
        Stays: it does.
    """
    match node:
        case ast.Name(id=name) if name in context.factory:
            raise Stays(f"`{name}` is used for more than children and tensors", node)
        case ast.Name(id=name, ctx=ast.Del()):
            raise Stays(f"the name `{name}` is deleted", node)
        case ast.Return(value=ast.expr()) | ast.Call(func=ast.Attribute(attr="__init__")):
            raise Stays("the constructor does more than register", node)
        case ast.Call(func=ast.Name(id=name)) if name in _BY_FRAME:
            raise Stays(f"`{name}` sees the names of the constructor", node)
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store() | ast.Del()) if name in taken:
            raise Stays(f"`self.{name}` is assigned again", node)
        case (
            ast.Call(func=ast.Attribute(attr=method), args=[key, *_])
            | ast.Call(func=ast.Name(id="setattr" as method), args=[_, key, *_])
        ) if method in _REGISTER:
            if isinstance(key, ast.Constant) and key.value in taken:
                raise Stays(f"`self.{key.value!s}` is assigned again", node)
            if not isinstance(key, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
                raise Stays("nothing says under which name it registers", node)
        case ast.Call(func=ast.Attribute(value=held, attr=method)) if method in CHANGING and _is_argument(
            held, context
        ):
            raise Stays(f"`{root(held)}` changes, which is an argument", node)
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) if _is_argument(node, context):
            raise Stays(f"`{root(node)}` changes, which is an argument", node)
    if isinstance(node, _OF_GENERATORS):
        raise Stays("the constructor does more than register", node)


def _is_argument(node: ast.expr, context: Context) -> bool:
    """Whether an expression is an object that the constructor was given, or a part of it."""
    name = root(node)
    return context.field_of(name) is not None if name != "self" else self_attribute(node) in context.types


def _local(statements: Sequence[ast.stmt], nodes: Sequence[ast.AST], context: Context) -> Iterator[str]:
    """The names that stay names: they get another value, a function has them, or they stand for more than a field."""
    names = [each for each in nodes if isinstance(each, ast.Name)]
    stored = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    stored |= {
        each.name
        for each in nodes
        if isinstance(each, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler) and each.name
    }
    stored |= {(each.asname or each.name).partition(".")[0] for each in nodes if isinstance(each, ast.alias)}
    yield from stored & read_before_bound(statements)
    scopes = [each for each in nodes if isinstance(each, _SCOPES)]
    yield from (each.id for scope in scopes for each in ast.walk(scope) if isinstance(each, ast.Name))
    yield from (name for each in nodes for name in bound_in(each))
    for each in names:
        if not isinstance(context.names.get(each.id), ast.Name | ast.Constant | None) and each.id not in context.kept:
            yield each.id


def _annotations(nodes: Sequence[ast.AST], context: Context) -> Iterator[tuple[str, str]]:
    """The annotations of the class body for what the statements register, which would be arguments there."""
    registered = {name for each in nodes if (name := self_attribute(each)) is not None}
    registered |= {each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    for statement in context.found.node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None) if name in registered:
                yield name, context.file.text.of(annotation)
