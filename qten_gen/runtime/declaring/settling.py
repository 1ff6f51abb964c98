"""Which generated class belongs to a class statement, and what the class keeps of its declaration.

A fresh class is found by `outright.py`, with nothing of the generator. Otherwise the generator's reader makes the declaration;
what is stale or missing is built in memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from . import freshness, generator, in_memory, loading, outright
from .declared_class import LaterDeclaration, known_declaration
from .freshness import GeneratedClass, NoGeneratedClass
from .statement import Body, describe, mixins_of
from .summary import Summary, of_declaration
from .values import Values, values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration, Meaning


class Hooks(Protocol):
    """What the metaclasses of TensorClass and Module do differently."""

    _nests: bool

    @staticmethod
    def _read_declaration(statement: ClassStatement, /) -> Declaration:
        """What the statement declares."""
        ...

    @staticmethod
    def _is_doubtful(statement: ClassStatement, declaration: Declaration, /) -> bool:
        """Whether a class with fresh generated code has to be checked again, for what the command may not have seen."""
        ...

    @staticmethod
    def _may_collide(fields: tuple[str, ...], mixins: tuple[tuple[type, bool], ...], /) -> bool:
        """Whether a base without a declaration may use a name that the fields need."""
        ...


class Settled(NamedTuple):
    """The generated class of a statement, and what the finished class keeps of its declaration."""

    generated: GeneratedClass
    summary: Summary
    declaration: LaterDeclaration
    own_values: Values
    values: Values
    """With those of inherited fields."""


def settle(hooks: Hooks, body: Body, found: GeneratedClass | NoGeneratedClass) -> Settled:
    """The generated class to use for a statement for which `found` was generated.

    Raises:
        NotGeneratedError: there is none that is fresh, and building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    fresh = _outright(hooks, body, found) if isinstance(found, GeneratedClass) else None
    return fresh or _by_declaration(hooks, body, found)


def _outright(hooks: Hooks, body: Body, found: GeneratedClass) -> Settled | None:
    """The generated class where it is certainly fresh."""
    read = outright.read(body, nests=hooks._nests)
    if read is None or hooks._may_collide(tuple(f.name for f in read.summary.fields), mixins_of(body.bases)):
        return None
    own_values = values_of(body, read.summary)
    values = with_inherited(own_values, read.summary, body.bases)
    if not freshness.is_fresh(found, read.fingerprint, values):
        return None
    later = body._replace(scope=body.scope.kept(read.meanings))
    declaration = LaterDeclaration(lambda: hooks._read_declaration(describe(later, known_nested(later))))
    return Settled(found, read.summary, declaration, own_values, values)


def _by_declaration(hooks: Hooks, body: Body, found: GeneratedClass | NoGeneratedClass) -> Settled:
    """The generated class where it has the fingerprint of the declaration, or one that is built in memory."""
    statement = describe(body, known_nested(body))
    declaration = hooks._read_declaration(statement)

    def informed() -> tuple[Declaration, ClassStatement]:
        """The declaration and its statement with names that do not exist yet, looked up in the text."""
        explained = dataclasses.replace(statement, elsewhere=in_memory.meaning_in_source(body.module, body.scope))
        return hooks._read_declaration(explained), explained

    compared = found
    if isinstance(found, GeneratedClass):
        if hooks._is_doubtful(statement, declaration):
            generator.refuse_informed(declaration, statement, informed, loading.real_name(body.module), body.scope)
        compared = _compared(found, body, declaration, statement)
    if not isinstance(compared, GeneratedClass):
        # The text may be what the command saw, too.
        declaration, statement = informed()
        compared = _compared(found, body, declaration, statement) if isinstance(found, GeneratedClass) else found
    if not isinstance(compared, GeneratedClass):
        compared = in_memory.build(declaration, statement, compared, body.scope)
    summary = of_declaration(declaration, statement.classes)
    own_values = values_of(body, summary)
    values = with_inherited(own_values, summary, body.bases)
    return Settled(compared, summary, known_declaration(declaration), own_values, values)


def _compared(
    found: GeneratedClass, body: Body, declaration: Declaration, statement: ClassStatement
) -> GeneratedClass | NoGeneratedClass:
    summary = of_declaration(declaration, statement.classes)
    return freshness.compare(found, declaration, with_inherited(values_of(body, summary), summary, body.bases))


def known_nested(body: Body) -> Callable[[str], Meaning | None]:
    """What a name that cannot be looked up yet means: a TensorClass, where the generated class says so."""
    return lambda name: generator.known_tensorclass(name) if body.is_declared_later(name) else None
