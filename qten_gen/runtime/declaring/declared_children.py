"""The declared classes of the children of a module, as the rules know them for a class statement that runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...common.specifier_records import recorded_call
from .declared_class import DeclaredClass

if TYPE_CHECKING:
    from .generator import Declaration


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
