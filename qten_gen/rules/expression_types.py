"""The types of expressions over constructor arguments, as far as annotations and operators say them.

A type is a set of alternatives. `UNKNOWN` among them stands for any other: only what is certain is reported. What Python refuses
when it evaluates an expression, such as an attribute that an object does not have, is left to Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from ..common.records import record
from ..model import ConfigDecl, DerivedDecl, ModuleField, TypeExpr, language
from ..model.field_kinds import members_of

Types = frozenset[TypeExpr]


def _builtin(name: str) -> Types:
    return frozenset({TypeExpr(f"builtins.{name}")})


UNKNOWN = TypeExpr("?")
ANY: Types = frozenset({UNKNOWN})
BOOL: Types = _builtin("bool")
NONE: Types = frozenset({TypeExpr("None")})

_NUMBERS = tuple(f"builtins.{name}" for name in ("bool", "int", "float", "complex"))
_RESULTS = {"int": "int", "len": "int", "float": "float", "bool": "bool"}
"""The types that functions give."""


@record(frozen=True, slots=True)
class Names:
    """The meanings of the names in an expression."""

    fields: Mapping[str, ModuleField]
    has_index: bool = False
    """Whether `index` is the position of a repeated child."""


def types_of(node: ast.expr, names: Names) -> Types:
    """The types that an expression may have."""
    match node:
        case ast.Constant(value=value):
            return NONE if value is None else _builtin(type(value).__name__)
        case ast.Name(id=name):
            found = names.fields.get(name)
            if isinstance(found, ConfigDecl | DerivedDecl):
                return of_annotation(found.type)
            return _builtin("int") if name == language.INDEX and names.has_index else ANY
        case ast.Tuple():
            return _builtin("tuple")
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return BOOL
        case ast.UnaryOp(operand=operand):
            return _arithmetic(node, [types_of(operand, names)])
        case ast.BinOp(left=left, right=right):
            return _arithmetic(node, [types_of(left, names), types_of(right, names)])
        case ast.BoolOp() | ast.IfExp():
            parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            types = frozenset(type for part in parts for type in types_of(part, names))
            return ANY if NONE & types else types  # the condition may rule out None
        case ast.Call(func=ast.Name(id=function)) if function in _RESULTS:
            return _builtin(_RESULTS[function])
    return ANY


def _arithmetic(node: ast.UnaryOp | ast.BinOp, operands: list[Types]) -> Types:
    """The types of the results of arithmetic: those of the widest operands, at least integers."""
    if any(type.name not in _NUMBERS for types in operands for type in types) or isinstance(node.op, ast.Pow):
        return ANY  # a power of integers may be a float
    least = 2 if isinstance(node.op, ast.Div) else 1
    widths = [{_NUMBERS.index(type.name) for type in types} for types in operands]
    pairs = ((first, last) for first in widths[0] for last in widths[-1])
    return frozenset(TypeExpr(_NUMBERS[max(least, *pair)]) for pair in pairs)


def of_annotation(type: TypeExpr) -> Types:
    """The types that an annotation allows."""
    return frozenset(_known(member) for member in members_of(type))


def _known(type: TypeExpr) -> TypeExpr:
    return UNKNOWN if type.name in ("", "typing.Any", "typing.Literal", "builtins.object") else type


def names_in(types: Iterable[TypeExpr]) -> frozenset[str]:
    """The qualified names of some types."""
    return frozenset(type.name for type in types)


def in_words_of(types: Types) -> str:
    """Types as a message says them: `int | None`."""
    shown = sorted(
        {type.text or type.name.rpartition(".")[2] for type in types}, key=lambda text: (text == "None", text)
    )
    return " | ".join(shown)
