"""The name that `field(alias=...)` gives a constructor argument cannot be used.

With `alias`, the constructor takes an argument under another name than that of the field, so that a child can have the name of
the argument: `norm_class: type[nn.Module] = field(alias="norm")`. No two arguments can have the same name, and it must be a
public name that the constructor leaves free. An alias that is the name of another argument's field is refused too, because nobody
would know which of the two is meant.

The fields of a TensorClass have one name, which the constructor, `update`, `replace`, `from_dict` and saved files use.
"""

from __future__ import annotations

import keyword
from ast import literal_eval
from collections.abc import Iterator
from unicodedata import normalize

from ..model import ConfigDecl, ModuleDecl, TensorClassDecl, Value, language
from ..model.diagnostics import Diagnostic, Kind
from .dynamic_declaration import is_dynamic
from .rule_input import RuleContext

KIND = Kind("QG343", "invalid-alias")

EXAMPLE = """
 from qten_gen import Module, choice, field, submodule
 from torch import nn


 class Block(Module):
     dim: int
-    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="dim")
-                                                                    ^^^^^
+    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
     norm: nn.Module = submodule(choice("norm_class"), "dim")
"""

_OF_DATACLASSES = ("dataclasses.field(...) takes no alias", "use field(...) of qten_gen")
_OF_EVERY_CONSTRUCTOR = ("self", "device", "dtype")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    is_text = context.source is not None
    for source in context.field_sources:
        given = None if source.specifier is None else source.specifier.get(language.ALIAS)
        if given is None or source.specifier is None or source.specifier.name != language.FIELD:
            continue
        if is_text and is_dynamic(given.value):
            continue  # see `dynamic_declaration`
        problem = _OF_DATACLASSES if source.specifier.of_dataclasses else _problem(source.name, given.value, context)
        if problem is not None:
            yield Diagnostic(KIND, problem[0], given.place, problem[1])
    if isinstance(context.declaration, ModuleDecl) and not context.constructs_itself:
        yield from _taken_by_alias(context.declaration, context)


def _problem(name: str, given: object, context: RuleContext) -> tuple[str, str] | None:
    """The problem with the alias of a field, and how to fix it."""
    declaration = context.declaration
    literal = given.literal if isinstance(given, Value) else None
    alias: object = None if literal is None else literal_eval(literal)
    if isinstance(declaration, TensorClassDecl):
        meant = alias if isinstance(alias, str) and alias.isidentifier() else "the alias"
        message = f"{declaration.name} is a TensorClass, whose fields have one name everywhere, so {name} has no alias"
        return message, f"remove alias, or rename the field to {meant}"
    if context.constructs_itself:
        return (
            f"no constructor is generated for {declaration.name}, so the alias of {name} has no effect",
            "remove alias",
        )
    if not isinstance(alias, str) or alias == name or not _is_public_name(alias) or alias in _OF_EVERY_CONSTRUCTOR:
        shown = given.text if isinstance(given, Value) else given
        return f"{shown} cannot be the alias of {name}", 'write another public name, such as alias="norm"'
    for other in declaration.fields:
        if isinstance(other, ConfigDecl) and other.name != name and alias in (other.name, other.argument):
            what = "is an argument" if alias == other.name else f"is the alias of {other.name}"
            return f"{alias} {what} too, so it cannot be the alias of {name}", "choose another alias"
    return None


def _is_public_name(alias: str) -> bool:
    """Whether an argument can have a name, which Python reads as it is written."""
    is_name = alias.isidentifier() and not keyword.iskeyword(alias) and alias == normalize("NFKC", alias)
    return is_name and not alias.startswith("_")


def _taken_by_alias(declaration: ModuleDecl, context: RuleContext) -> Iterator[Diagnostic]:
    """Arguments that a class adds under the name that an inherited argument has by its alias."""
    own = {field.name for field in context.fields}
    aliases = {
        field.alias: field.name
        for field in declaration.fields
        if isinstance(field, ConfigDecl) and field.alias is not None and field.name not in own
    }
    for field in context.module_fields:
        if isinstance(field, ConfigDecl) and field.name in aliases:
            message = f"{field.name} is the alias of the inherited field {aliases[field.name]}, so it cannot be another argument"
            yield Diagnostic(KIND, message, field.place / "target", "rename the field")
