"""Calls of small functions of the project, as the expressions that they compute: `exists(dim)` is `dim is not None`."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from copy import deepcopy

from .context import CLASSES, Context, function_of

_SIMPLE = ast.Name | ast.Constant | ast.Attribute
"""The expressions that may be written several times."""


class GivenValues(ast.NodeTransformer):
    """A function as far as it runs with plain values: these are no tensors, and cannot be called."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]) if ast.unparse(kind).endswith("Tensor"):
                return node.orelse
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        match node.test, node.body:
            case ast.Call(args=[ast.Name(id=tested)]), ast.Call(func=ast.Name(id=called), args=[]) if tested == called:
                return node.orelse
        return node


def may_be_called(node: ast.expr, context: Context) -> bool:
    """Whether an argument of a function may be one that it calls, as `default(x, lambda: nn.Identity())` does."""
    kind = context.types.get(node.id, "") if isinstance(node, ast.Name) else ""
    return isinstance(node, ast.Lambda) or bool(context.meaning(node)) or (kind or "").startswith(CLASSES)


class Inlined(ast.NodeTransformer):
    """Puts what small functions compute in place of their calls."""

    def __init__(self, context: Context, depth: int = 0) -> None:
        self.context = context
        self.depth = depth

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """The result of a function of the project for plain values, if it is one expression over its arguments."""
        self.generic_visit(node)
        found = function_of(self.context.meaning(node.func), self.context) if self.depth < 4 else None
        if found is None or node.keywords:
            return node
        function, file = found
        names = [each.arg for each in function.args.args]
        value = _value(GivenValues().visit(deepcopy(function)).body)
        if value is None or len(names) != len(node.args) or function.decorator_list or function.args.vararg:
            return node
        if any(may_be_called(each, self.context) for each in node.args):
            return node
        inner = Context(file, self.context.project, self.context.found, dict.fromkeys(names, "Any"))
        value = Inlined(inner, self.depth + 1).visit(value)
        read = Counter(each.id for each in ast.walk(value) if isinstance(each, ast.Name))
        if any(name not in names and not hasattr(builtins, name) for name in read):
            return node
        if any(read[name] > 1 and not isinstance(each, _SIMPLE) for name, each in zip(names, node.args, strict=True)):
            return node
        replaced: ast.expr = _Replaced(dict(zip(names, node.args, strict=True))).visit(value)
        return replaced


class _Replaced(ast.NodeTransformer):
    """Puts the arguments of a call in place of the names of a function."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _value(body: list[ast.stmt]) -> ast.expr | None:
    """The result of a function, as one expression; None if it does anything else."""
    match body:
        case [ast.Expr(value=ast.Constant()), *rest]:
            return _value(rest)
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.If(test=test, body=inner, orelse=[]), *rest]:
            one, other = _value(inner), _value(rest)
            return None if one is None or other is None else ast.IfExp(test, one, other)
        case [ast.If(test=test, body=inner, orelse=orelse)]:
            one, other = _value(inner), _value(orelse)
            return None if one is None or other is None else ast.IfExp(test, one, other)
    return None
