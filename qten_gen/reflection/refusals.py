"""Says whether the rules must look at a class statement even if a fresh generated class exists for it.

The command checks what the text says. It does not know the objects that the names in it mean, and it does not run for each class
statement. So a class can be fresh and contain what a rule refuses.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from types import FunctionType

from ..common.specifier_records import recorded_call
from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    Default,
    FieldDecl,
    FieldKind,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    TensorClassDecl,
    TypeExpr,
    Value,
    declares,
    language,
)
from ..model.class_body import Argument
from .contained_objects import contained
from .read_class import is_field
from .statement import ClassStatement


def is_doubtful(declaration: Declaration, statement: ClassStatement) -> bool:
    """Whether a rule may refuse what it says.

    Such as a value that instances cannot share, a specifier that declares nothing, or a base that the command does not see.
    """
    if statement.passed or any(_declares_nothing(*item, statement) for item in statement.namespace.items()):
        return True
    fields = statement.annotations.keys() & {field.name for field in declaration.fields}
    others = ((name, value) for name, value in statement.namespace.items() if name not in fields)
    if any(_may_be_meant(name, value, name in statement.annotations) for name, value in others):
        return True
    if isinstance(declaration, TensorClassDecl):
        if any(map(_has_alias, statement.namespace.values())):
            return True
        return any(_may_not_fit(field) for field in declaration.fields if declares(declaration, field))
    return any(value.contains or value.mutable for value in _values(declaration)) or any(
        _may_not_be_meant(field) for field in declaration.fields if declares(declaration, field)
    )


def _may_not_be_meant(field: ModuleField) -> bool:
    """Whether an argument of a specifier may be an object that means nothing there, such as a number for a class."""
    if isinstance(field, ParameterDecl | BufferDecl):
        initializer, dtype = field.initializer, field.dtype
        opaque = initializer is not None and not initializer.is_callable and initializer.literal is None
        return opaque or (dtype is not None and dtype.torch_name is None)
    if isinstance(field, SubmoduleDecl):
        return field.cls.literal is not None or not (field.cls.is_callable or field.cls.contains)
    return isinstance(field, ConfigDecl) and field.default is not None and _is_wrong_function(field.default, field.type)


def _is_wrong_function(default: Default, type: TypeExpr) -> bool:
    """Whether a default may be a function where an object is meant, or a factory that is not a function."""
    value = default.value
    if default.factory:
        return not value.is_callable or value.literal is not None
    return value.text.startswith("<function ") and type.name != "typing.Callable"


def _may_not_fit(field: FieldDecl) -> bool:
    """Whether the default of a field may be one that the field cannot hold, or that instances cannot share."""
    if field.default is None:
        return False
    value = field.default.value
    if field.default.factory or value.literal is None:
        return value.mutable or _is_wrong_function(field.default, field.type)
    if value.mutable:
        return True
    if value.literal == "None":
        return not field.optional and field.kind is not FieldKind.STATIC
    if field.kind is FieldKind.NUMBER:
        return not isinstance(literal_eval(value.literal), _NUMBERS.get(field.cast or "", ()))
    return not field.kind.is_static


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


def _has_alias(value: object) -> bool:
    """Whether `field` was called with an alias, which the declaration of a TensorClass does not keep."""
    call = recorded_call(value)
    return call is not None and call.name == language.FIELD and language.ALIAS in call.kwargs


def _may_be_meant(name: str, value: object, is_class_variable: bool) -> bool:
    """Whether an attribute may have been meant as a field: it is None or a type, or holds a tensor or a module."""
    if name.startswith("__") or isinstance(value, _OTHERS) or recorded_call(value) is not None:
        return False
    if value is None or isinstance(value, type):
        return not is_class_variable and (value is None or value.__module__ in ("builtins", "torch"))
    return any(contained(value))


_OTHERS: tuple[type, ...] = (FunctionType, property, classmethod, staticmethod, str, int, float)


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
