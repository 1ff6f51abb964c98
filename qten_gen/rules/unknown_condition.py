"""The argument `when=` does not name a config field of type `bool`, or the annotation of the field does not allow None.

The constructor reads the condition from its own arguments. Another name would raise NameError there. If the condition is false,
the field is None. Without `| None` in the annotation, type checkers would accept code that fails on that None.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ConfigDecl, ModuleDecl, ParameterDecl, SubmoduleDecl
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import members_of
from .context import RuleContext

KIND = Kind("QG308", "unknown-condition")

GOOD = """
from qten_gen import Module, param
from torch import nn


class Linear(Module):
    rows: int
    use_bias: bool = True
    bias: nn.Parameter | None = param("rows", when="use_bias", initializer=nn.init.zeros_)
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Linear(Module):
    rows: int
    use_bias: bool = True
    bias: nn.Parameter | None = param("rows", when="bias", initializer=nn.init.zeros_)
                                                   ^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    config = {field.name: field for field in declaration.fields if isinstance(field, ConfigDecl)}
    for field in context.module_fields:
        if not isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl) or field.when is None:
            continue
        problem = _problem(field.when, config)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, context.argument_place(field.name, "when"), help)
        elif all(member.name != "None" for member in members_of(field.type)):
            message = f"{field.name} is None unless {field.when} is true, but its annotation does not allow None"
            yield Diagnostic(KIND, message, field.type.place, f"write {field.name}: {field.type.text} | None")


def _problem(when: str, config: dict[str, ConfigDecl]) -> tuple[str, str] | None:
    found = config.get(when)
    if found is None:
        return f"there is no config field {when!r}", did_you_mean(
            when, config, "add one, such as use_bias: bool = True"
        )
    if found.type.name != "builtins.bool":
        return f"{when} is annotated {found.type.text}, not bool", f"write {when}: bool"
    return None
