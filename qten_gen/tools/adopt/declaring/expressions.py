"""Expressions of a constructor, written in the language of declarations, in lambdas of the module, and their types."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ....model import DimError
from ....read.dimensions import parse
from .context import Context, quoted, self_attribute
from .pieces import Stays

_PURE = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round", "sum", "getattr"})
_RESULTS = {"abs": None, "bool": "bool", "float": "float", "int": "int", "len": "int", "round": None}


class _Unsaid(Exception):
    """A name in an expression that no field says."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class _Substitution(ast.NodeTransformer):
    """Local names and attributes of the module, replaced by what they stand for."""

    context: Context
    index: dict[str, ast.expr]
    """The variables of a comprehension, by what they stand for."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name as an attribute of the module."""
        name = node.id
        if name in self.index:
            return self.index[name]
        if name in self.context.names:
            found = self.context.names[name]
            if found is None:
                raise _Unsaid(name)
            return found
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = self_attribute(node)
        if name is None:
            node = ast.Attribute(self.visit(node.value), node.attr, ast.Load())
            return node
        found = self.context.attributes.get(name)
        if found is None:
            raise _Unsaid(f"self.{name}")
        return found


def over_fields(node: ast.expr, context: Context, index: dict[str, ast.expr] | None = None) -> ast.expr | None:
    """An expression over fields alone, with all other names replaced; None if there is none."""
    try:
        copied = ast.parse(ast.unparse(node), mode="eval").body
        found: ast.expr = _Substitution(context, index or {}).visit(copied)
    except _Unsaid:
        return None
    return found


def said(node: ast.expr, context: Context, index: dict[str, ast.expr] | None = None) -> str | None:
    """An expression in the language of declarations; None if the language does not say it."""
    found = over_fields(node, context, index)
    if found is None:
        return None
    known = {*context.types, *(["index"] if index else [])}
    called = {id(each.func) for each in ast.walk(found) if isinstance(each, ast.Call)}
    for each in ast.walk(found):
        match each:
            case ast.Call(func=ast.Name(id=name)) if name in _PURE and name not in known:
                pass
            case ast.Call():
                return None
            case ast.Name(id=name) if name not in known and id(each) not in called:
                return None
            case ast.List() | ast.Dict() | ast.Set() | ast.Lambda() | ast.JoinedStr() | ast.Starred() | ast.Slice():
                return None
    text = ast.unparse(found)
    if isinstance(parse(text), DimError):
        return None
    return _as_written(node, text, context)


def _as_written(node: ast.expr, text: str, context: Context) -> str:
    """The text of an expression as the constructor has it, where nothing in it was replaced."""
    if not hasattr(node, "lineno") or node.lineno != node.end_lineno or ast.unparse(node) != text:
        return text
    written = context.file.text.of(node)
    return text if isinstance(parse(written), DimError) else written


def literal(node: ast.expr) -> bool:
    """Whether an expression is a literal of numbers, strings, None, tuples, lists and dicts of such."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def argument(node: ast.expr, context: Context, index: dict[str, ast.expr] | None = None) -> str:
    """An argument of a child, as `submodule` takes it.

    Raises:
        Stays: it cannot be said.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"{context.spell('const')}({context.file.text.of(node)})"
    if literal(node):
        return context.file.text.of(node) if hasattr(node, "lineno") else ast.unparse(node)
    text = said(node, context, index)
    if text is not None:
        return quoted(text)
    if context.meaning(node) and context.is_bound_above(node):
        return ast.unparse(node)
    raise Stays(f"the argument `{_short(node)}` cannot be written as an expression of a declaration", node)


