"""The argument `when=` is not a condition on the constructor's arguments, or the annotation of the field does not allow None.

A condition is the name of a config field of type `bool`, or an expression such as `"config.bias and dim > 1"`. The constructor
evaluates it. A name that is not an argument or a derived value would raise NameError there. If the condition is false, the field
is None. Without `| None` in the annotation, type checkers would accept code that fails on that None.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ConfigDecl, DerivedDecl, ModuleDecl, ModuleField, ParameterDecl, SubmoduleDecl
from ..model.diagnostics import Diagnostic, Kind
from ..model.dimensions import in_words, path_of
from ..model.field_kinds import members_of
from .expression_types import NONE, UNKNOWN, in_words_of, names_in, types_of
from .module_expressions import Expression, Use, expressions, field_of_argument, unknown_names
from .rule_input import RuleContext

KIND = Kind("QG308", "invalid-condition")

EXAMPLE = """
 from qten_gen import Module, param
 from torch import nn


 class Linear(Module):
     rows: int
     use_bias: bool = True
-    bias: nn.Parameter | None = param("rows", when="bias", initializer=nn.init.zeros_)
-                                                    ^^^^
+    bias: nn.Parameter | None = param("rows", when="use_bias", initializer=nn.init.zeros_)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    declared = {field.name: field for field in declaration.fields}
    for expression in expressions(context):
        field = expression.field
        if expression.use is not Use.CONDITION or not isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl):
            continue
        found = list(_problems(expression, declared))
        for of, message, help in found:
            place = expression.argument.place if expression.of_member else context.argument_place(field.name, "when")
            yield Diagnostic(KIND, message, place, help, within=expression.span(of))
        is_repeated = isinstance(field, SubmoduleDecl) and field.is_repeated
        is_identity = expression.of_member  # where the condition is false
        if not (found or is_repeated or is_identity) and all(
            member.name != "None" for member in members_of(field.type)
        ):
            text = in_words(expression.dim)
            is_true = " is true" if expression.dim.name else ""
            message = f"{field.name} is None unless {text}{is_true}, but its annotation does not allow None"
            yield Diagnostic(KIND, message, field.type.place, f"write {field.name}: {field.type.text} | None")


def _problems(expression: Expression, declared: dict[str, ModuleField]) -> Iterator[tuple[str, str, str]]:
    """The problem with a condition: of which part, the message, and how to fix it."""
    if expression.dim.name is not None and not expression.names.has_index:
        name, found = expression.dim.name, declared.get(expression.dim.name)
        config = [field.name for field in declared.values() if isinstance(field, ConfigDecl | DerivedDecl)]
        if not isinstance(found, ConfigDecl | DerivedDecl):
            help = did_you_mean(name, config, "add one, such as use_bias: bool = True")
            if (meant := field_of_argument(name, declared)) is not None:
                help = f"it is the alias of a field, by whose name conditions call it: write {meant}"
            yield name, f"there is no config field {name!r}", help
        elif found.type.name != "builtins.bool":
            help = f"write {name}: bool, or a condition such as when={f'{name} is not None'!r}"
            yield name, f"{name} is annotated {found.type.text}, not bool", help
        return
    unknown = list(unknown_names(expression, declared))
    yield from unknown
    types = types_of(expression.dim.node, expression.names)
    if not unknown and UNKNOWN not in types and "builtins.bool" not in names_in(types):
        text = in_words(expression.dim)
        said = "annotated" if path_of(expression.dim.node) else "of type"
        example = f"{text} is not None" if NONE & types else f"{text} > 0"
        help = f"write a comparison, such as when={example!r}"
        yield text, f"{text} is {said} {in_words_of(types)}, not bool", help
