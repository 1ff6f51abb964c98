"""Finds the bases of a declaration that declare nothing, among the classes of a run. `reflection.mixins` does it at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ClassSource, Declaration, MethodSource, Mixin
from ..model.foreign_classes import PROTOCOLS

_ABSTRACT = "abc.abstractmethod"


def mixins_of(declaration: Declaration, classes: Mapping[str, ClassSource]) -> Iterator[Mixin]:
    """The mixins among the bases of a declaration, and their own bases, as far as the run contains them."""
    is_first = True
    for base in declaration.bases:
        is_first = is_first and not base.declared and not base.name.startswith("qten_gen.")
        if not base.declared:
            yield from _lineage(base.name, classes, is_first, set())


def _lineage(name: str, classes: Mapping[str, ClassSource], is_first: bool, seen: set[str]) -> Iterator[Mixin]:
    """A plain base class and its own bases, as far as they stand in this file; each of them once."""
    source = classes.get(name)
    if source is None or name in seen:
        return
    seen.add(name)
    methods = {method.name for method in source.methods}
    bound = methods.union(source.attributes, (f.name for f in source.fields if f.value or f.specifier))
    is_protocol = any(base.name in PROTOCOLS for base in source.bases)
    abstract = bound if is_protocol else {method.name for method in source.methods if _is_abstract(method)}
    yield Mixin(source.name, frozenset(bound), frozenset(abstract), is_first)
    for base in source.bases:
        yield from _lineage(base.name, classes, is_first, seen)


def _is_abstract(method: MethodSource) -> bool:
    return any(decorator == _ABSTRACT or decorator.startswith("abc.abstract") for decorator in method.decorators)