def type_of(node: ast.expr, context: Context) -> str | None:
    """The type of an expression over fields: `int`, `float`, `bool` or `str`; None if it is not certain."""
    match node:
        case ast.Constant(value=value):
            return type(value).__name__ if type(value) in (int, float, bool, str) else None
        case ast.Name(id=name):
            return context.types.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return context.attribute_type(name, attribute)
        case ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.UnaryOp(operand=operand):
            found = type_of(operand, context)
            return "int" if found == "bool" else found
        case ast.Compare():
            return "bool"
        case ast.BinOp(left=left, op=operator, right=right):
            return _of_operation(type_of(left, context), operator, type_of(right, context), right)
        case ast.IfExp(body=body, orelse=orelse):
            return _common(type_of(body, context), type_of(orelse, context))
        case ast.BoolOp(values=values):
            kinds = {type_of(value, context) for value in values}
            first, *others = values
            if len(kinds) == 1:
                return kinds.pop()
            kind = type_of(others[0], context) if len(others) == 1 and isinstance(node.op, ast.Or) else None
            return kind if kind is not None and type_of(first, context) == f"{kind} | None" else None
        case ast.Call(func=ast.Name(id=name), args=args):
            if name in ("max", "min") and len(args) > 1:
                kinds = {type_of(each, context) for each in args}
                return kinds.pop() if len(kinds) == 1 else None
            if name == "round" and len(args) == 1:
                return "int"
            return _RESULTS.get(name)
    return None


def _of_operation(left: str | None, operator: ast.operator, right: str | None, exponent: ast.expr) -> str | None:
    numbers = ("bool", "int", "float")
    if left not in numbers or right not in numbers:
        return None
    if isinstance(operator, ast.Div) or "float" in (left, right):
        return "float"
    if isinstance(operator, ast.Pow):  # of integers, it is one where the exponent is not negative
        return "int" if isinstance(exponent, ast.Constant) else None
    return "int" if isinstance(operator, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod) else None


def _common(one: str | None, other: str | None) -> str | None:
    if one == other:
        return one
    return "float" if {one, other} == {"int", "float"} else None


class _InModule(ast.NodeTransformer):
    """Names of a constructor, as a function of the module reads them."""

    def __init__(self, context: Context, module: str, is_available: Callable[[str], bool]) -> None:
        self.context = context
        self.module = module
        self.is_available = is_available

    def _attribute(self, name: str) -> ast.expr:
        return ast.Attribute(ast.Name(self.module, ast.Load()), name, ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name as an attribute of the module."""
        if node.id == self.module:
            raise _Unsaid(node.id)
        if node.id in self.context.names:
            found = self.context.names[node.id]
            if found is None:
                raise _Unsaid(node.id)
            return self._read(found)
        if node.id in self.context.types:
            return self._attribute(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """An attribute of the module, if it is known where the field stands."""
        name = self_attribute(node)
        if name is None:
            return ast.Attribute(self.visit(node.value), node.attr, ast.Load())
        found = self.context.attributes.get(name)
        if found is not None:
            return self._read(found)
        if not self.is_available(name):
            raise _Unsaid(f"self.{name}")
        return self._attribute(name)

    def _read(self, found: ast.expr) -> ast.expr:
        """An expression over fields, read from the module."""
        module = self.module

        class Reading(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                return ast.Attribute(ast.Name(module, ast.Load()), node.id, ast.Load())

        copied = ast.parse(ast.unparse(found), mode="eval").body
        fields = {each.id for each in ast.walk(copied) if isinstance(each, ast.Name)}
        if not fields <= self.context.types.keys():
            raise _Unsaid(ast.unparse(found))
        read: ast.expr = Reading().visit(copied)
        return read


def of_module(node: ast.expr, context: Context) -> str:
    """A function of the module that gives the value of an expression of the constructor.

    Raises:
        Stays: it reads something that is not known where the field stands.
    """
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    if bound & (context.names.keys() | context.types.keys() | {"module"}):
        raise Stays(f"`{_short(node)}` redefines a name of the constructor", node)
    copied = ast.parse(ast.unparse(node), mode="eval").body
    try:
        body = _InModule(context, "module", context.registered.__contains__).visit(copied)
    except _Unsaid as error:
        raise Stays(f"`{error.name}` in `{_short(node)}` is not a field above it", node) from None
    return f"lambda module: {ast.unparse(body)}"


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


short = _short
