"""Finds what a Module annotates and its inherited constructor does not set, as `rules.unset_fields` does for text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CodeType

from ..common.class_annotations import class_annotations
from ..model import Declaration, ModuleDecl
from ..model.written_init import is_plain_annotation
from .assigned_attributes import assigned_by, methods_of, sets_any
from .read_class import field_sources
from .statement import ClassStatement

_WITHOUT_FIELDS = ("abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages whose classes set no attribute that a class of the user annotates."""


def unset_fields(statement: ClassStatement, declaration: Declaration) -> tuple[str, ...]:
    """The new fields of a class that no method of the class and its bases sets, if it keeps the constructor of a base."""
    if not isinstance(declaration, ModuleDecl) or not declaration.custom_init or "__init__" in statement.namespace:
        return ()
    own = {source.name for source in field_sources(statement) if is_plain_annotation(source)}
    for namespace in _namespaces(statement) if own else ():
        own -= namespace.keys()
        if namespace is not statement.namespace:
            own -= class_annotations(namespace).keys()
        for function in methods_of(namespace):
            if sets_any(function):
                return ()
            own.difference_update(assigned_by(function), _strings(function.__code__))
    return tuple(field.name for field in declaration.fields if field.name in own)


def _namespaces(statement: ClassStatement) -> Iterator[Mapping[str, object]]:
    """The class body, and those of the bases that are not of a library which sets nothing."""
    yield statement.namespace
    for cls in dict.fromkeys(ancestor for base in statement.bases for ancestor in base.__mro__):
        if cls.__module__.partition(".")[0] not in _WITHOUT_FIELDS and "_fingerprint" not in vars(cls):
            yield vars(cls)


def _strings(code: CodeType) -> Iterator[str]:
    """The strings in a function, which may be names that it registers: `self.register_buffer("mask", mask)`."""
    return (value for value in code.co_consts if isinstance(value, str))
