"""The expressions of a Module, with what the names in each may mean, and the mistakes that all of them can have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from ..common.field_kinds import members_of
from ..common.records import record
from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    ConfigDecl,
    DerivedDecl,
    Dim,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    TypeExpr,
    Value,
    declares,
    dim_names,
    language,
)
from ..model.dimensions import in_words
from .rule_input import RuleContext

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
    of_child: frozenset[str] = frozenset()
    """What else it may name, of each of several children: `index`, and with `keys=` also `key`."""


def types_of(node: ast.expr, names: Names) -> Types:
    """The types that an expression may have."""
    match node:
        case ast.Constant(value=value):
            return NONE if value is None else _builtin(type(value).__name__)
        case ast.Name(id=name):
            found = names.fields.get(name)
            if isinstance(found, ConfigDecl | DerivedDecl):
                return of_annotation(found.type)
            return _builtin(language.OF_CHILD[name]) if name in names.of_child else ANY
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
    """The types of the results of arithmetic: the widest operands' types, at least integers."""
    if any(type.name not in _NUMBERS for types in operands for type in types) or isinstance(node.op, ast.Pow):
        return ANY  # a power of integers may be a float
    least = 2 if isinstance(node.op, ast.Div) else 1
    widths = [{_NUMBERS.index(type.name) for type in types} for types in operands]
    pairs = ((first, last) for first in widths[0] for last in widths[-1])
    return frozenset(TypeExpr(_NUMBERS[max(least, *pair)]) for pair in pairs)


def of_annotation(type: TypeExpr) -> Types:
    """The types that an annotation allows."""
    open = ("", "typing.Any", "typing.Literal", "builtins.object")
    return frozenset(UNKNOWN if member.name in open else member for member in members_of(type))


_PLAIN = frozenset(
    {"None", *(f"builtins.{cls.__name__}" for cls in (bool, int, float, complex, str, bytes, tuple, list, dict, set))}
)
"""Types whose values no other one has."""


def fits(type: TypeExpr, annotated: Types) -> bool:
    """True if a value of a type may be one of an annotation: an integer is a float, and what is not known may be anything."""
    allowed = names_in(annotated)
    if UNKNOWN in (type, *annotated) or type.name in allowed or not {type.name, *allowed} <= _PLAIN:
        return True
    return type.name in _NUMBERS and not allowed.isdisjoint(_NUMBERS[_NUMBERS.index(type.name) :])


def names_in(types: Iterable[TypeExpr]) -> frozenset[str]:
    """The qualified names of some types."""
    return frozenset(type.name for type in types)


def in_words_of(types: Types) -> str:
    """Types as a message says them: `int | None`."""
    shown = sorted(
        {type.text or type.name.rpartition(".")[2] for type in types}, key=lambda text: (text == "None", text)
    )
    return " | ".join(shown)


class Use(Enum):
    """The purpose of an expression."""

    SIZE = "a size"
    COUNT = "how many children there are"
    VALUE = "an argument of a child"
    CONDITION = "whether a field exists"
    DERIVED = "the value of an attribute"
    CHECK = "what the arguments must satisfy"


@record(frozen=True, slots=True)
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
    """True if the expression is evaluated only under a condition, which may rule out that a value is None."""

    def span(self, text: str) -> tuple[int, int] | None:
        """Where a part of it stands in its text."""
        found = re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", self.argument.text)
        return (found.start(), len(text)) if found else None


def expressions(declaration: ModuleDecl, context: RuleContext) -> Iterator[Expression]:
    """The expressions that the class itself declares, as far as they can be parsed."""
    names = Names({field.name: field for field in declaration.fields})
    for field in context.module_fields:
        yield from _of_field(field, names, context)
    checks = [check for check in declaration.checks if declares(declaration, check)]
    for check, call in zip(checks, context.source.checks, strict=False):
        argument = next(iter(call.positional), None)
        if argument is not None and isinstance(argument.value, Dim):
            yield Expression(check.condition, Use.CHECK, argument, names)


def _of_field(field: ModuleField, names: Names, context: RuleContext) -> Iterator[Expression]:
    """The expressions in the specifier of a field."""
    source = context.field_source(field.name)
    call = None if source is None else source.specifier
    for located in _walk(call) if call is not None else ():
        argument = located.argument
        if not isinstance(argument.value, Dim):
            continue
        use = _use(field, argument)
        is_of_all = isinstance(field, ParameterDecl) and use is Use.CONDITION
        scope = Names(names.fields, frozenset() if is_of_all else located.of_child)
        is_certain = use is Use.CONDITION or (getattr(field, "when", None) is None and not located.is_conditional)
        yield Expression(argument.value, use, argument, scope, field, not is_certain)


