"""A size is negative, whatever the config fields are.

torch raises RuntimeError for a negative size when the first instance is made: "Trying to create tensor with negative
dimension". A negative `repeat=` creates an empty ModuleList. A size of zero is allowed, as it is in torch.

The rule computes what it can: config fields count as positive.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from math import inf

from ..model import ConfigDecl, ModuleDecl, ModuleField, SubmoduleDecl
from ..model.derivations import underived
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .expressions import Use, expressions

KIND = Kind("QG318", "negative-size", can_be_wrong=True)

GOOD = """
from qten_gen import Module, param
from torch import nn


class Shift(Module):
    dim: int
    weight: nn.Parameter = param("dim - 1", initializer=nn.init.zeros_)
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Shift(Module):
    dim: int
    weight: nn.Parameter = param(-1, "dim", initializer=nn.init.zeros_)
                                 ^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    fields = {field.name: field for field in context.declaration.fields}
    for expression in expressions(context):
        field, argument = expression.field, expression.argument
        if expression.use not in (Use.SIZE, Use.COUNT) or field is None:
            continue  # an argument of a child need not be a size: dim=-1
        largest = _bounds(underived(expression.dim, fields.values()).node, fields)[1]
        if largest < 0:
            place = argument.place if argument.place.steps else context.value_place(field.name)
            what = "number of children" if isinstance(field, SubmoduleDecl) else "size"
            shown = f" {argument.text}" if argument.text else ""
            message = f"the {what}{shown} of {field.name} is negative"
            yield Diagnostic(KIND, message, place, "write a size that is zero or positive")


def _bounds(dim: ast.expr, fields: Mapping[str, ModuleField]) -> tuple[float, float]:
    """The smallest and the largest value of an expression in which config fields stand for any positive integers."""
    match dim:
        case ast.Constant(value=int(value)):
            return value, value
        case ast.Name(id=name) if isinstance(fields.get(name), ConfigDecl):
            return 1, inf
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            low, high = _bounds(operand, fields)
            return -high, -low
        case ast.BinOp(op=operator, left=left, right=right):
            return _combined(operator, _bounds(left, fields), _bounds(right, fields))
    return -inf, inf


def _combined(operator: ast.operator, left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
    """The bounds of two expressions joined by an operator; all values for a division, whose result depends on more."""
    match operator:
        case ast.Add():
            return left[0] + right[0], left[1] + right[1]
        case ast.Sub():
            return left[0] - right[1], left[1] - right[0]
        case ast.Mult():
            corners = [0.0 if 0 in (a, b) else a * b for a in left for b in right]
            return min(corners), max(corners)
    return -inf, inf
