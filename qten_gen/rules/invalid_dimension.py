"""A dimension or another expression is not valid.

qten-gen writes the expression into the generated constructor, where it would be a SyntaxError or compute something else than
intended. [Write expressions](declarations.md#write-expressions) says what an expression can contain. To pass a plain
string to a submodule, write `const("...")`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import DimError, Value, expression_of, language
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG301", "invalid-dimension")

EXAMPLE = """
 from qten_gen import Module, param
 from torch import nn


 class Project(Module):
     dim: int
-    weight: nn.Parameter = param("3 dim", "dim", initializer=nn.init.xavier_uniform_)
-                                    ^
+    weight: nn.Parameter = param("dim // 2", "dim", initializer=nn.init.xavier_uniform_)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    written = (field.specifier for field in context.field_sources)
    for call in (*(call for call in written if call is not None), *context.check_calls):
        for argument in call.nested:
            error = expression_of(argument)
            if isinstance(error, DimError):
                choice = argument.value.choice if isinstance(argument.value, Value) else None
                is_passed = choice is None and call.name == language.SUBMODULE
                is_passed = is_passed and argument.keyword not in (language.REPEAT, language.WHEN)
                help = f"for a plain string, write const({error.text!r})" if is_passed else ""
                yield Diagnostic(
                    KIND,
                    f"{error.text!r} is not an expression: {error.problem}",
                    argument.place if choice is None else choice.place,
                    help,
                    within=(error.offset, 1),
                )
