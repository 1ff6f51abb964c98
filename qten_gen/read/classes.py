"""Reads class statements into the source layer of the model."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator

from ..common.language import PACKAGE, VIRTUAL
from ..common.records import replace
from ..model import (
    ClassSource,
    ConditionalSource,
    FieldSource,
    MethodSource,
    NodePath,
    Signature,
    SpecifierCall,
    TypeExpr,
    Value,
)
from .annotations import type_expr, type_parameter_names, type_parameters, with_inner
from .bindings import (
    ANNOTATIONS,
    BLOCK,
    FUTURE_ANNOTATIONS,
    Function,
    bound_names,
    dotted,
    imported_names,
    inside,
    string_value,
    suites,
    touched,
)
from .dotted_names import Scope
from .own_state import changes, mentions, registered_later, registered_state
from .signatures import docstring, method, positional_parameters, text_of_string
from .values import called, check_call, keywords, plain_value, positional, specifier, value

_NO_FIELDS = ("typing.ClassVar", "typing_extensions.ClassVar")

_HIDES_ABOVE = sys.version_info >= (3, 14)
"""True if annotations are evaluated when the class body has bound all its names."""

_CONSTRUCTORS = ("__init__", "__post_init__", "__attrs_post_init__")
"""Methods whose changes are read in classes without bases too."""

Statement = tuple[ast.stmt, NodePath]
InnerClass = tuple[ast.ClassDef, NodePath, str, Scope]


def class_source(
    node: ast.ClassDef, place: NodePath, scope: Scope, outer: str = "", around: Scope | None = None
) -> ClassSource:
    """Read a class statement, which may or may not be a declaration.

    Args:
        node: The statement.
        place: Where it is.
        scope: The names of the file.
        outer: The class around it; empty at the top level.
        around: The names in the body of that class, which its bases, keywords and decorators may use, but not its body.
    """
    body = [(statement, place / "body" / index) for index, statement in enumerate(node.body)]
    scope = with_inner(scope, node, f"{outer}.{node.name}" if outer else node.name)
    # Bases and keywords of an inner class are evaluated in the body around it, without the names of its own.
    head = scope if around is None else replace(around, inner={**around.inner, **_parameters(node, scope)})
    if outer:  # its own name means the class in its annotations, as when it runs
        scope = replace(scope, inner={node.name: f"{outer}.{node.name}", **scope.inner})
    found = class_head(node, place, head, outer)
    fields = dict(_fields(body, scope))
    methods = tuple(_methods(body, scope, has_bases=bool(node.bases), may_share=_may_share(found.bases, scope)))
    blocks = [found for node, where in body if isinstance(node, BLOCK) for found in inside(node, where)]
    return replace(
        found,
        changed=tuple(_changed(body, fields)),
        fields=tuple(fields.values()),
        methods=methods,
        attributes=tuple(name for name in dict.fromkeys(_attributes(body, scope)) if name not in fields),
        values=tuple(_values(body, fields, scope)) if node.bases else (),  # a class without bases is no declaration
        type_parameters=type_parameters(node, scope),
        doc=docstring(node),
        conditional=_conditional([(node, where) for node, where, checking in blocks if not checking], scope),
        for_checkers=_conditional([(node, where) for node, where, checking in blocks if checking], scope),
        registers=registered_state(node.body, scope),
        checks=tuple(_checks(body, scope)),
    )


def class_head(node: ast.ClassDef, place: NodePath, scope: Scope, outer: str = "") -> ClassSource:
    """Read what stands before the body of a class statement, and nothing of the body."""
    arguments = list(positional(node.bases, place / "bases"))
    flags = list(keywords(node.keywords, place / "keywords"))
    return ClassSource(
        name=node.name,
        bases=tuple(type_expr(base.value, base.place, scope, base=True) for base in arguments if not base.star),
        keywords=tuple((flag.keyword, plain_value(flag.value, flag.place, scope)) for flag in flags if flag.keyword),
        unpacked=tuple(argument.place for argument in (*arguments, *flags) if argument.star),
        decorators=tuple(
            (scope.resolve(dotted(called(decorator)) or ""), place / "decorator_list" / index)
            for index, decorator in enumerate(node.decorator_list)
        ),
        place=place,
        outer=outer,
    )


def constructors(node: ast.ClassDef, place: NodePath, scope: Scope) -> Iterator[MethodSource]:
    """The methods of a class that set up its objects, and what they do to these."""
    for index, each in enumerate(node.body):
        if isinstance(each, Function) and each.name in _CONSTRUCTORS:
            source = MethodSource(each.name, Signature("", ""), place=place / "body" / index)
            yield _with_changes(source, each, scope)


def inner_classes(node: ast.ClassDef, place: NodePath, scope: Scope, qualname: str) -> Iterator[InnerClass]:
    """The classes in the body of a class and in their bodies, each with its place, the class around it and the names in that."""
    for index, statement in enumerate(node.body):
        if isinstance(statement, ast.ClassDef):
            where = place / "body" / index
            yield statement, where, qualname, with_inner(scope, node, qualname)
            yield from inner_classes(statement, where, scope, f"{qualname}.{statement.name}")


def _parameters(node: ast.ClassDef, scope: Scope) -> dict[str, str]:
    return {name: scope.inner[name] for name in type_parameter_names(node)}


def _fields(body: list[Statement], scope: Scope) -> Iterator[tuple[str, FieldSource]]:
    """Annotated names and names that a specifier is assigned to. A later statement replaces an earlier one of the same name."""
    annotated: dict[str, FieldSource] = {}
    bound: dict[str, tuple[Value | None, SpecifierCall | None]] = {}
    methods: set[str] = set()
    puts_off = scope.imports.get("annotations") == FUTURE_ANNOTATIONS
    hidden: set[str] = set()
    if _HIDES_ABOVE and not puts_off:
        # Aliases and nested classes stay types to an annotation.
        hidden.update(name for node, _ in body for name in _hidden(node) if name not in scope.inner)
    for index, (node, place) in enumerate(body):
        if isinstance(node, Function) and _takes_self(node):
            methods.add(node.name)
        if not puts_off:
            hidden.update(name for name in _hidden(node) if name not in scope.inner)
        doc = text_of_string(body[index + 1][0]) if index + 1 < len(body) else ""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.simple:
            name = node.target.id
            call = None if node.value is None else specifier(node.value, place / "value", scope)
            if _is_no_field(node.annotation, scope):
                if call is not None:
                    # A mistake, which a rule reports.
                    yield name, FieldSource(name, None, None, call, doc, place, is_class_variable=True)
                continue
            within = replace(scope, hidden=frozenset(hidden)) if hidden else scope
            annotation = type_expr(node.annotation, place / "annotation", within)
            given = None if node.value is None or call else value(node.value, place / "value", scope)
            # An annotation alone leaves the value that an assignment above has given.
            if node.value is not None:
                bound[name] = (given, _by_method(call, methods))
            annotated[name] = FieldSource(name, annotation, *bound.get(name, (None, None)), doc, place)
            yield name, annotated[name]
        elif (assigned := _assigned(node)) is not None:
            call = specifier(assigned, place / "value", scope)
            for name in _targets(node):
                bound[name] = (None if call else value(assigned, place / "value", scope), _by_method(call, methods))
                if name in annotated:
                    yield name, replace(annotated[name], value=bound[name][0], specifier=bound[name][1])
                elif call is not None:
                    yield name, FieldSource(name, None, None, call, doc, place)


def _changed(body: list[Statement], fields: Collection[str]) -> Iterator[tuple[str, NodePath]]:
    """The fields that a class body annotates again, or changes otherwise than by an assignment; `__annotations__` likewise."""
    annotated: set[str] = set()
    for node, place in body:
        if isinstance(node, ast.AnnAssign):
            yield from ((name, place) for name in annotated.intersection(_targets(node), fields))
            annotated.update(_targets(node))
        is_for_checkers = isinstance(node, BLOCK) and any(only for _, _, only in suites(node, place))
        if not is_for_checkers and not isinstance(node, Function):  # a rule reports methods with the name of a field
            names = {*touched(node)} - {*_targets(node)}
            yield from ((name, place) for name in sorted(names & {*fields, ANNOTATIONS}))


def _hidden(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds to a value, which is what they mean in its own annotation too."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) | ast.FunctionDef(name=name):
            yield name
        case ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Assign():
            yield from _targets(node)


def _assigned(node: ast.stmt) -> ast.expr | None:
    """The value of an assignment without an annotation. One of a target in parentheses, `(x): int = 3`, does not count."""
    if isinstance(node, ast.AnnAssign) and node.simple:
        return None
    return node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None


def _targets(node: ast.stmt) -> Iterator[str]:
    """The names that an assignment binds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from bound_names(target)
    elif isinstance(node, ast.AnnAssign):
        yield from bound_names(node.target)


