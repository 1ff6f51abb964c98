"""The record of a class statement that the generator's reader takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...common.specifier_records import recorded_call
from . import generator
from .declared_class import DeclaredClass
from .statement import Body, ancestors_of, is_nestable, mixins_of, qualified

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration, Meaning


def describe(body: Body, elsewhere: Callable[[str], Meaning | None]) -> ClassStatement:
    """The record of a class statement that the generator's reader takes."""
    scope = body.scope
    return generator.statement_class()(
        name=body.name,
        module=body.module,
        qualname=body.qualname,
        namespace=body.namespace,
        checks=body.checks,
        annotations=body.annotations,
        bases=body.bases,
        parents=tuple((qualified(parent), parent._declaration) for parent in ancestors_of(body.bases)),
        mixins=mixins_of(body.bases),
        flags=body.flags,
        options=body.keywords.options,
        passed=body.keywords.passed,
        resolve=scope.resolve,
        is_declaration=is_nestable,
        classes={},
        declared=set(),
        import_of=scope.import_of,
        defines=scope.defines,
        elsewhere=elsewhere,
        children=lambda: declared_children(body.namespace),
    )


def known_nested(body: Body) -> Callable[[str], Meaning | None]:
    """The meaning of a name that cannot be looked up yet: a TensorClass, if the generated class says so."""
    return lambda name: generator.known_tensorclass(name) if body.is_declared_later(name) else None


def declared_children(namespace: Mapping[str, object]) -> dict[str, Declaration]:
    """The declarations of the classes among the arguments of specifiers, and of their children's, by qualified name.

    The command knows them from the text. So a rule finds the same in a program.
    """
    found: dict[str, Declaration] = {}
    waiting = [*_classes(namespace.values())]
    while waiting:
        cls = waiting.pop()
        name = f"{cls.__module__}.{cls.__qualname__}"
        if name not in found and "_declared_as" in vars(cls):
            found[name] = cls._declaration
            waiting += _classes(cls._specifiers.values())
    return found


def _classes(values: Iterable[object]) -> Iterator[DeclaredClass]:
    """The declared classes among the arguments of those values that are records of specifiers."""
    for value in values:
        call = recorded_call(value)
        if call is not None:
            yield from _mentioned((*call.args, *call.kwargs.values()))


def _mentioned(arguments: Iterable[object]) -> Iterator[DeclaredClass]:
    """The declared classes among arguments, inside of containers, partials and records too."""
    for argument in arguments:
        if isinstance(argument, DeclaredClass):
            yield argument
        elif isinstance(argument, partial):
            yield from _mentioned((argument.func, *argument.args, *argument.keywords.values()))
        elif isinstance(argument, Mapping):
            yield from _mentioned(argument.values())
        elif isinstance(argument, tuple | list):
            yield from _mentioned(argument)
        else:
            yield from _classes((argument,))
