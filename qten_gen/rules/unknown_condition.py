"""The argument `when=` does not name a config field of type `bool`, or the annotation of the field does not allow None.

The constructor reads the condition from its own arguments. Another name would raise NameError there. If the condition is false,
the field is None. Without `| None` in the annotation, type checkers would accept code that fails on that None.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ConfigDecl, ModuleDecl, Name, ParameterDecl, SpecifierCall, SubmoduleDecl, Value
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
        if isinstance(field, SubmoduleDecl):
            yield from _of_members(field, context, config)
        if not isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl) or field.when is None:
            continue
        problem = _problem(field.when, config)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, context.argument_place(field.name, "when"), help)
        elif all(member.name != "None" for member in members_of(field.type)):
            message = f"{field.name} is None unless {field.when} is true, but its annotation does not allow None"
            yield Diagnostic(KIND, message, field.type.place, f"write {field.name}: {field.type.text} | None")


def _of_members(field: SubmoduleDecl, context: RuleContext, config: dict[str, ConfigDecl]) -> Iterator[Diagnostic]:
    """What is wrong with the conditions of the members of a sequence, which are the identity otherwise."""
    source = context.field_source(field.name)
    call = field.call if source is None or source.specifier is None else source.specifier
    for argument in call.nested:
        inner = argument.value.get("when") if isinstance(argument.value, SpecifierCall) else None
        when = None if inner is None else _named(inner.value)
        problem = None if when is None else _problem(when, config)
        if inner is not None and problem is not None:
            yield Diagnostic(KIND, problem[0], inner.place, problem[1])


def _named(value: object) -> str | None:
    """The config field that a condition names: a string in the text, an expression in a declaration."""
    if isinstance(value, Name):
        return value.name
    given: object = literal_eval(value.literal) if isinstance(value, Value) and value.literal is not None else None
    return given if isinstance(given, str) else None


def _problem(when: str, config: dict[str, ConfigDecl]) -> tuple[str, str] | None:
    found = config.get(when)
    if found is None:
        return f"there is no config field {when!r}", did_you_mean(
            when, config, "add one, such as use_bias: bool = True"
        )
    if found.type.name != "builtins.bool":
        return f"{when} is annotated {found.type.text}, not bool", f"write {when}: bool"
    return None
