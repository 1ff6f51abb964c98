"""What a class body binds to a field's name → the source layer of the model: values and calls of specifiers.

Records of specifiers say themselves what was called (`common.specifier_records`). The interpreter has evaluated their arguments
already, so this is also where an argument of a wrong type is refused; in text, the rules do that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from inspect import cleandoc

from ..common.specifier_records import RecordedCall, recorded_call
from ..model import (
    Argument,
    Dim,
    DimError,
    FieldSource,
    MethodSource,
    Signature,
    SpecifierCall,
    TypeExpr,
    Value,
    language,
    takes_dimension,
)
from ..model.class_body import SUBMODULE_KEYWORDS
from ..model.diagnostics import DeclarationError
from ..read.dimensions import parse
from .statement import ClassStatement
from .values import value_of

_SWITCHES = ("kw_only", "requires_grad", "persistent", "cached")


def field_source(name: str, annotation: TypeExpr, statement: ClassStatement) -> FieldSource:
    """What the statement says of an annotated name.

    Raises:
        DeclarationError: an argument of its specifier is malformed.
    """
    given = statement.namespace.get(name, MISSING)
    if given is MISSING:
        return FieldSource(name, annotation)
    call = recorded_call(given)
    if call is None or call.name == language.CONST:
        return FieldSource(name, annotation, value=value_of(given))
    return FieldSource(name, annotation, specifier=specifier_call(call, f"{statement.name}.{name}"))


def virtual_source(name: str, given: object, statement: ClassStatement) -> MethodSource | None:
    """The function that was decorated with `virtual`, None for any other object."""
    call = recorded_call(given)
    if call is None or call.name != language.VIRTUAL:
        return None
    options = call._replace(args=())  # the function is not written in the decorator
    return MethodSource(
        name,
        Signature("", "Tensor"),
        decorators=(language.VIRTUAL,),
        specifier=specifier_call(options, f"{statement.name}.{name}"),
        doc=cleandoc(getattr(call.args[0], "__doc__", None) or ""),
    )


def specifier_call(call: RecordedCall, where: str) -> SpecifierCall:
    """The call as the text reader would have read it.

    Raises:
        DeclarationError: an argument is not what the specifier takes; `where` names the field.
    """
    return SpecifierCall(call.name, tuple(_arguments(call, where)))


def _arguments(call: RecordedCall, where: str) -> Iterator[Argument]:
    for position, given in enumerate(call.args):
        yield Argument(None, _value(call.name, position, None, given, where))
    for position, (keyword, given) in enumerate(call.kwargs.items(), len(call.args)):
        yield Argument(keyword, _value(call.name, position, keyword, given, where))


def _value(specifier: str, position: int, keyword: str | None, given: object, where: str) -> Dim | Value:
    """One argument: a dimension where the specifier takes one, a string or a switch where it takes that, or any value."""
    is_dimension = takes_dimension(specifier, position, keyword)
    if specifier == language.SUBMODULE and keyword not in SUBMODULE_KEYWORDS:
        return _dim(given, where) if is_dimension and type(given) in (str, int) else value_of(given)
    if is_dimension:
        return _dim(given, where)
    if keyword in ("when", "tie", "keys"):
        return _names(keyword, given, where)
    if keyword in _SWITCHES:
        return _literal(bool(given))
    if keyword == "sources" and isinstance(given, tuple):
        return _literal(tuple(map(str, given)))
    return value_of(given)


def _names(keyword: str, given: object, where: str) -> Value:
    """A string, or for `keys` also a tuple of strings. Strings of a subclass, such as those of a StrEnum, become plain ones."""
    if keyword == "keys" and isinstance(given, tuple) and all(isinstance(key, str) for key in given):
        return _literal(tuple(str.__str__(key) for key in given))
    if not isinstance(given, str):
        raise DeclarationError(f"{where}: {keyword} must be a string, got {given!r}")
    return _literal(str.__str__(given))


def _literal(constant: bool | str | tuple[str, ...]) -> Value:
    """The value of a constant whose `repr` is known to be its literal."""
    text = repr(constant)
    return Value(text, literal=text)


def _dim(given: object, where: str) -> Dim:
    dim = parse(given if isinstance(given, str) else str(given))
    if isinstance(dim, DimError):
        raise DeclarationError(f"{where}: {dim.text!r} is not a dimension: {dim.problem}")
    return dim
