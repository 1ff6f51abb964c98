"""Reads annotations into type expressions with resolved names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..common.records import replace
from ..model import DYNAMIC, HIDDEN, NodePath, TypeExpr, union
from ..model.expression_text import parsed_expression
from .bound_names import dotted
from .dotted_names import Scope
from .source_lines import lines_of
from .written import text_of

_LITERAL = "typing.Literal"
_FIRST_IS_TYPE = ("typing.Annotated", "typing_extensions.Annotated")
_COMPUTED = ast.Call | ast.IfExp | ast.BoolOp | ast.NamedExpr | ast.Attribute | ast.BinOp
"""Expressions whose value may be a type."""


def type_expr(node: ast.expr, place: NodePath, scope: Scope, *, base: bool = False) -> TypeExpr:
    """The type expression at `node`.

    Strings are forward references, which are read as types. Exceptions are strings in `Literal`, jaxtyping shapes, metadata of
    `Annotated`, and flags in the brackets of a base class (`TensorClass["frozen"]`, with `base=True`).
    """
    expr = _convert(node, place, scope, keep_strings=base)
    return replace(expr, text=text_of(node, scope.lines), place=place, names=tuple(mentioned(node, scope)))


def string_value(node: object) -> str | None:
    """The value of a string literal, including concatenated ones; None for bytes, f-strings and anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def mentioned(node: ast.AST, scope: Scope) -> Iterator[str]:
    """The plain and dotted names in an expression, including those in forward references, without duplicates."""
    return (name for name in dict.fromkeys(_mentioned(node, scope)) if name != "None")


def _mentioned(node: ast.AST, scope: Scope) -> Iterator[str]:
    """The names in order, with duplicates. Strings are read as types, unless a subscript keeps them as strings."""
    name = dotted(node)
    if name is not None:
        yield name
    elif isinstance(node, ast.Subscript) and _keeps_strings(scope.resolve(dotted(node.value) or "")):
        yield from _mentioned(node.value, scope)
        for element in _elements(node.slice):
            if string_value(element) is None:
                yield from _mentioned(element, scope)
    elif (text := string_value(node)) is not None:
        inner = parsed_expression(text)
        if inner is not None:
            yield from _mentioned(inner, scope)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _mentioned(child, scope)


def _convert(node: ast.expr, place: NodePath, scope: Scope, keep_strings: bool = False) -> TypeExpr:
    """The type expression at `node`, without its `names`. With `keep_strings`, strings in brackets stay strings."""
    if (name := dotted(node)) is not None:
        if name.partition(".")[0] in scope.hidden:
            return TypeExpr(HIDDEN, text=name, place=place)
        resolved = "None" if name == "None" else _canonical(scope.resolve(name))
        return TypeExpr(resolved, text=name, place=place)
    if isinstance(node, ast.Subscript):
        return _subscript(node, place, scope, keep_strings)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left = _convert(node.left, place / "left", scope)
        return union((left, _convert(node.right, place / "right", scope)))
    if (text := string_value(node)) is not None and (inner := parsed_expression(text)) is not None:
        # What is in quotes is evaluated after the class body, so its names hide none. Positions count in the string.
        return _at(_convert(inner, place, replace(scope, hidden=frozenset(), lines=lines_of(text.strip()))), place)
    if isinstance(node, ast.Constant) and node.value is ...:
        return TypeExpr("...", text="...", place=place)
    # A literal is no type. What is computed may be one.
    name = DYNAMIC if isinstance(node, _COMPUTED) else ""
    return TypeExpr(name, text=text_of(node, scope.lines), place=place)


def _canonical(name: str) -> str:
    """The same name for objects of `typing` and `typing_extensions`."""
    if name.startswith("typing_extensions."):
        return f"typing.{name.partition('.')[2]}"
    return name


def _subscript(node: ast.Subscript, place: NodePath, scope: Scope, keep_strings: bool) -> TypeExpr:
    """`outer[arguments]`: `Optional` and `Union` become unions, `Annotated[T, ...]` is T, and `Literal` keeps no arguments."""
    outer = _convert(node.value, place / "value", scope)
    keep = keep_strings or _keeps_strings(outer.name)
    several = isinstance(node.slice, ast.Tuple) and bool(node.slice.elts)
    arguments: list[TypeExpr | str] = []
    for index, element in enumerate(_elements(node.slice)):
        where = place / "slice" / "elts" / index if several else place / "slice"
        # In `Annotated["Tensor", "metadata"]`, only the first string is a type.
        if index == 0 and outer.name in _FIRST_IS_TYPE:
            arguments.append(_convert(element, where, scope))
        elif isinstance(element, ast.Starred):
            arguments.append(_argument(element.value, where / "value", scope, keep))
        elif not isinstance(element, ast.Slice):
            arguments.append(_argument(element, where, scope, keep))
    types = tuple(argument for argument in arguments if isinstance(argument, TypeExpr))
    if outer.name == "typing.Annotated" and types:
        return types[0]
    if outer.name == "typing.Optional":
        return union((*types, TypeExpr("None", text="None", place=place)))
    if outer.name == "typing.Union":
        return union(types)
    text = text_of(node, scope.lines)
    if not outer.name:
        return TypeExpr(DYNAMIC, text=text, place=place)
    return TypeExpr(outer.name, () if outer.name == _LITERAL else tuple(arguments), text=text, place=place)


def _elements(slice: ast.expr) -> list[ast.expr]:
    """The expressions in the brackets of a subscript. `()` in `tuple[()]` is one."""
    return slice.elts if isinstance(slice, ast.Tuple) and slice.elts else [slice]


def _argument(node: ast.expr, place: NodePath, scope: Scope, keep_strings: bool) -> TypeExpr | str:
    text = string_value(node) if keep_strings else None
    return text if text is not None else _convert(node, place, scope)


def _keeps_strings(name: str) -> bool:
    return name.startswith("jaxtyping.") or _canonical(name) in (_LITERAL, "typing.Annotated")


def _at(expr: TypeExpr, place: NodePath) -> TypeExpr:
    """The expression with the same place for all its parts, because the parts of a string have none."""
    arguments = tuple(_at(argument, place) if isinstance(argument, TypeExpr) else argument for argument in expr.args)
    return replace(expr, args=arguments, place=place)
