"""A dimension uses a name that is not a config field.

The constructor computes sizes from its own arguments, which are the fields with a plain annotation. Any other name, such as
that of a parameter, a buffer or a global variable, would raise NameError there, and a config field that is not an integer, or
that may be None, would raise TypeError when the tensor is created.

An argument of a submodule can also be the name of a config field of any type, which passes its value: `submodule(nn.Dropout,
"rate")` for `rate: float`. Among the arguments of a submodule with `repeat` or `keys`, `index` is the position of each child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    Dim,
    DimError,
    ModuleDecl,
    ModuleField,
    Name,
    ParameterDecl,
    SpecifierCall,
    SubmoduleDecl,
    Value,
    declares,
    dim_names,
    is_several,
    language,
)
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import members_of
from .context import RuleContext

KIND = Kind("QG302", "unknown-dimension")

GOOD = """
from qten_gen import Module, param
from torch import nn


class Project(Module):
    dim: int
    weight: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)
"""

BAD = """
from qten_gen import Module, param
from torch import nn


class Project(Module):
    dim: int
    weight: nn.Parameter = param("3*dmi", "dim", initializer=nn.init.xavier_uniform_)
                                    ^^^
"""

_NO_NUMBERS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "builtins": ("str", "bytes", "list", "dict", "tuple", "set", "frozenset"),
        "typing": ("List", "Dict", "Tuple", "Sequence", "Mapping", "Callable"),
        "collections.abc": ("Sequence", "Mapping", "Callable"),
    }.items()
    for name in names
)
_NO_SIZES = _NO_NUMBERS | {"builtins.float", "builtins.complex"}


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    declared = {field.name: field for field in context.declaration.fields}
    yield from _index_is_a_field(context, context.declaration)
    for field in context.module_fields:
        for argument, has_index in _located(field, context):
            if isinstance(argument.value, DimError | Value | SpecifierCall):
                continue
            for name in sorted(dim_names(argument.value)):
                is_argument = isinstance(field, SubmoduleDecl) and argument.keyword != language.REPEAT
                if name == language.INDEX and has_index:
                    continue  # the position of each child; see `_index_is_a_field`
                is_certain = getattr(field, "when", None) is None
                problem = _problem(name, argument.value, declared, is_argument, is_certain)
                if problem is not None:
                    message, help = problem
                    if is_argument and argument.text.strip() == name:
                        help = f"{help}; for a plain string, write const({name!r})"
                    yield Diagnostic(KIND, message, argument.place, help, within=_span(name, argument.text))


def _index_is_a_field(context: RuleContext, declaration: ModuleDecl) -> Iterator[Diagnostic]:
    """Whether `index` means two things: a config field, and the position of a repeated child, in the class or a base."""
    if not any(isinstance(field, ConfigDecl) and field.name == language.INDEX for field in declaration.fields):
        return
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl) and field.has_positions and field.mentions_index:
            message = f"index is the position of each child of {field.name}, and also a config field"
            place = context.value_place(field.name) if declares(declaration, field) else context.name_place
            yield Diagnostic(KIND, message, place, "rename the config field")


def _located(field: ModuleField, context: RuleContext) -> Iterator[tuple[Argument, bool]]:
    """The arguments of a specifier, and whether each is evaluated for one of several, which has an index."""
    if not isinstance(field, SubmoduleDecl):
        several = isinstance(field, ParameterDecl) and field.is_several
        for argument in arguments_of(field, context):
            yield argument, several and argument.keyword != language.REPEAT
        return
    source = context.field_source(field.name)
    if source is not None and source.specifier is not None:
        yield from _walk(source.specifier, False)
        return
    if field.repeat is not None:
        yield Argument(language.REPEAT, field.repeat), False
    yield from _walk(field.call, field.is_repeated)


def _walk(call: SpecifierCall, has_index: bool) -> Iterator[tuple[Argument, bool]]:
    """The arguments of a child and of those among them. Conditions are left to their own rule."""
    inside = has_index or is_several(call)
    for argument in call.arguments:
        if argument.keyword == language.REPEAT:
            yield argument, has_index
        elif isinstance(argument.value, SpecifierCall):
            yield from _walk(argument.value, inside)
        elif argument.keyword != "when":
            yield _decided(argument), inside


def _decided(argument: Argument) -> Argument:
    """An argument; for a choice, the expression that decides."""
    value = argument.value
    if not isinstance(value, Value) or value.choice is None or value.choice.selector is None:
        return argument
    return Argument(argument.keyword, value.choice.selector, value.choice.place, value.choice.text)


def arguments_of(field: ModuleField, context: RuleContext) -> tuple[Argument, ...]:
    """The arguments of a specifier: as written in the text, or else those of the declaration."""
    source = context.field_source(field.name)
    if source is not None and source.specifier is not None:
        return tuple(map(_decided, source.specifier.nested))
    match field:
        case ParameterDecl() | BufferDecl():
            dims = tuple(Argument(None, dim) for dim in field.dims)
            repeat = field.repeat if isinstance(field, ParameterDecl) else None
            return dims if repeat is None else (*dims, Argument("repeat", repeat))
        case SubmoduleDecl(repeat=repeat):
            nested = tuple(map(_decided, field.call.nested))
            return nested if repeat is None else (*nested, Argument("repeat", repeat))
    return ()


def _problem(
    name: str, dim: Dim, declared: Mapping[str, ModuleField], is_argument: bool, is_certain: bool
) -> tuple[str, str] | None:
    """What is wrong with a name in a dimension, or in an argument of a child, and how to fix it.

    A condition makes a dimension uncertain: then a name may be None where the field does not exist.
    """
    config = [field.name for field in declared.values() if isinstance(field, ConfigDecl)]
    known = (
        f"the config fields are {', '.join(config)}"
        if config
        else "the module has no config fields: add one, such as dim: int"
    )
    found = declared.get(name)
    if isinstance(found, ConfigDecl):
        if is_argument and dim == Name(name):
            return None  # the value of the field, whatever it is
        types = {member.name for member in members_of(found.type)}
        if is_argument and types & _NO_NUMBERS:
            return f"{name} is not a number", f"{name} is annotated {found.type.text}: pass it alone, as {name!r}"
        if not is_argument and types & _NO_SIZES:
            return f"{name} is not an integer", f"dimensions are integers, but {name} is annotated {found.type.text}"
        if is_certain and "None" in types:
            help = f'write {name}: int, or when="..." with a config field that says whether there is one'
            return f"{name} may be None", help
        return None
    if name == language.INDEX and is_argument and found is None:
        help = 'add repeat="depth", for a config field depth that says how many; or declare a config field index'
        return "index is the position of a repeated child, and there is a single child", help
    if found is not None:
        return f"{name} is not a config field", f"a dimension can use constructor arguments only; {known}"
    return f"there is no config field {name}", did_you_mean(name, config, known)


def _span(name: str, text: str) -> tuple[int, int] | None:
    found = re.search(rf"\b{re.escape(name)}\b", text)
    return (found.start(), len(name)) if found else None
