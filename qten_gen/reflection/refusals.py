"""Says whether the rules must look at a class statement even if a fresh generated class exists for it.

The command checks what the text says. It does not know the objects that the names in it mean, and it does not run for each class
statement. So a class can be fresh and contain what a rule refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ConfigDecl, Declaration, ModuleDecl, SpecifierCall, SubmoduleDecl, Value, declares
from ..model.class_body import Argument


def is_doubtful(declaration: Declaration) -> bool:
    """Whether a rule may refuse what it says: a value that instances cannot share, a specifier that declares nothing."""
    if declaration.unannotated:
        return True
    if not isinstance(declaration, ModuleDecl):
        return False
    return any(value.contains or value.mutable for value in _values(declaration))


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
