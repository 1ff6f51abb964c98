"""Says in what the text of a class and its class statement differ, and how to write it so that both say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..common.records import fields
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    Declaration,
    Default,
    DerivedDecl,
    FieldDecl,
    FieldKind,
    ModuleField,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    Value,
    VirtualDecl,
    structure,
)
from .in_memory_text import OwnText, of_class


class Reason(NamedTuple):
    """Why the command generates nothing that a class statement could use, and what to write instead."""

    message: str
    """Empty where the command says itself that the text cannot tell: then nothing is wrong with what was generated."""
    help: str


_DYNAMIC = "QG008"
_BY_NAME = "write the annotation with names that are imported or assigned once, at the top level of the file"
_AS_LITERAL = "write the value itself, or const(...) for a plain value that is passed on"


def why_not_generated(declaration: Declaration, own: OwnText) -> Reason | None:
    """Why the command would not generate what a class statement declares; None where it would."""
    name = declaration.name
    text = of_class(own.module, name, own)
    found = text.declaration
    for error in text.errors:
        if error.code == _DYNAMIC:
            return Reason("", f"{error.message}; {error.help}")
    if text.errors:
        first = text.errors[0]
        said = f"line {first.span.line} has an error that the command reports: {first.code}: {first.message}"
        return Reason(said, first.help)
    if found is None:
        said = f"the text does not say that {name} derives from TensorClass or Module"
        return Reason(said, "import its base by name at the top level of the file, without try or if")
    return _difference(found, declaration)


def _difference(text: Declaration, statement: Declaration) -> Reason | None:
    """The first difference between what the text declares and what the class statement does; None where they are equal."""
    theirs: dict[str, FieldDecl | ModuleField] = {field.name: field for field in statement.fields}
    ours: dict[str, FieldDecl | ModuleField] = {field.name: field for field in text.fields}
    for name in dict.fromkeys((*ours, *theirs)):
        said, has = ours.get(name), theirs.get(name)
        if said is None or has is None:
            only = (
                "the class statement has a field {}, the text does not" if said is None else "the text has a field {}"
            )
            return Reason(only.format(name), "annotate it in the class body, outside if, try, loops and functions")
        if structure(said) != structure(has):
            return _of_fields(said, has)
        for first, second in zip(_values(said), _values(has), strict=True):
            if first and first != second:
                return Reason(f"the text says {first} for {name}, the class statement has another value", _AS_LITERAL)
    if structure(text) == structure(statement):
        return None
    for attribute in fields(text):
        one, other = getattr(text, attribute.name), getattr(statement, attribute.name, None)
        if attribute.compare and structure(one) != structure(other):
            message = f"its {attribute.name} are {_shown(one)} in the text, and {_shown(other)} in the class statement"
            return Reason(message, "write bases and class keywords out, at the top level of the file")
    return Reason("the text and the class statement differ", "write the class at the top level of the file")


def _of_fields(text: FieldDecl | ModuleField, statement: FieldDecl | ModuleField) -> Reason:
    """In what two declarations of a field differ."""
    first, second = _kind(text), _kind(statement)
    if first != second:
        help = _BY_NAME if isinstance(text, FieldDecl) else "write the specifier itself on the right of the field"
        return Reason(f"the text says that {text.name} is {first}, in the class statement it is {second}", help)
    if isinstance(text, SubmoduleDecl) and isinstance(statement, SubmoduleDecl):
        argument = _other_argument(text.arguments, statement.arguments)
        if argument is not None:
            shown = argument.value.text if isinstance(argument.value, Value) else "of the text"
            said = f"the text does not tell that the argument {shown} of {text.name} is a string or a submodule"
            return Reason(said, _AS_LITERAL)
    for attribute in fields(text):
        one, other = getattr(text, attribute.name), getattr(statement, attribute.name, None)
        if attribute.compare and structure(one) != structure(other):
            said = f"the text says {_shown(one)} for {attribute.name} of {text.name}, the class statement has {_shown(other)}"
            return Reason(said, _BY_NAME if isinstance(text, FieldDecl) else _AS_LITERAL)
    return Reason(f"{text.name} differs", _AS_LITERAL)


def _other_argument(text: tuple[Argument, ...], statement: tuple[Argument, ...]) -> Argument | None:
    """The first argument of a child that the two have in different ways."""
    for one, other in zip(text, statement, strict=False):
        if structure(one) == structure(other):
            continue
        if isinstance(one.value, SpecifierCall) and isinstance(other.value, SpecifierCall):
            return _other_argument(one.value.arguments, other.value.arguments)
        return one
    return None


def _kind(field: FieldDecl | ModuleField) -> str:
    """What a field is, in words."""
    match field:
        case FieldDecl(kind=FieldKind.NESTED):
            kind = f"a nested {field.nested}"
        case FieldDecl(kind=FieldKind.COLLECTION):
            kind = f"a {field.nested} of tensordict"
        case FieldDecl(container=str(container)):
            kind = f"a {container} of tensors"
        case FieldDecl():
            kind = _plain_kind(field.kind)
        case ParameterDecl():
            return "a parameter"
        case BufferDecl():
            return "a buffer"
        case SubmoduleDecl():
            return "a submodule"
        case VirtualDecl():
            return "a virtual tensor"
        case DerivedDecl():
            return "a derived value"
        case ConfigDecl():
            return "a constructor argument"
    return f"{kind} or None" if field.optional else kind


def _plain_kind(kind: FieldKind) -> str:
    """What a field of a kind is, where the kind says it all."""
    match kind:
        case FieldKind.TENSOR:
            return "a tensor"
        case FieldKind.NUMBER:
            return "a number that becomes a tensor"
        case FieldKind.NESTED:
            return "a nested object"
        case FieldKind.COLLECTION:
            return "a TensorDict"
        case FieldKind.STATIC:
            return "a Python value for the whole batch"
        case FieldKind.PER_ITEM:
            return "a Python value for each item"


def _values(field: FieldDecl | ModuleField) -> tuple[str, ...]:
    """What is written of the values of a field, in the order of its attributes; empty strings for those that are not literals."""
    found: list[str] = []
    for value in _all_values(field):
        found.append(value.literal or "")
    return tuple(found)


def _all_values(field: FieldDecl | ModuleField) -> Iterator[Value]:
    match field:
        case FieldDecl(default=Default(value=value)) | ConfigDecl(default=Default(value=value)):
            yield value
        case SubmoduleDecl(arguments=arguments):
            nested = SpecifierCall("", arguments).nested
            yield from (argument.value for argument in nested if isinstance(argument.value, Value))


def _shown(value: object) -> str:
    """How a message shows a value of a declaration."""
    match value:
        case None | ():
            return "nothing"
        case frozenset():
            return ", ".join(sorted(map(str, value))) or "nothing"
        case str() | bool() | int():
            return repr(value)
        case Default():
            return value.value.text or "a default"
    return str(structure(value))
