"""The values that a generated constructor computes before it registers anything: derived values, checks, conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import CheckDecl, Dim, ModuleDecl
from ..model.build_field import computed
from ..model.dimensions import canonical, dim_names, in_words, to_python
from . import layout
from .builtin_names import Builtins
from .imports import Aliases

# `<` has no opposite here: of NaN, neither it nor `>=` is true.
_OPPOSITES: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
}


def statements(declaration: ModuleDecl, builtins: Builtins, aliases: Aliases) -> Iterator[str]:
    """One statement for each derived value and each check, in an order in which all that they mention is known."""
    for step in computed(declaration):
        match step:
            case CheckDecl(condition):
                yield f"if {written(opposite(condition), builtins)}:\n            {_raised(condition, aliases)}"
            case field:
                yield f"{field.name} = {written(field.value, builtins)}"


def _raised(condition: Dim, aliases: Aliases) -> str:
    """The statement that raises the error of a check, with the values that the condition mentions."""
    names = [f"{name}={name}" for name in sorted(dim_names(condition))]
    return layout.bracketed(
        f"raise {aliases.use('_features')}.failed_check(",
        ["self", layout.quoted_string(to_python(condition)), *names],
        ")",
        12,
    )


def opposite(condition: Dim) -> Dim:
    """The condition that holds where another does not."""
    match condition.node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Dim(canonical(operand))
        case ast.Compare(left=left, ops=[operator], comparators=others) if type(operator) in _OPPOSITES:
            return Dim(canonical(ast.Compare(left, [_OPPOSITES[type(operator)]], others)))
    return Dim(canonical(ast.UnaryOp(ast.Not(), condition.node)))


def written(dim: Dim, builtins: Builtins) -> str:
    """An expression over the variables of a generated constructor."""
    return to_python(dim, builtin=builtins.name)


def if_wanted(made: str, when: Dim | None, builtins: Builtins) -> str:
    """An expression, or None where a condition is false."""
    return made if when is None else f"{made} if {written(when, builtins)} else None"


def either(when: Dim, made: str, otherwise: str, builtins: Builtins) -> str:
    """The statements of a constructor that do one of two things, as a condition says."""
    return f"if {written(when, builtins)}:\n            {made}\n        else:\n            {otherwise}"


def condition_in_words(when: Dim) -> str:
    """A condition as documentation shows it."""
    return f"`{in_words(when)}`"
