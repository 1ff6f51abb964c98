"""Says whether the rules must look at a class statement even if a fresh generated class exists for it.

The command checks what the text says. It does not know the objects that the names in it mean, and it does not run for each class
statement. So a class can be fresh and contain what a rule refuses.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.specifier_records import recorded_call
from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    FieldDecl,
    FieldKind,
    ModuleDecl,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    TensorClassDecl,
    Value,
    declares,
    language,
)
from ..model.class_body import Argument
from .base_functions import module_constructor
from .read_class import is_field
from .statement import ClassStatement


def is_doubtful(declaration: Declaration, statement: ClassStatement) -> bool:
    """Whether a rule may refuse what it says.

    Such as a value that instances cannot share, a specifier that declares nothing, or a base that the command does not see.
    """
    if statement.passed or any(_declares_nothing(*item, statement) for item in statement.namespace.items()):
        return True
    if isinstance(declaration, TensorClassDecl):
        return any(_may_not_fit(field) for field in declaration.fields if declares(declaration, field))
    if module_constructor(statement) is not None:
        return True
    return any(value.contains or value.mutable for value in _values(declaration)) or any(
        field.initializer is not None and not field.initializer.is_callable and field.initializer.literal is None
        for field in declaration.fields
        if isinstance(field, ParameterDecl | BufferDecl) and declares(declaration, field)
    )


def _may_not_fit(field: FieldDecl) -> bool:
    """Whether the default of a field may be one that the field cannot hold, or that instances cannot share."""
    if field.default is None or field.default.factory:
        return False
    value = field.default.value
    if value.mutable or value.literal is None:
        return value.mutable
    if value.literal == "None":
        return not field.optional and field.kind is not FieldKind.STATIC
    if field.kind is FieldKind.NUMBER:
        return not isinstance(literal_eval(value.literal), _NUMBERS.get(field.cast or "", ()))
    return field.kind not in (FieldKind.STATIC, FieldKind.PER_ITEM)


_NUMBERS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (bool, int),
    "float": (bool, int, float),
    "complex": (bool, int, float, complex),
}
"""The types of the numbers that a field takes, by its own."""


def _declares_nothing(name: str, value: object, statement: ClassStatement) -> bool:
    """Whether a specifier is assigned to a name that is not a field."""
    call = recorded_call(value)
    return call is not None and call.name in language.SPECIFIERS and not is_field(name, statement)


def _values(declaration: ModuleDecl) -> Iterator[Value]:
    """The defaults of its own config fields, and what its own children are constructed from, without mutable arguments."""
    for field in declaration.fields:
        if not declares(declaration, field):
            continue
        if isinstance(field, ConfigDecl) and field.default is not None:
            yield field.default.value
        elif isinstance(field, SubmoduleDecl):
            yield from _of_child(Argument(None, field.cls), *field.arguments)


def _of_child(*arguments: Argument) -> Iterator[Value]:
    for argument in arguments:
        if isinstance(argument.value, SpecifierCall):
            yield from _of_child(*argument.value.arguments)
        elif isinstance(argument.value, Value) and argument.value.contains:
            yield argument.value