def _use(field: ModuleField, argument: Argument) -> Use:
    if argument.keyword == language.WHEN:
        return Use.CONDITION
    if argument.keyword == language.REPEAT:
        return Use.COUNT
    if isinstance(field, DerivedDecl):
        return Use.DERIVED
    return Use.VALUE if isinstance(field, SubmoduleDecl) else Use.SIZE


class _Located(NamedTuple):
    """An argument of a specifier, or of a child among its arguments."""

    argument: Argument
    of_child: frozenset[str]
    """The names of what each of several children has, if the expression is evaluated for each."""
    is_conditional: bool
    """True if the expression is evaluated only under the condition of a member of a sequence."""


def _walk(
    call: SpecifierCall, of_child: frozenset[str] = frozenset(), is_conditional: bool = False
) -> Iterator[_Located]:
    """The arguments of a specifier and of the children among them. How many there are is known before any has an index."""
    inside = of_child | _names_of_child(call)
    for argument in call.arguments:
        if argument.keyword == language.REPEAT:
            yield _Located(argument, of_child, is_conditional)
        elif isinstance(argument.value, SpecifierCall):
            decides = argument.value.get(language.WHEN) is not None
            yield from _walk(argument.value, inside, is_conditional or decides)
        else:
            yield _Located(_decided(argument), inside, is_conditional)


def _names_of_child(call: SpecifierCall) -> frozenset[str]:
    """The names of what each child has that a call makes: none if it makes only one."""
    if call.get("keys") is not None:
        return frozenset(language.OF_CHILD)
    return frozenset() if call.get(language.REPEAT) is None else frozenset({language.INDEX})


def _decided(argument: Argument) -> Argument:
    """An argument; for a choice, the expression that decides."""
    choice = argument.value.choice if isinstance(argument.value, Value) else None
    if choice is None or choice.selector is None:
        return argument
    return Argument(argument.keyword, choice.selector, choice.place, choice.text)


def usable_names(expression: Expression, declared: Mapping[str, ModuleField]) -> list[str]:
    """The names that an expression can use: of config fields and derived values, and `index` and `key` in a repeated child."""
    usable = [field.name for field in declared.values() if isinstance(field, ConfigDecl | DerivedDecl)]
    return [*usable, *sorted(expression.names.of_child)]


def unknown_names(expression: Expression, declared: Mapping[str, ModuleField]) -> Iterator[tuple[str, str, str]]:
    """The names that an expression cannot use, each with what is wrong and how to fix it."""
    usable = usable_names(expression, declared)
    fields = [name for name in usable if name in declared]
    none = "the module has no config fields: add one, such as dim: int"
    known = f"the config fields are {', '.join(fields)}" if fields else none
    aliases = {field.alias: field.name for field in declared.values() if isinstance(field, ConfigDecl)}
    text = expression.argument.text.strip() or in_words(expression.dim)
    is_plain = expression.use is Use.VALUE and not dim_names(expression.dim) & {*usable, language.INDEX}
    is_plain = is_plain or (expression.use is Use.VALUE and expression.dim.name == language.INDEX)
    for name in sorted(dim_names(expression.dim)):
        found = declared.get(name)
        if isinstance(found, ConfigDecl | DerivedDecl) or name in expression.names.of_child:
            continue
        if name == language.INDEX and found is None and expression.use in (Use.VALUE, Use.CONDITION):
            help = 'add repeat="depth", for a config field depth that says how many; or declare a config field index'
            help = f"{help}; for a plain string, write const({text!r})" if is_plain else help
            yield name, "index is the position of a repeated child, but this child is not repeated", help
        elif name == "self" and found is None:
            yield name, "self is not a config field", f"expressions name fields without self; {known}"
        elif name in aliases:
            yield name, f"{name} is the alias of a field", f"expressions name the field: write {aliases[name]}"
        elif found is not None:
            help = f"an expression can use constructor arguments and derived values only; {known}"
            yield name, f"{name} is not a config field", help
        else:
            keyed = ", and key its name" if language.KEY in expression.names.of_child else ""
            each = f"; index is the position of each child{keyed}" if expression.names.of_child else ""
            help = did_you_mean(name, usable, f"{known}{each}")
            if is_plain:
                help = f"{help}{' For' if help.endswith('?') else '; for'} a plain string, write const({text!r})"
            yield name, f"there is no config field {name}", help
