"""Reads types: annotations, aliases, type variables and the names of classes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ..common.records import field, record, replace
from ..model import DYNAMIC, HIDDEN, NodePath, TypeExpr, TypeVariable, union
from ..model.dimensions import parsed_expression
from .bindings import dotted, is_made, string_value, touched
from .dotted_names import Scope
from .syntax import lines_of, refuse_depth
from .values import call_arguments, constant_text, extent, positional, segment, specifier, text_of

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
    refuse_depth(place)
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
    if isinstance(node, ast.Call) and ast.unparse(node) == "type(None)":
        return TypeExpr("None", text="None", place=place)
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


_LONGEST = 200
"""The length of the strings that are read as forward references."""

_NEW_TYPES = frozenset({"typing.NewType", "typing_extensions.NewType"})
_ALIAS_TYPES = frozenset({"typing.TypeAliasType", "typing_extensions.TypeAliasType"})


def alias(value: ast.expr, place: NodePath, scope: Scope) -> TypeExpr | None:
    """The type that a name stands for if this value is assigned to it; None for a value that is not a type.

    A NewType counts as the type that it is made from.
    """
    if isinstance(value, ast.Call):
        return _made(value, place, scope)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        # Long strings are texts, which need not be parsed as types.
        return type_expr(value, place, scope) if len(value.value) <= _LONGEST else None
    is_type = dotted(value) is not None or isinstance(value, ast.Subscript | ast.BinOp)
    return type_expr(value, place, scope) if is_type else None


def _made(call: ast.Call, place: NodePath, scope: Scope) -> TypeExpr | None:
    """The type of a NewType or a TypeAliasType."""
    maker = scope.resolve(dotted(call.func) or "")
    if maker not in _NEW_TYPES | _ALIAS_TYPES:
        return None
    for position, argument in enumerate(call_arguments(call, place)):
        if argument.keyword in ("tp", "value") or (argument.keyword is None and position == 1):
            return type_expr(argument.value, argument.place, scope)
    return None


_TYPE_VARIABLE = ("typing.TypeVar", "typing_extensions.TypeVar")


def type_parameter_names(node: ast.stmt | None) -> list[str]:
    """The names of the type parameters of a class or an alias, without stars."""
    return [parameter.name for parameter in getattr(node, "type_params", ())]


def type_parameters(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
    """The type parameters of a class or function as written, brackets included; empty if it has none."""
    texts = [segment(extent(parameter, scope.lines), scope.lines) for parameter in getattr(node, "type_params", ())]
    return f"[{', '.join(texts)}]" if texts else ""


def variables_of(
    node: ast.stmt | None, place: NodePath, scope: Scope, qualname: str
) -> Iterator[tuple[str, TypeVariable]]:
    """The type parameters of a class or an alias, by names such as `Class.T`."""
    for index, parameter in enumerate(getattr(node, "type_params", ())):
        where = place / "type_params" / index / "bound"
        yield f"{qualname}.{parameter.name}", _bounded(getattr(parameter, "bound", None), where, scope)


def type_variable(call: ast.Call, place: NodePath, scope: Scope) -> TypeVariable | None:
    """The type variable that a call of `TypeVar` makes; None for another call."""
    if scope.resolve(dotted(call.func) or "") not in _TYPE_VARIABLE:
        return None
    for index, keyword in enumerate(call.keywords):
        if keyword.arg == "bound":
            return _bounded(keyword.value, place / "keywords" / index / "value", scope)
    constraints = [type_expr(item, place / "args" / i, scope) for i, item in enumerate(call.args) if i > 0]
    return TypeVariable(union(tuple(constraints)) if constraints else None)


def _bounded(bound: ast.expr | None, place: NodePath, scope: Scope) -> TypeVariable:
    """A type variable with this bound, or with constraints if the bound is a tuple."""
    if isinstance(bound, ast.Tuple):
        parts = enumerate(bound.elts)
        return TypeVariable(union(tuple(type_expr(part, place / "elts" / i, scope) for i, part in parts)))
    return TypeVariable(None if bound is None else type_expr(bound, place, scope))


@record(slots=True)
class Meanings:
    """The meanings of the names of a file as far as its text shows them; those in a class are written `Batch.Own`."""

    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    alternatives: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """Names with several values, or with one that is known only at run time."""
    constants: dict[str, str] = field(default_factory=dict)
    nested: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    makers: set[str] = field(default_factory=set)


def with_inner(scope: Scope, node: ast.ClassDef, qualname: str) -> Scope:
    """The scope inside a class body: type parameters, nested classes and what is assigned there come first."""
    names = [*type_parameter_names(node), *(name for name, _, _, is_annotated in _assigned(node) if not is_annotated)]
    names += [nested.name for nested in node.body if isinstance(nested, ast.ClassDef)]
    return replace(scope, inner={name: f"{qualname}.{name}" for name in names})


def add_class_names(node: ast.ClassDef, place: NodePath, scope: Scope, qualname: str, found: Meanings) -> None:
    """Add the names that the body of a class binds once."""
    inner = with_inner(scope, node, qualname)
    for name, value, index, is_annotated in _assigned(node):
        meant = None if is_annotated else alias(value, place / "body" / index / "value", inner)
        if meant is not None:
            found.aliases[f"{qualname}.{name}"] = meant
        elif not is_annotated and is_made(value, inner):
            found.alternatives[f"{qualname}.{name}"] = (TypeExpr(DYNAMIC),)
        if (text := constant_text(value, scope)) is not None:
            found.constants[f"{qualname}.{name}"] = text
        if specifier(value, place, scope) is not None:
            found.makers.add(f"{qualname}.{name}")
    for index, statement in enumerate(node.body):
        if isinstance(statement, ast.ClassDef):
            bases = positional(statement.bases, place / "body" / index / "bases")
            found.nested[f"{qualname}.{statement.name}"] = tuple(
                type_expr(base.value, base.place, inner, base=True) for base in bases if not base.star
            )


@lru_cache(maxsize=8)  # a class statement is asked several times in a row
def _assigned(node: ast.ClassDef) -> tuple[tuple[str, ast.expr, int, bool], ...]:
    """The names that the body binds once, by an assignment: with the value, the index, and whether it has an annotation."""
    if not any(isinstance(statement, ast.Assign | ast.AnnAssign) for statement in node.body):
        return ()
    bound = Counter(name for statement in node.body for name in touched(statement))
    found: list[tuple[str, ast.expr, int, bool]] = []
    for index, statement in enumerate(node.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1:
                found.append((name, value, index, False))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if bound[name] == 1:
                found.append((name, value, index, True))
    return tuple(found)