def _takes_self(node: Function) -> bool:
    """True if a function of the body is a method: its first parameter is `self`, or it is a class method."""
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


def _checks(body: list[Statement], scope: Scope) -> Iterator[SpecifierCall]:
    calls = (check_call(node, place, scope) for node, place in body)
    return (call for call in calls if call is not None)


def _conditional(body: list[Statement], scope: Scope) -> ConditionalSource:
    fields = tuple(dict(_fields(body, scope)).values())
    return ConditionalSource(fields, tuple(_methods(body, scope)), tuple(_checks(body, scope)))


def _is_no_field(annotation: ast.expr, scope: Scope) -> bool:
    """True if the annotation is ClassVar, so that the name is not a field."""
    # Only the outermost name counts: parsing all of each annotation twice takes longer.
    if string_value(annotation) is not None:
        return type_expr(annotation, NodePath(), scope).name in _NO_FIELDS
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return scope.resolve(dotted(head) or "") in _NO_FIELDS


def _attributes(body: list[Statement], scope: Scope) -> Iterator[str]:
    """Names that the body binds. Some of them may be fields; the caller removes those."""
    for node, _ in body:
        if _assigned(node) is not None or (isinstance(node, ast.AnnAssign) and _is_no_field(node.annotation, scope)):
            yield from _targets(node)
        elif isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name for name, _ in imported_names(node, False))


