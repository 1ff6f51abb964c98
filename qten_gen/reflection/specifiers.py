"""Converts the values that a class body assigns to fields into the source layer of the model.

The record of a specifier returns its call (see `common.specifier_records`). Its arguments are objects here, so this module also
checks their types. For text, the rules do that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, replace
from inspect import cleandoc, unwrap
from types import FunctionType

from ..common.specifier_records import RecordedCall, recorded_call
from ..model import (
    NO_PATH,
    Argument,
    Dim,
    DimError,
    FieldSource,
    MethodSource,
    Signature,
    SpecifierCall,
    TypeExpr,
    Value,
    as_submodule,
    language,
    nested_keywords,
    takes_dimension,
)
from ..model.diagnostics import DeclarationError
from ..read.dimensions import parse
from .statement import ClassStatement
from .values import value_of


def field_source(name: str, annotation: TypeExpr, statement: ClassStatement) -> FieldSource:
    """The source record of an annotated name.

    Raises:
        DeclarationError: an argument of its specifier is malformed.
    """
    given = statement.namespace.get(name, MISSING)
    if given is MISSING:
        return FieldSource(name, annotation)
    call = recorded_call(given)
    if call is None or call.name == language.CONST:
        return FieldSource(name, annotation, value=value_of(given))
    read = specifier_call(call, f"{statement.name}.{name}")
    method = _method(call.kwargs.get("initializer"), statement)
    return FieldSource(name, annotation, specifier=read if method is None else _by_method(read, method))


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
        specifier=specifier_call(options, f"{statement.name}.{name}"),
        doc=cleandoc(getattr(call.args[0], "__doc__", None) or ""),
    )


def specifier_call(call: RecordedCall, where: str) -> SpecifierCall:
    """The call as the reader of text would return it.

    Raises:
        DeclarationError: an argument has a wrong type or value; `where` names the field in the message.
    """
    if call.name == language.SEQUENTIAL:
        return as_submodule(_arguments(call, where), NO_PATH)
    return SpecifierCall(call.name, tuple(_arguments(call, where)))


def _arguments(call: RecordedCall, where: str) -> Iterator[Argument]:
    for position, given in enumerate(call.args):
        yield Argument(None, _value(call.name, position, None, given, where))
    for position, (keyword, given) in enumerate(call.kwargs.items(), len(call.args)):
        yield Argument(keyword, _value(call.name, position, keyword, given, where))


def _value(
    specifier: str, position: int, keyword: str | None, given: object, where: str
) -> Dim | Value | SpecifierCall:
    """The value of one argument: a dimension, a string, a switch or another value, depending on what the specifier takes."""
    is_dimension = takes_dimension(specifier, position, keyword)
    plain = recorded_call(given)
    if plain is not None and plain.name == language.CONST and specifier != language.SUBMODULE:
        given = plain.args[0]
    if specifier in _OF_CHILDREN and keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE]:
        call = recorded_call(given)
        if call is not None and call.name in _OF_CHILDREN:
            _refuse_keywords(call, where, nested_keywords(specifier, position, keyword))
            return specifier_call(call, where)
        if call is not None and call.name in language.SPECIFIERS:
            called = call.name.rpartition(".")[2]
            raise DeclarationError(
                f"{where}: {called}(...) declares a field, so it cannot be an argument of submodule(...)"
            )
        return _dim(given, where) if is_dimension and type(given) is str else _passed(given, where)
    if is_dimension and keyword == language.WHEN:
        return _dim(_string(keyword, given, where), where)
    if is_dimension:
        return _dim(given, where)
    if keyword in ("tie", "keys", "group"):
        return _names(keyword, given, where)
    if keyword in language.SPECIFIER_SWITCHES:
        return _switch(keyword, given, where)
    if keyword == "cached":
        return _cached(given, where)
    if keyword == "sources":
        return _sources(given, where)
    return value_of(given)


def _passed(given: object, where: str) -> Value:
    """A class or an argument of a child. In the text, the rule `invalid-dimension` refuses the selector of a choice."""
    value = value_of(given)
    selector = value.choice.selector if value.choice is not None else None
    if isinstance(selector, DimError):
        raise DeclarationError(f"{where}: {selector.text!r} is not an expression: {selector.problem}")
    return value


_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)


def _refuse_keywords(call: RecordedCall, where: str, allowed: tuple[str, ...]) -> None:
    """Refuse what a submodule among the arguments of another cannot have, as the rule `invalid-specifier-argument` does."""
    for keyword in language.SPECIFIER_KEYWORDS[language.SUBMODULE]:
        if keyword in call.kwargs and keyword not in allowed:
            message = f"{keyword} is for a submodule that is a field, not for an argument of another"
            help = f"remove {keyword}, or declare a Module with this field and use that"
            raise DeclarationError(f"{where}: {message}; {help}")


def _names(keyword: str, given: object, where: str) -> Value:
    """A string, or for `keys` also a tuple of strings. Members of a StrEnum and the like become plain strings."""
    if keyword == "keys" and isinstance(given, tuple) and all(isinstance(key, str) for key in given):
        return _literal(tuple(str.__str__(key) for key in given))
    return _literal(_string(keyword, given, where))


def _string(keyword: str, given: object, where: str) -> str:
    if not isinstance(given, str):
        raise DeclarationError(f"{where}: {keyword} must be a string, got {given!r}")
    return str.__str__(given)


def _switch(keyword: str, given: object, where: str) -> Value:
    if not isinstance(given, bool):
        raise DeclarationError(f"{where}: {keyword} must be True or False, got {given!r}")
    return _literal(given)


def _cached(given: object, where: str) -> Value:
    if not isinstance(given, bool) and given != language.MAY_BE_STALE:
        raise DeclarationError(f'{where}: cached must be True, False or "{language.MAY_BE_STALE}", got {given!r}')
    return _literal(given if isinstance(given, bool) else language.MAY_BE_STALE)


def _sources(given: object, where: str) -> Value:
    if not isinstance(given, tuple) or not all(isinstance(name, str) for name in given):
        raise DeclarationError(f"{where}: sources must be a tuple of strings, got {given!r}")
    return _literal(tuple(str.__str__(name) for name in given))


def _literal(constant: bool | str | tuple[str, ...]) -> Value:
    """The value of a constant whose `repr` is its literal."""
    text = repr(constant)
    return Value(text, literal=text)


def _dim(given: object, where: str) -> Dim:
    if isinstance(given, bool) or not (isinstance(given, str) or hasattr(type(given), "__index__")):
        raise DeclarationError(f"{where}: an expression must be an integer or a string, got {given!r}")
    dim = parse(given if isinstance(given, str) else str(given))
    if isinstance(dim, DimError):
        raise DeclarationError(f"{where}: {dim.text!r} is not an expression: {dim.problem}")
    return dim
