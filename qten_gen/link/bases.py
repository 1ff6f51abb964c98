"""Finds the ancestors of classes and their order, and so the classes that are declarations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum

from ..common.suggestions import did_you_mean
from ..model import UNTOLD, ClassSource, SourceFile, TypeExpr, language
from ..model.diagnostics import INCONSISTENT_BASES, UNRESOLVED_BASE, UNTOLD_BY_TEXT, Diagnostic
from ..model.field_kinds import is_tensor
from ..model.foreign_classes import CLASS_MAKERS, OTHER_KINDS, PROTOCOLS
from .names import Names


class Root(Enum):
    """The class that makes its subclasses declarations."""

    TENSORCLASS = language.TENSORCLASS
    MODULE = language.MODULE


ROOTS = {root.value: root for root in Root}


class Ancestry:
    """The bases of all classes of a run, by resolved names."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._mros: dict[str, tuple[str, ...] | None] = {}

    def bases(self, qualified: str) -> tuple[str, ...]:
        """The resolved names of the bases of a class; empty for a class outside the run."""
        found = self._names.class_of(qualified)
        bases = self._names.nested_bases(qualified) or () if found is None else found[1].bases
        return tuple(self._base(base) for base in bases)

    def _base(self, base: TypeExpr) -> str:
        """The resolved name of a base; of one with several names, if all mean the same."""
        name = self._names.resolve(base.name)
        return name if self._names.alternatives(name) is None else self._names.expand(TypeExpr(name)).name

    def mro(self, qualified: str) -> tuple[str, ...]:
        """The class and its ancestors in method resolution order, or depth first if no consistent order exists."""
        return self._linear(qualified, ()) or tuple(self._depth_first(qualified, set()))

    def roots(self, qualified: str) -> frozenset[Root]:
        """The roots among the ancestors of a class, without the class itself."""
        return frozenset(ROOTS[name] for name in self.mro(qualified)[1:] if name in ROOTS)

    def root(self, qualified: str) -> Root | None:
        """The root of a declaration; None for any other class."""
        roots = self.roots(qualified)
        return next((root for root in Root if root in roots), None)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """The diagnostics about the bases of all classes."""
        for file in self._names.files:
            for cls in file.classes:
                for found in self._checked(file, cls):
                    yield replace(found, path=file.path)

    def _linear(self, qualified: str, below: tuple[str, ...]) -> tuple[str, ...] | None:
        """The C3 linearisation; None if it does not exist, or if the class is its own ancestor."""
        if qualified in below:
            return None
        if qualified not in self._mros:
            bases = [base for base in self.bases(qualified) if base]
            orders = [self._linear(base, (*below, qualified)) for base in bases]
            merged = None if None in orders else _merge([*(order for order in orders if order), tuple(bases)])
            self._mros[qualified] = None if merged is None else (qualified, *merged)
        return self._mros[qualified]

    def _depth_first(self, qualified: str, seen: set[str]) -> Iterator[str]:
        if qualified not in seen:
            seen.add(qualified)
            yield qualified
            for base in self.bases(qualified):
                yield from self._depth_first(base, seen)

    def _checked(self, file: SourceFile, cls: ClassSource) -> Iterator[Diagnostic]:
        """Diagnostics for bases that are not defined, and for bases that cannot be combined, without the path."""
        qualified = f"{file.module}.{cls.name}"
        roots = self.roots(qualified)
        for base in cls.bases:
            untold = self._untold(file, cls, base)
            if untold is not None:
                yield untold
            if self._base(base) == UNTOLD:
                continue
            unresolved = self._unresolved(file, cls, base)
            if unresolved is not None:
                yield unresolved
        if roots and self._linear(qualified, ()) is None:
            yield Diagnostic(
                INCONSISTENT_BASES,
                f"the bases of {cls.name} have no consistent order",
                cls.place / "name",
                help="list a class before its own bases, and do not derive a class from itself",
            )
        if roots and (other := self._other_kind(qualified)):
            known = OTHER_KINDS | PROTOCOLS
            kind, name = ("", other) if other in known else ("the dataclass ", other.rpartition(".")[2])
            yield Diagnostic(
                INCONSISTENT_BASES,
                f"{cls.name} derives from {kind}{name}, which a declaration cannot do",
                cls.place / "name",
                help=f"remove {name} from its bases, or declare a field of that type",
            )
        if len(roots) > 1:
            yield Diagnostic(
                INCONSISTENT_BASES,
                f"{cls.name} derives from both TensorClass and Module",
                cls.place / "name",
                help="keep the data in a TensorClass and give the Module a field or an argument of that type",
            )

    def _untold(self, file: SourceFile, cls: ClassSource, base: TypeExpr) -> Diagnostic | None:
        """The diagnostic for a base of which the text does not tell whether it is a declaration."""
        if self._base(base) != UNTOLD:
            return None
        name = self._names.resolve(base.name)
        alternatives = self._names.alternatives(name) or ()
        may_declare = any(self._may_declare(alternative) for alternative in alternatives)
        if not may_declare and not any(field.specifier or _mentions_tensor(field.annotation) for field in cls.fields):
            return None
        why = f"{base.text} is bound in several ways" if len(alternatives) > 1 else f"{base.text} is computed"
        message = f"cannot be told from the text: what {cls.name} derives from, because {why}"
        return Diagnostic(UNTOLD_BY_TEXT, message, base.place, "import or define the base once, without try or if")

    def _may_declare(self, base: TypeExpr) -> bool:
        found = self._names.expand(base).name
        return found in ROOTS or self.root(found) is not None

    def _other_kind(self, qualified: str) -> str | None:
        """The qualified name of an ancestor that cannot be combined with a declaration, such as an Enum; None without one."""
        protocol = next((base for base in self.bases(qualified) if base in PROTOCOLS), None)
        if protocol is not None:
            return protocol
        for name in self.mro(qualified)[1:]:
            found = self._names.class_of(name)
            if name in OTHER_KINDS:
                return name
            if found is not None and any(decorator in CLASS_MAKERS for decorator, _ in found[1].decorators):
                return name
        return None

    def _unresolved(self, file: SourceFile, cls: ClassSource, base: TypeExpr) -> Diagnostic | None:
        """The diagnostic for a base that is not defined. A base outside the run counts as a plain class."""
        resolved = self._names.resolve(base.name)
        if resolved and "." not in resolved:
            if file.has_star_import and not any(field.specifier for field in cls.fields):
                return None
            help = did_you_mean(resolved, sorted(file.names), "import it by name, or define it in this file")
            return Diagnostic(UNRESOLVED_BASE, f"the base {resolved} is not defined in this file", base.place, help)
        located = self._names.locate(resolved)
        if located is None:
            return None
        target, rest = located
        head = rest.partition(".")[0]
        if head in target.names or "__getattr__" in target.names or target.has_star_import:
            return None
        if target.is_package and head != rest:
            return None  # may be in a module of the package that was not read
        help = did_you_mean(head, sorted(target.names), "define it there, or import it from where it is defined")
        return Diagnostic(UNRESOLVED_BASE, f"{target.module} does not define {head}", base.place, help)


def _mentions_tensor(annotation: TypeExpr | None) -> bool:
    """Whether an annotation names a tensor, as those of a declaration do."""
    return annotation is not None and any(is_tensor(TypeExpr(name)) for name in annotation.mentioned)


def _merge(orders: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The C3 merge: repeatedly takes the first head that is not in the tail of another order."""
    merged: list[str] = []
    orders = [order for order in orders if order]
    while orders:
        heads = (order[0] for order in orders)
        head = next((head for head in heads if not any(head in order[1:] for order in orders)), None)
        if head is None:
            return None
        merged.append(head)
        orders = [rest for order in orders if (rest := tuple(name for name in order if name != head))]
    return tuple(merged)
