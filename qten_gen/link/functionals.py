"""Finds the classes with handlers that are not Modules."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FunctionalDecl, SourceFile, language
from .bases import Ancestry
from .declare import Declarations, bound_by
from .names import Names


class Functionals:
    """The Functionals of a run that have a stub: handlers are registered for them, and they are not generic."""

    def __init__(self, names: Names, ancestry: Ancestry, declarations: Declarations) -> None:
        self._names = names
        self._ancestry = ancestry
        self._declarations = declarations

    def of_file(self, file: SourceFile) -> Iterator[FunctionalDecl]:
        """Those of a file, in the order of its classes."""
        found = (self._get(f"{file.module}.{cls.qualname}") for cls in file.classes)
        return (functional for functional in found if functional is not None)

    def _get(self, qualified: str) -> FunctionalDecl | None:
        """The Functional of a resolved name; None for any other class, and for one that has no stub."""
        found = self._names.class_of(qualified)
        mro = self._ancestry.mro(qualified)
        if found is None or language.FUNCTIONAL not in mro or self._ancestry.root(qualified) is not None:
            return None
        file, cls = found
        # A handler of a generic one may give what its variables stand for, which is not known where it is registered.
        if cls.type_parameters or any(base.args for base in cls.bases):
            return None
        handlers = self._declarations.dispatched(qualified)
        if not handlers:
            return None
        bodies = (self._names.class_of(name) for name in mro)
        bound = frozenset[str]().union(*(bound_by(body[1]) for body in bodies if body is not None))
        parents = tuple(base for base in self._ancestry.bases(qualified) if self._get(base) is not None)
        writes = ("__call__" in bound, "invoke" in bound)
        return FunctionalDecl(cls.name, file.module, parents, handlers, cls.doc, *writes)
