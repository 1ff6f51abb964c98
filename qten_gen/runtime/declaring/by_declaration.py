"""The class of a statement that is unusual, or whose generated class is stale: by what the generator's reader declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...common.fingerprint_rows import Row, recorded_call
from . import freshness, generator, in_memory, loading
from .declared_class import DeclaredClass, known_declaration
from .freshness import GeneratedClass, NoGeneratedClass, Settled
from .kept_facts import FieldSummary, Summary
from .statement import Body, ancestors_of, is_nestable, mixins_of, qualified
from .statement_values import values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration, FieldDecl, Meaning, ModuleField


def settle(body: Body, found: GeneratedClass | NoGeneratedClass, *, nests: bool) -> Settled:
    """The generated class where it has the fingerprint of the declaration, or one that is built in memory.

    Raises:
        NotGeneratedError: there is none that is fresh, and building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    statement = describe(body, _meaning_of_later(body))
    declaration = generator.read(statement, nests=nests)
    summary = of_declaration(declaration, statement.classes)
    own_values = values_of(body, summary)
    values = with_inherited(own_values, summary, body.bases)
    # Of a generated class, the command checked what the text says, and not the objects that the names in it mean here.
    generator.refuse(declaration, statement, loading.real_name(body.module), body.scope)
    if isinstance(found, GeneratedClass) and not freshness.is_fresh(found, generator.fingerprint(declaration), values):
        reason = f"{declaration.name} changed after {loading.plain_name(found.modules[0].__name__)} was generated"
        found = NoGeneratedClass(reason, found.modules)
    if not isinstance(found, GeneratedClass):
        found = in_memory.build(declaration, found, body.scope)
    return Settled(found, summary, known_declaration(declaration), own_values, values)


def _meaning_of_later(body: Body) -> Callable[[str], Meaning | None]:
    """The meaning of a name that cannot be looked up yet: from the text or, without a text, from the generated class."""
    in_text, in_generated = in_memory.meaning_in_source(body.module, body.scope), known_nested(body)
    return lambda name: in_text(name) or in_generated(name)


def describe(body: Body, elsewhere: Callable[[str], Meaning | None]) -> ClassStatement:
    """The record of a class statement that the generator's reader takes."""
    scope = body.scope
    return generator.ClassStatement(
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
        # Of the class itself: one that a parametrization or FSDP derives declares nothing, and inherits it.
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


def of_declaration(declaration: Declaration, classes: Mapping[str, type]) -> Summary:
    """The summary of a declaration. `classes` has the TensorClasses in the annotations of the statement by qualified name."""
    structure = generator.structure
    checks = getattr(declaration, "checks", ())
    return Summary(
        tuple(_of_field(field, structure(field), classes) for field in declaration.fields),
        declaration.own,
        declaration.custom_init,
        getattr(declaration, "flags", frozenset()),
        checks if isinstance(checks, str) else "on",
        () if isinstance(checks, str) else tuple((check.owner, structure(check)) for check in checks),
    )


def _of_field(field: FieldDecl | ModuleField, row: Row, classes: Mapping[str, type]) -> FieldSummary:
    nested = getattr(field, "nested", None)
    # `nested` is the last part of the name, as generated code writes it.
    named = next((name for name in field.type.mentioned if name.rpartition(".")[2] == nested), "")
    return FieldSummary.of(field.owner, row, field.type.text, classes.get(named))
