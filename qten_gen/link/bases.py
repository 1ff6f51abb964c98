"""Finds the ancestors of classes and their order, and so the classes that are declarations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from enum import Enum
from typing import NamedTuple

from .. import __all__ as PUBLIC_NAMES
from ..common.field_kinds import is_tensor
from ..common.records import replace
from ..common.suggestions import did_you_mean
from ..model import DYNAMIC, ClassSource, SourceFile, TypeExpr, language
from ..model.diagnostics import (
    DYNAMIC_DECLARATION,
    INCONSISTENT_BASES,
    UNKNOWN_TYPE,
    UNRESOLVED_BASE,
    Diagnostic,
    Kind,
)
from ..model.foreign_classes import CLASS_MAKERS, OTHER_KINDS, PROTOCOLS
from .lookups import Lookups, Results, remembered
from .name_resolution import Names


class Root(Enum):
    """The class that makes its subclasses declarations."""

    TENSORCLASS = language.TENSORCLASS
    MODULE = language.MODULE


ROOTS = {**{root.value: root for root in Root}, language.SIZED: Root.TENSORCLASS, language.OPEN_MODULE: Root.MODULE}


class _Order(NamedTuple):
    """The ancestors of a class, itself included."""

    mro: tuple[str, ...]
    is_consistent: bool
    roots: frozenset[Root]


class Ancestry:
    """The bases of all classes of a run, by resolved names."""

    def __init__(self, names: Names, lookups: Lookups) -> None:
        self._names = names
        self.lookups = lookups
        self._orders: Results[_Order] = {}

    @remembered
    def bases(self, qualified: str) -> tuple[str, ...]:
        """The resolved names of the bases of a class; empty for a class outside the run."""
        found = self._names.class_of(qualified)
        bases = self._names.nested_bases(qualified) or () if found is None else found[1].bases
        return tuple(map(self.base, bases))

    def base(self, base: TypeExpr) -> str:
        """The resolved name of a base: of one with several names, if all mean the same, and of the class in `Pair[str]`."""
        name = self._names.resolve(base.name)
        return name if self._names.class_of(name) is not None else self._names.expand(TypeExpr(name)).name

    def mro(self, qualified: str) -> tuple[str, ...]:
        """The class and its ancestors in method resolution order, or depth first if no consistent order exists."""
        return self._order(qualified).mro

    def is_consistent(self, qualified: str) -> bool:
        """True if a class and all its ancestors have a method resolution order."""
        return self._order(qualified).is_consistent

    def roots(self, qualified: str) -> frozenset[Root]:
        """The roots among the ancestors of a class, without the class itself."""
        return self._order(qualified).roots

    def root(self, qualified: str) -> Root | None:
        """The root of a declaration; None for any other class."""
        roots = self.roots(qualified)
        return next((root for root in Root if root in roots), None)

    def diagnostics(self, file: SourceFile) -> Iterator[Diagnostic]:
        """The diagnostics about the bases of the classes in a file."""
        for cls in file.classes:
            qualified = f"{file.module}.{cls.qualname}"
            roots = self.roots(qualified)
            for found in (*self._unknown_names(file, cls, roots), *self._combined(cls, qualified, roots)):
                yield replace(found, path=file.path)

    def _order(self, qualified: str) -> _Order:
        """The order of a class. The orders of its ancestors are computed first, without recursion, as there may be hundreds."""
        if qualified not in self._orders:
            entered: set[str] = set()
            waiting = [qualified]
            while waiting:
                current = waiting[-1]
                # A base that is no name, such as a literal, has an empty one.
                missing = [base for base in self.bases(current) if base and base not in self._orders]
                # Back at a class that was entered, its ancestors have an order, or it is in a cycle with one of them.
                if current not in entered and missing:
                    entered.add(current)
                    waiting += [base for base in missing if base not in entered]
                else:
                    waiting.pop()
                    if current not in self._orders:
                        self.lookups.once(self._orders, current, self._ordered)
        # Counts the look-ups of the order for the caller.
        return self.lookups.once(self._orders, qualified, self._ordered)

    def _ordered(self, qualified: str) -> _Order:
        """The order of a class, merged from the orders of its bases. One without an order is its own ancestor."""
        bases = [base for base in self.bases(qualified) if base]
        known = [self._orders.get(base) for base in bases]
        orders = []
        # Not by `once`: of a class in a cycle, that would compute the order of a base for ever.
        for found in known:
            if found is not None:
                self.lookups.add(found[1])
                orders.append(found[0])
        merged = None
        if len(orders) == len(known) and all(order.is_consistent for order in orders):
            merged = orders[0].mro if len(orders) == 1 else _merge([*(order.mro for order in orders), tuple(bases)])
        mro = tuple(self._depth_first(qualified)) if merged is None else (qualified, *merged)
        roots = frozenset(ROOTS[name] for name in mro[1:] if name in ROOTS)
        return _Order(mro, merged is not None, roots)

    def _depth_first(self, qualified: str) -> Iterator[str]:
        seen: set[str] = set()
        waiting = [qualified]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                yield current
                waiting += reversed(self.bases(current))

    def _unknown_names(self, file: SourceFile, cls: ClassSource, roots: Collection[Root]) -> Iterator[Diagnostic]:
        """Diagnostics for bases and annotations that are not defined, or known only at run time; without the path."""
        if cls.unpacked and not roots and _looks_declared(cls):
            message = f"the bases of {cls.name} are known only at run time, because they are unpacked"
            yield Diagnostic(DYNAMIC_DECLARATION, message, cls.unpacked[0], "write them out")
        annotations = [field.annotation for field in cls.fields if roots and field.annotation is not None]
        for type in (part for annotation in annotations for part in annotation.parts):
            undefined = self._undefined(UNKNOWN_TYPE, file, type)
            if undefined is not None:
                yield undefined
        for base in cls.bases:
            dynamic = self._dynamic(file, cls, base)
            if dynamic is not None:
                yield dynamic
            if self.base(base) == DYNAMIC:
                continue
            unresolved = self._unresolved(file, cls, base)
            if unresolved is not None:
                yield unresolved

    def _combined(self, cls: ClassSource, qualified: str, roots: Collection[Root]) -> Iterator[Diagnostic]:
        """Diagnostics for the bases of a declaration that cannot be combined, without the path."""
        if roots and not self.is_consistent(qualified):
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
                f"{cls.name} is a declaration, so it cannot derive from {kind}{name}",
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

    def _dynamic(self, file: SourceFile, cls: ClassSource, base: TypeExpr) -> Diagnostic | None:
        """The diagnostic for a base that may be a declaration, which only the program knows."""
        if self.base(base) != DYNAMIC:
            return None
        name = self._names.resolve(base.name)
        alternatives = self._names.alternatives(name) or ()
        # `decorated(Net)` is a Net, perhaps; `type(Net)` is a metaclass.
        mentioned = (TypeExpr(f"{file.module}.{name}") for name in base.names if "type" not in base.names)
        may_declare = any(self._may_declare(alternative) for alternative in (*alternatives, *mentioned))
        # Computed bases of plain classes are common, and no concern of a declaration.
        if not may_declare and not _looks_declared(cls):
            return None
        why = f"{base.text} is bound in several ways" if len(alternatives) > 1 else f"{base.text} is computed"
        message = f"the base of {cls.name} is known only at run time, because {why}"
        help = "import or define the base once, without a call, try or if"
        return Diagnostic(DYNAMIC_DECLARATION, message, base.place, help)

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
        if resolved and "." not in resolved:  # a name that nothing binds has no module
            # A star import may bind it. A class with specifiers is meant as a declaration, whose base has to be known.
            if file.has_star_import and not any(field.specifier for field in cls.fields):
                return None
            help = did_you_mean(resolved, sorted(file.names), "import it by name, or define it in this file")
            if f"qten_gen.{resolved}" in ROOTS:
                help = f"write: from qten_gen import {resolved}"
            return Diagnostic(UNRESOLVED_BASE, f"the base {resolved} is not defined in this file", base.place, help)
        return self._undefined(UNRESOLVED_BASE, file, base)

    def _undefined(self, kind: Kind, file: SourceFile, type: TypeExpr) -> Diagnostic | None:
        """The diagnostic for a name that its module does not define, as far as the run has it, or qten-gen."""
        head, _, rest = type.text.strip("'\"").partition("[")[0].partition(".")
        imported = file.imports.get(head)
        located = self._names.locate(self._names.resolve(type.name))
        if imported is not None and imported.module == language.PACKAGE:
            module, known, name = language.PACKAGE, frozenset(PUBLIC_NAMES), imported.name or rest
        elif located is not None:
            target, rest = located
            module, known, name = target.module, target.names, rest.partition(".")[0]
            # A package has names of modules too, which were perhaps not read.
            if "__getattr__" in known or target.has_star_import or (target.is_package and name != rest):
                return None
        else:
            return None
        if name in known or not name.isidentifier():
            return None
        help = did_you_mean(name, sorted(known), "define it there, or import it from where it is defined")
        return Diagnostic(kind, f"{module} does not define {name}", type.place, help)


def _looks_declared(cls: ClassSource) -> bool:
    """True if a class has fields that something may be generated for."""
    if any(decorator in CLASS_MAKERS for decorator, _ in cls.decorators):  # which no declaration is
        return False
    has_init = any(method.name == "__init__" for method in cls.methods)  # for which nothing would be generated
    return any(field.specifier or (_mentions_tensor(field.annotation) and not has_init) for field in cls.fields)


def _mentions_tensor(annotation: TypeExpr | None) -> bool:
    """True if an annotation names a tensor, as in a declaration."""
    return annotation is not None and any(is_tensor(TypeExpr(name)) for name in annotation.mentioned)


def _merge(orders: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The C3 merge: repeatedly takes the first head that is not in the tail of another order; None if there is no such head."""
    orders = [order for order in orders if order]
    # Counted, not searched: a class may have hundreds of ancestors.
    in_tails = Counter(name for order in orders for name in order[1:])
    positions = [0] * len(orders)
    merged: list[str] = []
    while True:
        heads = [order[at] for order, at in zip(orders, positions, strict=True) if at < len(order)]
        if not heads:
            return tuple(merged)
        head = next((head for head in heads if not in_tails[head]), None)
        if head is None:
            return None
        merged.append(head)
        for index, order in enumerate(orders):
            at = positions[index]
            if at < len(order) and order[at] == head:
                positions[index] = at + 1
                if at + 1 < len(order):
                    in_tails[order[at + 1]] -= 1
