"""Which generated class belongs to a class statement, and what the class keeps of its declaration.

A fresh class is found by `outright.py`, with nothing of the generator. Otherwise `by_declaration.py` has the
generator's reader make the declaration, and builds what is stale or missing in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from . import freshness, outright
from .declared_class import LaterDeclaration
from .freshness import GeneratedClass
from .statement import Body, mixins_of
from .summary import Summary
from .values import Values, values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration


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


def settle_outright(hooks: Hooks, body: Body, found: GeneratedClass) -> Settled | None:
    """The generated class where it is certainly fresh; None where its declaration has to be read."""
    read = outright.read(body, nests=hooks._nests)
    if read is None or hooks._may_collide(tuple(f.name for f in read.summary.fields), mixins_of(body.bases)):
        return None
    own_values = values_of(body, read.summary)
    values = with_inherited(own_values, read.summary, body.bases)
    if not freshness.is_fresh(found, read.fingerprint, values):
        return None
    later = body._replace(scope=body.scope.kept(read.meanings))

    def declaration() -> Declaration:
        from .describing import describe, known_nested

        return hooks._read_declaration(describe(later, known_nested(later)))

    return Settled(found, read.summary, LaterDeclaration(declaration), own_values, values)
