"""Converts the values that a class body assigns to fields into the source layer of the model.

The record of a specifier returns its call (see `common.specifier_records`). Its arguments are objects here. One of a wrong type
becomes a `Value`, as it is in the text, and the rules refuse both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from inspect import cleandoc, unwrap
from numbers import Integral
from types import FunctionType
from typing import TypeGuard

from ..common.object_reads import WHOLE, attributes_read
from ..common.records import replace
from ..common.specifier_records import RecordedCall, recorded_call
from ..model import (
    Argument,
    Dim,
    DimError,
    FieldSource,
    MethodSource,
    NodePath,
    Signature,
    SpecifierCall,
    TypeExpr,
    Value,
    as_submodule,
    language,
)
from ..model.field_parts import FIELD_STEP
from ..read.dimensions import parse
from .statement import ClassStatement
from .values import value_of


def field_source(name: str, annotation: TypeExpr, statement: ClassStatement) -> FieldSource:
    """The source record of an annotated name."""
    place = place_of(name)
    given = statement.namespace.get(name, MISSING)
    if given is MISSING:
        return FieldSource(name, annotation, place=place)
    call = recorded_call(given)
    if call is None or call.name == language.CONST:
        return FieldSource(name, annotation, replace(value_of(given), place=place), place=place)
    read = specifier_call(call, place)
    method = _method(call.kwargs.get("initializer"), statement)
    return FieldSource(name, annotation, specifier=read if method is None else _by_method(read, method), place=place)


def place_of(field: str) -> NodePath:
    """The place of all that a class statement says about a field: there is no tree, so it is the field's name."""
    return NodePath((FIELD_STEP, field))


def _method(initializer: object, statement: ClassStatement) -> str | None:
    """The name of an initialiser that is a function of the class body and takes `self`, or a class method; otherwise None."""
    code = getattr(unwrap(initializer), "__code__", None) if isinstance(initializer, FunctionType) else None
    takes_self = code is not None and code.co_argcount > 0 and code.co_varnames[0] == "self"
    if not takes_self and not isinstance(initializer, classmethod):
        return None
    return next((name for name, bound in statement.namespace.items() if bound is initializer), None)


def _by_method(call: SpecifierCall, method: str) -> SpecifierCall:
    arguments = tuple(
        replace(argument, value=replace(argument.value, method=method))
        if argument.keyword == "initializer" and isinstance(argument.value, Value)
        else argument
        for argument in call.arguments
    )
    return replace(call, arguments=arguments)


def virtual_source(name: str, given: object, statement: ClassStatement) -> MethodSource | None:
    """The source record of a function decorated with `virtual`; None for any other object."""
    call = recorded_call(given)
    if call is None or call.name != language.VIRTUAL:
        return None
    options = call._replace(args=())  # the first argument is the decorated function
    return MethodSource(
        name,
        Signature("", "Tensor"),
        decorators=(language.VIRTUAL,),
        specifier=specifier_call(options, place_of(name)),
        doc=cleandoc(getattr(call.args[0], "__doc__", None) or ""),
        place=place_of(name),
        reads=attributes_read(call.args[0]) if isinstance(call.args[0], FunctionType) else (WHOLE,),
    )


def specifier_call(call: RecordedCall, place: NodePath) -> SpecifierCall:
    """The call as the reader of text would return it; `place` is that of its field."""
    if call.name == language.SEQUENTIAL:
        return as_submodule(_arguments(call, place), place)
    return SpecifierCall(call.name, tuple(_arguments(call, place)), place)


def _arguments(call: RecordedCall, place: NodePath) -> Iterator[Argument]:
    for position, given in enumerate(call.args):
        yield Argument(None, _value(call.name, position, None, given, place), place)
    for position, (keyword, given) in enumerate(call.kwargs.items(), len(call.args)):
        yield Argument(keyword, _value(call.name, position, keyword, given, place), place)


def _value(
    specifier: str, position: int, keyword: str | None, given: object, place: NodePath
) -> Dim | DimError | Value | SpecifierCall:
    """The value of one argument: a dimension, a string, a switch or another value, depending on what the specifier takes."""
    is_dimension = language.takes_dimension(specifier, position, keyword)
    if specifier in _OF_CHILDREN and keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE]:
        call = recorded_call(given)
        if call is not None and call.name in _OF_CHILDREN:
            return specifier_call(call, place)
        # The very type: a member of a StrEnum is a value, as it is in a text.
        return _dim(given) if is_dimension and type(given) is str else value_of(given)
    if is_dimension:
        return value_of(given) if keyword == language.WHEN and not isinstance(given, str) else _dim(given)
    if keyword in ("tie", "keys", "group", language.ALIAS):
        return _names(keyword, given)
    return _sources(given) if keyword == "sources" else value_of(given)


_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)


def _names(keyword: str, given: object) -> Value:
    """A string, or for `keys` also a tuple of strings. Members of a StrEnum and the like become plain strings."""
    if keyword == "keys" and _are_strings(given):
        return _literal(tuple(map(str.__str__, given)))
    return _literal(str.__str__(given)) if isinstance(given, str) else value_of(given)


def _sources(given: object) -> Value:
    return _literal(tuple(map(str.__str__, given))) if _are_strings(given) else value_of(given)


def _are_strings(given: object) -> TypeGuard[tuple[str, ...]]:
    if not isinstance(given, tuple) or recorded_call(given) is not None:  # the records of specifiers are tuples, too
        return False
    return all(isinstance(name, str) for name in given)


def _literal(constant: str | tuple[str, ...]) -> Value:
    """The value of a constant whose `repr` is its literal."""
    text = repr(constant)
    return Value(text, literal=text)


def _dim(given: object) -> Dim | DimError | Value:
    """The dimension that an integer or a string says; any other object, which a rule refuses, stays what it is."""
    if isinstance(given, bool) or not isinstance(given, str | Integral):
        return value_of(given)
    return parse(str(given))
