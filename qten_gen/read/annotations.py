"""Reads annotations into type expressions with resolved names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from ..model import NodePath, TypeExpr, union
from .imports import dotted
from .names import Scope

_LITERAL = "typing.Literal"


def type_expr(node: cst.BaseExpression, place: NodePath, scope: Scope, *, base: bool = False) -> TypeExpr:
    """The type expression at `node`.

    Strings are forward references, which are read as types. Exceptions are strings in `Literal`, jaxtyping shapes, metadata of
    `Annotated`, and flags in the brackets of a base class (`TensorClass["frozen"]`, with `base=True`).
    """
    expr = _convert(node, place, scope, keep_strings=base)
    return replace(expr, text=one_line(text_of(node)), place=place, names=tuple(mentioned(node, scope)))


def text_of(node: cst.CSTNode) -> str:
    """The source text of a node."""
    if isinstance(node, cst.Name | cst.SimpleString | cst.Integer) and not node.lpar:
        return node.value
    return cst.Module([]).code_for_node(node)


def one_line(text: str) -> str:
    """An expression on one line. If it was written on one line, it is returned unchanged."""
    if "\n" not in text and "\r" not in text:
        return text
    try:
        return ast.unparse(ast.parse(f"({text})", mode="eval"))
    except (SyntaxError, ValueError):
        return " ".join(text.split())


def string_value(node: cst.BaseExpression) -> str | None:
    """The value of a string literal, including concatenated ones; None for bytes, f-strings and anything else."""
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None


def mentioned(node: cst.CSTNode, scope: Scope) -> Iterator[str]:
    """The plain and dotted names in an expression, including those in forward references, without duplicates."""
    return (name for name in dict.fromkeys(_mentioned(node, scope)) if name != "None")


def _mentioned(node: cst.CSTNode, scope: Scope) -> Iterator[str]:
    """The names in order, with duplicates. Strings are read as types, unless a subscript keeps them as strings."""
    if isinstance(node, cst.Name | cst.Attribute):
        name = dotted(node)
        if name is not None:
            yield name
            return
    if isinstance(node, cst.Subscript) and _keeps_strings(scope.resolve(dotted(node.value) or "")):
        yield from _mentioned(node.value, scope)
        for element in node.slice:
            if isinstance(element.slice, cst.Index) and string_value(element.slice.value) is None:
                yield from _mentioned(element, scope)
        return
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        inner = _forward_reference(node)
        if inner is not None:
            yield from _mentioned(inner, scope)
        return
    for child in node.children:
        yield from _mentioned(child, scope)


def _convert(node: cst.BaseExpression, place: NodePath, scope: Scope, keep_strings: bool = False) -> TypeExpr:
    """The type expression at `node`, without its `names`. With `keep_strings`, strings in brackets stay strings."""
    if isinstance(node, cst.Name | cst.Attribute):
        return _named(node, place, scope)
    if isinstance(node, cst.Subscript):
        return _subscript(node, place, scope, keep_strings)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        left = _convert(node.left, place / "left", scope)
        return union((left, _convert(node.right, place / "right", scope)))
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        inner = _forward_reference(node)
        return (
            TypeExpr("", text=text_of(node), place=place)
            if inner is None
            else _at(_convert(inner, place, scope), place)
        )
    if isinstance(node, cst.Ellipsis):
        return TypeExpr("...", text="...", place=place)
    return TypeExpr("", text=one_line(text_of(node)), place=place)


def _named(node: cst.Name | cst.Attribute, place: NodePath, scope: Scope) -> TypeExpr:
    name = dotted(node)
    if name is None:
        return TypeExpr("", text=text_of(node), place=place)
    resolved = "None" if name == "None" else _canonical(scope.resolve(name))
    return TypeExpr(resolved, text=name, place=place)


def _canonical(name: str) -> str:
    """The same name for objects of `typing` and `typing_extensions`."""
    if name.startswith("typing_extensions."):
        return f"typing.{name.partition('.')[2]}"
    return name


def _subscript(node: cst.Subscript, place: NodePath, scope: Scope, keep_strings: bool) -> TypeExpr:
    """`outer[arguments]`: `Optional` and `Union` become unions, `Annotated[T, ...]` is T, and `Literal` keeps no arguments."""
    outer = _convert(node.value, place / "value", scope)
    keep = keep_strings or _keeps_strings(outer.name)
    arguments: list[TypeExpr | str] = []
    for index, element in enumerate(node.slice):
        if not isinstance(element.slice, cst.Index):
            continue
        value, where = element.slice.value, place / "slice" / index / "slice" / "value"
        parts = value.elements if isinstance(value, cst.Tuple) else ()
        for part in [element.value for element in parts] or [value]:
            arguments.append(_argument(part, where, scope, keep))
    types = tuple(argument for argument in arguments if isinstance(argument, TypeExpr))
    if outer.name == "typing.Annotated" and types:
        return types[0]
    if outer.name == "typing.Optional":
        return union((*types, TypeExpr("None", text="None", place=place)))
    if outer.name == "typing.Union":
        return union(types)
    if outer.name == _LITERAL:
        return TypeExpr(outer.name, text=one_line(text_of(node)), place=place)
    return TypeExpr(outer.name, tuple(arguments), text=one_line(text_of(node)), place=place)


def _argument(node: cst.BaseExpression, place: NodePath, scope: Scope, keep_strings: bool) -> TypeExpr | str:
    text = string_value(node) if keep_strings else None
    return text if text is not None else _convert(node, place, scope)


def _keeps_strings(name: str) -> bool:
    return name.startswith("jaxtyping.") or _canonical(name) in (_LITERAL, "typing.Annotated")


def _forward_reference(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression inside a string annotation; None if it is not a valid one."""
    text = string_value(node)
    if text is None or "\0" in text:  # libcst accepts a null byte and cannot evaluate what it stands in
        return None
    try:
        return cst.parse_expression(text.strip())
    except (cst.ParserSyntaxError, cst.CSTValidationError):
        return None


def _at(expr: TypeExpr, place: NodePath) -> TypeExpr:
    """The expression with the same place for all its parts, because the parts of a string have none."""
    arguments = tuple(_at(argument, place) if isinstance(argument, TypeExpr) else argument for argument in expr.args)
    return replace(expr, args=arguments, place=place)
