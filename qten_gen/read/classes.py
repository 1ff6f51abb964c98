"""Reads class statements into the source layer of the model."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from ..model import (
    ClassSource,
    ConditionalSource,
    FieldSource,
    MethodSource,
    NodePath,
    SpecifierCall,
    Value,
)
from .annotations import string_value, type_expr
from .blocks import BLOCK, inside
from .calls import called, keywords, positional
from .data_writes import data_writes
from .docstrings import docstring, text_of_string
from .imports import bound_names, dotted
from .names import Scope
from .registered_state import registered_state
from .signatures import Function, method, positional_parameters
from .type_variables import type_parameter_names, type_parameters
from .values import specifier, value

_NO_FIELDS = ("typing.ClassVar", "typing_extensions.ClassVar")

Statement = tuple[ast.stmt, NodePath]


def class_source(node: ast.ClassDef, place: NodePath, scope: Scope) -> ClassSource:
    """Read a class statement, which may or may not be a declaration."""
    body = [(statement, place / "body" / index) for index, statement in enumerate(node.body)]
    inner = [*type_parameter_names(node), *(nested.name for nested in node.body if isinstance(nested, ast.ClassDef))]
    scope = replace(scope, inner={name: f"{node.name}.{name}" for name in inner})
    bases = list(positional(node.bases, place / "bases"))
    flags = list(keywords(node.keywords, place / "keywords"))
    fields = dict(_fields(body, scope))
    blocks = [found for node, where in body if isinstance(node, BLOCK) for found in inside(node, where)]
    return ClassSource(
        name=node.name,
        bases=tuple(type_expr(base.value, base.place, scope, base=True) for base in bases if not base.star),
        keywords=tuple((flag.keyword, value(flag.value, flag.place, scope)) for flag in flags if flag.keyword),
        unpacked=tuple(argument.place for argument in (*bases, *flags) if argument.star),
        decorators=tuple(
            (scope.resolve(dotted(called(decorator)) or ""), place / "decorator_list" / index)
            for index, decorator in enumerate(node.decorator_list)
        ),
        fields=tuple(fields.values()),
        methods=tuple(_methods(body, scope)),
        attributes=tuple(name for name in dict.fromkeys(_attributes(body, scope)) if name not in fields),
        type_parameters=type_parameters(node, scope),
        doc=docstring(node),
        place=place,
        conditional=_conditional([(node, where) for node, where, checking in blocks if not checking], scope),
        for_checkers=_conditional([(node, where) for node, where, checking in blocks if checking], scope),
        registers=registered_state(node.body, scope),
    )


def _fields(body: list[Statement], scope: Scope) -> Iterator[tuple[str, FieldSource]]:
    """Annotated names and names that a specifier is assigned to. A later statement replaces an earlier one of the same name."""
    annotated: dict[str, FieldSource] = {}
    methods: set[str] = set()
    for index, (node, place) in enumerate(body):
        if isinstance(node, Function) and _takes_self(node):
            methods.add(node.name)
        doc = text_of_string(body[index + 1][0]) if index + 1 < len(body) else ""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            call = None if node.value is None else specifier(node.value, place / "value", scope)
            if _is_no_field(node.annotation, scope):
                if call is not None:
                    yield name, FieldSource(name, None, None, call, doc, place, is_class_variable=True)
                continue
            annotation = type_expr(node.annotation, place / "annotation", scope)
            given = None if node.value is None or call else value(node.value, place / "value", scope)
            annotated[name] = FieldSource(name, annotation, given, _by_method(call, methods), doc, place)
            yield name, annotated[name]
        elif isinstance(node, ast.Assign):
            call = specifier(node.value, place / "value", scope)
            for name in (name for target in node.targets for name in bound_names(target)):
                if name in annotated:
                    given = None if call else value(node.value, place / "value", scope)
                    yield name, replace(annotated[name], value=given, specifier=_by_method(call, methods))
                elif call is not None:
                    yield name, FieldSource(name, None, None, call, doc, place)


def _takes_self(node: Function) -> bool:
    """Whether a function of the body is a method: its first parameter is `self`, or it is a class method."""
    decorators = {dotted(called(decorator)) for decorator in node.decorator_list}
    parameters = positional_parameters(node)
    is_bound = bool(parameters) and parameters[0].arg == "self" and "staticmethod" not in decorators
    return is_bound or "classmethod" in decorators


def _by_method(call: SpecifierCall | None, methods: Collection[str]) -> SpecifierCall | None:
    """The call, with an initialiser that is a function of the class body above marked as the method that it becomes."""
    if call is None:
        return None
    arguments = tuple(
        replace(argument, value=replace(argument.value, method=argument.value.text))
        if argument.keyword == "initializer" and isinstance(argument.value, Value) and argument.value.text in methods
        else argument
        for argument in call.arguments
    )
    return replace(call, arguments=arguments)


def _conditional(body: list[Statement], scope: Scope) -> ConditionalSource:
    return ConditionalSource(tuple(dict(_fields(body, scope)).values()), tuple(_methods(body, scope)))


def _is_no_field(annotation: ast.expr, scope: Scope) -> bool:
    """Whether the annotation is ClassVar, so that the name is not a field."""
    if string_value(annotation) is not None:
        return type_expr(annotation, NodePath(), scope).name in _NO_FIELDS
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return scope.resolve(dotted(head) or "") in _NO_FIELDS


def _attributes(body: list[Statement], scope: Scope) -> Iterator[str]:
    """Names that the body binds. Some of them may be fields; the caller removes those."""
    for node, _ in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from bound_names(target)
        elif isinstance(node, ast.AnnAssign) and _is_no_field(node.annotation, scope):
            yield from bound_names(node.target)
        elif isinstance(node, ast.ClassDef):
            yield node.name


def _methods(body: list[Statement], scope: Scope) -> Iterator[MethodSource]:
    found = [(method(node, place, scope), node) for node, place in body if isinstance(node, Function)]
    derives = any(source.specifier is not None and source.specifier.get("cached") for source, _ in found)
    for source, node in found:
        yield replace(source, data_writes=data_writes(node, source.place)) if derives else source
