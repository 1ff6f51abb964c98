"""The expressions of a Module, with what the names in each may mean, and the mistakes that all of them can have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    ConfigurationClass,
    DerivedDecl,
    Dim,
    ModuleDecl,
    ModuleField,
    Name,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    declares,
    dim_names,
    language,
)
from ..model.dimension_text import in_words
from .configuration import configuration_class
from .context import RuleContext
from .expression_types import Names


class Use(Enum):
    """What an expression is for."""

    SIZE = "a size"
    COUNT = "how many children there are"
    VALUE = "an argument of a child"
    CONDITION = "whether a field exists"
    DERIVED = "the value of an attribute"
    CHECK = "what the arguments must satisfy"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a class."""

    dim: Dim
    use: Use
    argument: Argument
    """Where it is given, with its place and text."""
    names: Names
    field: ModuleField | None = None
    """The field that it belongs to; None for a check."""
    is_conditional: bool = False
    """Whether it is evaluated only under a condition, which may rule out that a value is None."""

    def span(self, text: str) -> tuple[int, int] | None:
        """Where a part of it stands in its text."""
        found = re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", self.argument.text)
        return (found.start(), len(text)) if found else None


def expressions(context: RuleContext) -> Iterator[Expression]:
    """The expressions that the class itself declares, as far as they can be parsed."""
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    names = Names({field.name: field for field in declaration.fields}, configurations(context))
    for field in context.module_fields:
        yield from _of_field(field, names, context)
    checks = [check for check in declaration.checks if declares(declaration, check)]
    for check, call in zip(checks, context.check_calls, strict=False):
        argument = next(iter(call.positional), None)
        if argument is not None and isinstance(argument.value, Dim):
            yield Expression(check.condition, Use.CHECK, argument, names)


def _of_field(field: ModuleField, names: Names, context: RuleContext) -> Iterator[Expression]:
    """The expressions in the specifier of a field."""
    inside = Names(names.fields, names.configuration, has_index=isinstance(field, SubmoduleDecl) and field.is_repeated)
    for argument in arguments_of(field, context):
        dim = argument.value
        if not isinstance(dim, Dim):
            continue
        use = _use(field, argument)
        has_index = use in (Use.VALUE, Use.CONDITION)
        is_conditional = use is not Use.CONDITION and getattr(field, "when", None) is not None
        yield Expression(dim, use, argument, inside if has_index else names, field, is_conditional)


def _use(field: ModuleField, argument: Argument) -> Use:
    if argument.keyword == language.WHEN:
        return Use.CONDITION
    if isinstance(field, DerivedDecl):
        return Use.DERIVED
    if isinstance(field, SubmoduleDecl):
        return Use.COUNT if argument.keyword == language.REPEAT else Use.VALUE
    return Use.SIZE


def arguments_of(field: ModuleField, context: RuleContext) -> tuple[Argument, ...]:
    """The arguments of a specifier: as written in the text, or else those of the declaration."""
    source = context.field_source(field.name)
    if source is not None and source.specifier is not None:
        return source.specifier.nested
    match field:
        case ParameterDecl(dims=dims, when=when) | BufferDecl(dims=dims, when=when):
            return (*(Argument(None, dim) for dim in dims), *_condition(when))
        case SubmoduleDecl(arguments=arguments, repeat=repeat, when=when):
            nested = SpecifierCall(language.SUBMODULE, arguments).nested
            counted = () if repeat is None else (Argument(language.REPEAT, repeat),)
            return (*nested, *counted, *_condition(when))
        case DerivedDecl(value=value):
            return (Argument(None, value),)
    return ()


def _condition(when: Dim | None) -> tuple[Argument, ...]:
    return () if when is None else (Argument(language.WHEN, when),)


def configurations(context: RuleContext) -> _Configurations:
    """Looks up configuration classes: in the text of the run, or in the running program."""
    return _Configurations(context)


@dataclass(frozen=True, slots=True)
class _Configurations:
    """Finds the attributes of a class by its qualified name; None for a class of which not all are known."""

    context: RuleContext

    def __call__(self, name: str) -> ConfigurationClass | None:
        if self.context.source is None:
            return self.context.statement.configurations.get(name)
        project = self.context.project
        return configuration_class(name, project.classes, project.declarations)


def unknown_names(expression: Expression, declared: Mapping[str, ModuleField]) -> Iterator[tuple[str, str, str]]:
    """The names that an expression cannot use, each with what is wrong and how to fix it."""
    usable = [field.name for field in declared.values() if isinstance(field, ConfigDecl | DerivedDecl)]
    known = (
        f"the config fields are {', '.join(usable)}"
        if usable
        else "the module has no config fields: add one, such as dim: int"
    )
    text = expression.argument.text.strip() or in_words(expression.dim)
    is_plain = expression.use is Use.VALUE and not dim_names(expression.dim) & {*usable, language.INDEX}
    is_plain = is_plain or (expression.use is Use.VALUE and expression.dim == Name(language.INDEX))
    for name in sorted(dim_names(expression.dim)):
        found = declared.get(name)
        if isinstance(found, ConfigDecl | DerivedDecl) or (name == language.INDEX and expression.names.has_index):
            continue
        if name == language.INDEX and found is None and expression.use in (Use.VALUE, Use.CONDITION):
            help = 'add repeat="depth", for a config field depth that says how many; or declare a config field index'
            help = f"{help}; for a plain string, write const({text!r})" if is_plain else help
            yield name, "index is the position of a repeated child, and there is a single child", help
        elif found is not None:
            help = f"an expression can use constructor arguments and derived values only; {known}"
            yield name, f"{name} is not a config field", help
        else:
            help = did_you_mean(name, usable, known)
            if is_plain:
                help = f"{help}; for a plain string, write const({text!r})"
            yield name, f"there is no config field {name}", help
