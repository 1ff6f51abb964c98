"""A dimension uses a name that is not a config field.

The constructor computes sizes from its own arguments, which are the fields with a plain annotation. Any other name, such as that
of a parameter, a buffer or a global variable, would raise NameError there, and a config field that is not an integer would raise
TypeError when the tensor is created.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..common.suggestions import did_you_mean
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    DimError,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    Value,
    dim_names,
)
from ..model.diagnostics import Diagnostic, Kind
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

_NO_SIZES = frozenset(
    f"builtins.{name}" for name in ("str", "bytes", "float", "complex", "list", "dict", "tuple", "set")
)


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    declared = {field.name: field for field in context.declaration.fields}
    for field in context.module_fields:
        for argument in _arguments(field, context):
            names = frozenset[str]() if isinstance(argument.value, DimError | Value) else dim_names(argument.value)
            for name in sorted(names):
                problem = _problem(name, declared)
                if problem is not None:
                    message, help = problem
                    if isinstance(field, SubmoduleDecl) and argument.text.strip() == name:
                        help = f"{help}; for a plain string, write const({name!r})"
                    yield Diagnostic(KIND, message, argument.place, help, within=_span(name, argument.text))


def _arguments(field: ModuleField, context: RuleContext) -> tuple[Argument, ...]:
    """The arguments of a specifier: as written in the text, or else those of the declaration."""
    source = context.field_source(field.name)
    if source is not None and source.specifier is not None:
        return source.specifier.arguments
    match field:
        case ParameterDecl() | BufferDecl():
            return tuple(Argument(None, dim) for dim in field.dims)
        case SubmoduleDecl(arguments=arguments, repeat=repeat):
            return arguments if repeat is None else (*arguments, Argument("repeat", repeat))
    return ()


def _problem(name: str, declared: Mapping[str, ModuleField]) -> tuple[str, str] | None:
    """What is wrong with a name in a dimension, and how to fix it."""
    config = [field.name for field in declared.values() if isinstance(field, ConfigDecl)]
    known = (
        f"the config fields are {', '.join(config)}"
        if config
        else "the module has no config fields: add one, such as dim: int"
    )
    found = declared.get(name)
    if isinstance(found, ConfigDecl):
        if found.type.name in _NO_SIZES:
            return f"{name} is not an integer", f"dimensions are integers, but {name} is annotated {found.type.text}"
        return None
    if found is not None:
        return f"{name} is not a config field", f"a dimension can use constructor arguments only; {known}"
    return f"there is no config field {name}", did_you_mean(name, config, known)


def _span(name: str, text: str) -> tuple[int, int] | None:
    found = re.search(rf"\b{re.escape(name)}\b", text)
    return (found.start(), len(name)) if found else None
