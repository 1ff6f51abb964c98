"""A dimension is not a valid expression.

qten-gen writes the expression into the generated constructor, where it would be a SyntaxError or compute something else than
intended. A dimension is an integer expression over the config fields of the module: integers, names, `+ - * //`, a minus sign
and parentheses. To pass a plain string to a submodule, write `const("...")`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import DimError, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG301", "malformed-dimension")

GOOD = """
from qten_gen import Module, param
from torch import nn


class Project(Module):
    dim: int
    weight: nn.Parameter = param("dim // 2", "dim", initializer=nn.init.xavier_uniform_)
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Project(Module):
    dim: int
    weight: nn.Parameter = param("dim / 2", "dim", initializer=nn.init.xavier_uniform_)
                                      ^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None:
        return
    for field in context.source.fields:
        for argument in field.specifier.nested if field.specifier else ():
            error = argument.value
            if isinstance(error, DimError):
                help = (
                    f"for a plain string, write const({error.text!r})"
                    if field.specifier and field.specifier.name == language.SUBMODULE
                    else ""
                )
                yield Diagnostic(
                    KIND,
                    f"{error.text!r} is not a dimension: {error.problem}",
                    argument.place,
                    help,
                    within=(error.offset, 1),
                )
