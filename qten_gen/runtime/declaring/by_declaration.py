"""The generated class of a statement that is unusual, stale or has none: by the declaration that the generator's reader makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from . import freshness, generator, in_memory, loading
from .declared_class import known_declaration
from .describing import describe, known_nested
from .freshness import GeneratedClass, NoGeneratedClass
from .kept_facts import FieldSummary, Row, Summary
from .outright import DeclaringMetaclass, Settled
from .statement import Body
from .statement_values import values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration, FieldDecl, Meaning, ModuleField


def settle(metaclass: DeclaringMetaclass, body: Body, found: GeneratedClass | NoGeneratedClass) -> Settled:
    """The generated class where it has the fingerprint of the declaration, or one that is built in memory.

    Raises:
        NotGeneratedError: there is none that is fresh, and building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    statement = describe(body, _meaning_of_later(body))
    declaration = metaclass._read_declaration(statement)
    compared = found
    if isinstance(found, GeneratedClass):
        # The command checked what the text says, and not the objects that the names in it mean here.
        generator.refuse(declaration, statement, loading.real_name(body.module), body.scope)
        compared = _compared(found, body, declaration, statement)
    if not isinstance(compared, GeneratedClass):
        compared = in_memory.build(declaration, statement, compared, body.scope)
    summary = of_declaration(declaration, statement.classes)
    own_values = values_of(body, summary)
    values = with_inherited(own_values, summary, body.bases)
    return Settled(compared, summary, known_declaration(declaration), own_values, values)


def _meaning_of_later(body: Body) -> Callable[[str], Meaning | None]:
    """The meaning of a name that cannot be looked up yet: from the text or, without a text, from the generated class."""
    in_text, in_generated = in_memory.meaning_in_source(body.module, body.scope), known_nested(body)
    return lambda name: in_text(name) or in_generated(name)


def _compared(
    found: GeneratedClass, body: Body, declaration: Declaration, statement: ClassStatement
) -> GeneratedClass | NoGeneratedClass:
    """The generated class, if it is the one that the declaration gives, and why it cannot be used otherwise."""
    summary = of_declaration(declaration, statement.classes)
    values = with_inherited(values_of(body, summary), summary, body.bases)
    if freshness.is_fresh(found, generator.fingerprint(declaration), values):
        return found
    reason = f"{declaration.name} changed after {loading.plain_name(found.modules[0].__name__)} was generated"
    return NoGeneratedClass(reason, found.modules)


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
    """The summary of a field; what its kind of field does not have is empty."""

    def given(name: str) -> object:
        return getattr(field, name, None)

    kind = given("kind")
    nested = given("nested")
    named = next((name for name in field.type.mentioned if name.rpartition(".")[2] == nested), "")
    is_made = getattr(kind, "value", "") == "collection" and named.partition(".")[0] != "tensordict"
    return FieldSummary(
        field.name,
        field.owner,
        row,
        annotation=field.type.text,
        kind=getattr(kind, "value", ""),
        optional=bool(given("optional")),
        nested=_text(nested),
        cast=_text(given("cast")),
        dims=_text(given("dims")),
        dtype=_text(given("dtype")),
        unbatched=bool(given("unbatched")),
        container=_text(given("container")),
        kw_only=bool(given("kw_only")),
        argument=_text(given("argument")),
        alias=_text(given("alias")),
        tie=_text(given("tie")),
        group=_text(given("group")),
        keep_dtype=bool(given("keep_dtype")),
        tensordict_class=named if is_made else "",
        nested_class=classes.get(named),
    )


def _text(found: object) -> str | None:
    return found if isinstance(found, str) else None
