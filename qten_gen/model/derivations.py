"""The order in which a constructor computes derived values, and checks its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .declarations import ModuleDecl
from .dimensions import Dim, dim_names
from .fields import CheckDecl, DerivedDecl, ModuleField


def derived_values(fields: Iterable[ModuleField]) -> dict[str, DerivedDecl]:
    """The derived values among some fields, by name."""
    return {field.name: field for field in fields if isinstance(field, DerivedDecl)}


def computed(declaration: ModuleDecl) -> Iterator[DerivedDecl | CheckDecl]:
    """The derived values, each after those that it is computed from, and each check as soon as all that it mentions is known.

    So a check of arguments comes before what is computed from them: `heads > 0` before `dim // heads`.
    """
    derived = derived_values(declaration.fields)
    known: set[str] = set()
    waiting = list(declaration.checks)
    for field in in_order(derived):
        for check in [check for check in waiting if _is_known(check.condition, derived, known)]:
            waiting.remove(check)
            yield check
        known.add(field.name)
        yield field
    yield from waiting


def in_order(derived: Mapping[str, DerivedDecl]) -> list[DerivedDecl]:
    """Derived values, each after the values that it is computed from; otherwise in the order in which they are declared."""
    found: dict[str, DerivedDecl] = {}

    def visit(field: DerivedDecl, above: frozenset[str]) -> None:
        for name in sorted(dim_names(field.value) & derived.keys()):
            # `above` ends a circle, which raises at the first construction.
            if name not in found and name not in above:
                visit(derived[name], above | {field.name})
        found.setdefault(field.name, field)

    for field in derived.values():
        visit(field, frozenset())
    return list(found.values())


def _is_known(dim: Dim, derived: Mapping[str, DerivedDecl], known: set[str]) -> bool:
    return dim_names(dim) & derived.keys() <= known
