"""Reads class statements into the source layer of the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from inspect import cleandoc
from unicodedata import normalize

import libcst as cst

from ..model import (
    ClassSource,
    ConditionalSource,
    FieldSource,
    MethodSource,
    NodePath,
    SpecifierCall,
    TypeVariable,
    Value,
    union,
)
from .annotations import one_line, string_value, text_of, type_expr
from .blocks import BLOCK, inside
from .data_writes import data_writes
from .imports import bound_names, dotted
from .names import Scope
from .registered_state import registered_state
from .signatures import method
from .values import specifier, value

_NO_FIELDS = ("typing.ClassVar", "typing_extensions.ClassVar")

Statement = tuple[cst.CSTNode, NodePath]


def class_source(node: cst.ClassDef, place: NodePath, scope: Scope) -> ClassSource:
    """Read a class statement, which may or may not be a declaration."""
    body = list(_statements(node.body, place / "body"))
    inner = [name for name, _ in _parameters(node)] + [n.name.value for n, _ in body if isinstance(n, cst.ClassDef)]
    scope = replace(scope, inner={name: f"{node.name.value}.{name}" for name in inner})
    fields = dict(_fields(body, scope))
    blocks = [found for node, where in body if isinstance(node, BLOCK) for found in inside(node, where)]
    methods = tuple(_methods(body, scope))
    return ClassSource(
        name=node.name.value,
        bases=tuple(
            type_expr(arg.value, place / "bases" / index / "value", scope, base=True)
            for index, arg in enumerate(node.bases)
            if not arg.star
        ),
        keywords=tuple(
            (arg.keyword.value, value(arg.value, place / "keywords" / index / "value", scope))
            for index, arg in enumerate(node.keywords)
            if arg.keyword is not None
        ),
        unpacked=tuple(
            place / part / index / "value"
            for part, arguments in (("bases", node.bases), ("keywords", node.keywords))
            for index, arg in enumerate(arguments)
            if arg.star
        ),
        decorators=tuple(
            (scope.resolve(dotted(_called(item.decorator)) or ""), place / "decorators" / index / "decorator")
            for index, item in enumerate(node.decorators)
        ),
        fields=tuple(fields.values()),
        methods=methods,
        attributes=tuple(name for name in dict.fromkeys(_attributes(body, scope)) if name not in fields),
        type_parameters=one_line(text_of(node.type_parameters)) if node.type_parameters else "",
        doc=node.get_docstring() or "",
        place=place,
        conditional=_conditional([(node, where) for node, where, checking in blocks if not checking], scope),
        for_checkers=_conditional([(node, where) for node, where, checking in blocks if checking], scope),
    )


def class_type_variables(node: cst.ClassDef, place: NodePath, scope: Scope) -> dict[str, TypeVariable]:
    """The PEP 695 type parameters of a class, by names such as `Class.T`."""
    where = place / "type_parameters" / "params"
    return {
        f"{node.name.value}.{name}": type_variable(bound, where / index / "param" / "bound", scope)
        for index, (name, bound) in enumerate(_parameters(node))
    }


def type_variable(bound: cst.BaseExpression | None, place: NodePath, scope: Scope) -> TypeVariable:
    """A type variable with this bound, or with constraints if the bound is a tuple."""
    if isinstance(bound, cst.Tuple):
        parts = enumerate(bound.elements)
        return TypeVariable(
            union(tuple(type_expr(part.value, place / "elements" / i / "value", scope) for i, part in parts))
        )
    return TypeVariable(None if bound is None else type_expr(bound, place, scope))


def _parameters(node: cst.ClassDef) -> list[tuple[str, cst.BaseExpression | None]]:
    if node.type_parameters is None:
        return []
    parameters = [item.param for item in node.type_parameters.params]
    return [(p.name.value, p.bound if isinstance(p, cst.TypeVar) else None) for p in parameters]


def _statements(suite: cst.BaseSuite, place: NodePath) -> Iterator[Statement]:
    """The statements of a class body, without those inside blocks such as `if` and `with`."""
    for index, node in enumerate(suite.body):
        if isinstance(node, cst.SimpleStatementLine):
            for position, small in enumerate(node.body):
                yield small, place / "body" / index / "body" / position
        else:
            yield node, place / "body" / index


def _fields(body: list[Statement], scope: Scope) -> Iterator[tuple[str, FieldSource]]:
    """Annotated names and names that a specifier is assigned to. A later statement replaces an earlier one of the same name."""
    annotated: dict[str, FieldSource] = {}
    methods: set[str] = set()
    for index, (node, place) in enumerate(body):
        if isinstance(node, cst.FunctionDef) and _takes_self(node):
            methods.add(node.name.value)
        doc = _doc_of(body[index + 1][0]) if index + 1 < len(body) else ""
        if isinstance(node, cst.AnnAssign) and isinstance(node.target, cst.Name):
            call = None if node.value is None else specifier(node.value, place / "value", scope)
            name = normalize("NFKC", node.target.value)  # as Python does with identifiers
            if _is_no_field(node.annotation.annotation, scope):
                if call is not None:
                    yield name, FieldSource(name, None, None, call, doc, place, is_class_variable=True)
                continue
            annotation = type_expr(node.annotation.annotation, place / "annotation" / "annotation", scope)
            given = None if node.value is None or call else value(node.value, place / "value", scope)
            annotated[name] = FieldSource(name, annotation, given, _by_method(call, methods), doc, place)
            yield name, annotated[name]
        elif isinstance(node, cst.Assign):
            call = specifier(node.value, place / "value", scope)
            for name in (name for target in node.targets for name in bound_names(target.target)):
                if name in annotated:
                    given = None if call else value(node.value, place / "value", scope)
                    yield name, replace(annotated[name], value=given, specifier=_by_method(call, methods))
                elif call is not None:
                    yield name, FieldSource(name, None, None, call, doc, place)


def _takes_self(node: cst.FunctionDef) -> bool:
    """Whether a function of the body is a method: its first parameter is `self`, or it is a class method."""
    decorators = {dotted(_called(item.decorator)) for item in node.decorators}
    positional = [*node.params.posonly_params, *node.params.params]
    is_bound = bool(positional) and positional[0].name.value == "self" and "staticmethod" not in decorators
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


def _called(decorator: cst.BaseExpression) -> cst.BaseExpression:
    """The function of a decorator, with or without a call."""
    return decorator.func if isinstance(decorator, cst.Call) else decorator


def _conditional(body: list[Statement], scope: Scope) -> ConditionalSource:
    return ConditionalSource(tuple(dict(_fields(body, scope)).values()), tuple(_methods(body, scope)))


def _is_no_field(annotation: cst.BaseExpression, scope: Scope) -> bool:
    """Whether the annotation is ClassVar, so that the name is not a field."""
    if isinstance(annotation, cst.SimpleString):
        return type_expr(annotation, NodePath(), scope).name in _NO_FIELDS
    head = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    return scope.resolve(dotted(head) or "") in _NO_FIELDS


def _attributes(body: list[Statement], scope: Scope) -> Iterator[str]:
    """Names that the body binds. Some of them may be fields; the caller removes those."""
    for node, _ in body:
        if isinstance(node, cst.Assign):
            for target in node.targets:
                yield from bound_names(target.target)
        elif isinstance(node, cst.AnnAssign) and _is_no_field(node.annotation.annotation, scope):
            yield from bound_names(node.target)
        elif isinstance(node, cst.ClassDef):
            yield node.name.value


def _methods(body: list[Statement], scope: Scope) -> Iterator[MethodSource]:
    found = [(method(node, place, scope), node) for node, place in body if isinstance(node, cst.FunctionDef)]
    derives = any(source.specifier is not None and source.specifier.get("cached") for source, _ in found)
    for source, node in found:
        written = replace(source, data_writes=data_writes(node, source.place)) if derives else source
        yield replace(written, registers=registered_state(node, scope)) if source.name == "__init__" else written


def _doc_of(node: cst.CSTNode) -> str:
    """The text of a string statement, which documents the field above; empty for another statement."""
    if not isinstance(node, cst.Expr):
        return ""
    text = string_value(node.value)
    return cleandoc(text) if text else ""