def _values(body: list[Statement], fields: Collection[str], scope: Scope) -> Iterator[tuple[str, Value]]:
    """The attributes that are not fields, with values that are not plain constants."""
    for node, place in body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        given = node.value if isinstance(node, ast.Assign) else None  # a ClassVar says that all instances share it
        if not isinstance(target, ast.Name) or target.id in fields or given is None:
            continue
        if not isinstance(given, ast.Constant) or given.value is None:
            yield target.id, value(given, place / "value", scope)


def _may_share(bases: Iterable[TypeExpr], scope: Scope) -> bool:
    """True if virtual tensors of a base, or of a subclass in the same file, may call a method.

    Reading all methods for that would take a third of the time that parsing does.
    """
    is_of_project = any(base.name.partition(".")[0] not in (PACKAGE, "torch") for base in bases)
    return is_of_project or (bool(bases) and scope.resolve("virtual") == VIRTUAL)


def _methods(
    body: list[Statement], scope: Scope, *, has_bases: bool = False, may_share: bool = False
) -> Iterator[MethodSource]:
    found = [(method(node, place, scope), node) for node, place in body if isinstance(node, Function)]
    derives = may_share or any(source.specifier and source.specifier.get("cached") for source, _ in found)
    for source, node in found:
        written = replace(source, reads=mentions(node)) if derives else source
        is_constructor = source.name in _CONSTRUCTORS
        yield _with_changes(written, node, scope) if has_bases or is_constructor else written


def _with_changes(source: MethodSource, node: Function, scope: Scope) -> MethodSource:
    """The method with what it does to its object. The constructors are read in more detail."""
    found = changes(node, source.place, scope)
    if source.name in ("__init__", "__post_init__"):
        later = registered_later(node) if any(change.in_container for change in found) else ()
        return replace(source, changes=found, registers_later=later)
    return replace(source, changes=found) if found else source
