"""The record of a class statement that the generator's reader takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import generator
from .declared_children import declared_children
from .statement import Body, ancestors_of, is_nestable, mixins_of, qualified

if TYPE_CHECKING:
    from .generator import ClassStatement, Meaning


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
    """What a name that cannot be looked up yet means: a TensorClass, where the generated class says so."""
    return lambda name: generator.known_tensorclass(name) if body.is_declared_later(name) else None
