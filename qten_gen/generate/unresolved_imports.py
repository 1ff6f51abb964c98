"""Reports the classes of a file that depend on modules which cannot be found, or which several files may be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..common.field_kinds import members_of
from ..common.naming import generated_class
from ..model import ClassSource, Declaration, FileDecl, TypeExpr
from ..model.diagnostics import UNRESOLVED_IMPORT, Diagnostic
from ..project.import_graph import SourceGraph
from ..project.output_names import outputs_of
from .readings import Readings

_INSTALL = "run qten-gen where {0} is installed, or set source-roots in [tool.qten-gen] so that it is found"
_RESTORE = "define it there again, or import the class from where it is now; what was generated stays until then"
_EXCLUDE = "leave the copies out with exclude in [tool.qten-gen], or import it under a name that only one of them has"


def unresolved_imports(
    file: FileDecl, readings: Readings, lookups: Iterable[str], existing: Mapping[str, bytes]
) -> list[Diagnostic]:
    """The errors for the classes of a file.

    Args:
        file: The file, as it is linked without these modules.
        readings: The files of the run.
        lookups: The look-ups of its plan.
        existing: The bytes of existing outputs by path.
    """
    graph, path = readings.graph, file.source.path
    modules = frozenset[str]().union(*(graph.unresolved.get(other, ()) for other in graph.files(path, lookups)))
    if not modules:
        return []
    unresolved = _Unresolved(file, modules, existing.get(outputs_of(path)[0], b""), graph)
    declarations = {declaration.name: declaration for declaration in file.declarations}
    ancestors = readings.program(path).ancestry.mro
    found: list[Diagnostic] = []
    for cls in file.source.classes:
        if cls.name in declarations:
            found += unresolved.types_of_fields(declarations[cls.name])
        else:
            bases = ((base, name) for base in cls.bases for name in (base.name, *ancestors(base.name)))
            error = next(unresolved.bases(cls, bases), None)
            found += [] if error is None else [error]  # one for each class
    return found


def was_generated(name: str, generated: bytes) -> bool:
    """True if a generated module has a class for the one of this name."""
    return re.search(rb"(?m)^class %s\b" % re.escape(generated_class(name).encode()), generated) is not None


class _Unresolved(NamedTuple):
    """The modules that a file depends on and that cannot be found."""

    file: FileDecl
    modules: Collection[str]
    generated: bytes
    """The module that was generated for the file before, which shows what was a declaration then."""
    graph: SourceGraph

    def bases(self, cls: ClassSource, bases: Iterable[tuple[TypeExpr, str]]) -> Iterator[Diagnostic]:
        """The errors for a class that may be a declaration, by its bases, each with the name of an ancestor that it leads to.

        A class may be one if it uses specifiers, if something was generated for it, or if a base declares something in one of
        the files that its module may be.
        """
        may_be_declared = was_generated(cls.name, self.generated) or any(
            field.specifier and not field.specifier.of_dataclasses for field in cls.fields
        )
        for base, name in bases:
            module = self._module_of(name)
            if module and (may_be_declared or self._places(module)):
                problem, help = self._problem(module)
                message = f"the module {module} of the base {name.rpartition('.')[2]} {problem}"
                message = f"{message}, so it is not known whether {cls.name} is a declaration"
                yield Diagnostic(UNRESOLVED_IMPORT, message, base.place, help, path=self.file.source.path)

    def types_of_fields(self, declaration: Declaration) -> Iterator[Diagnostic]:
        """The errors for fields whose class was a TensorClass or Module when the file was generated, or may be one."""
        for field in declaration.fields:
            for member in members_of(field.type):
                module = self._module_of(member.name)
                last = member.name.rpartition(".")[2]
                # `_nested` of a generated class holds `.base:Point`.
                if module and (f":{last}".encode() in self.generated or self._places(module)):
                    problem, help = self._problem(module)
                    message = f"the module {module} of {last}, the type of {field.name}, {problem}"
                    path = self.file.source.path
                    yield Diagnostic(UNRESOLVED_IMPORT, message, declaration.place, help, path=path)

    def _module_of(self, name: str) -> str:
        """The module that a qualified name is in, if that is one of these; otherwise empty."""
        parts = name.split(".")
        starts = (".".join(parts[:end]) for end in range(1, len(parts)))
        return next((start for start in starts if start in self.modules), "")

    def _places(self, module: str) -> list[str]:
        """The files that a module may be, if it or a module below it declares something."""
        graph = self.graph
        below = (path for path, origin in graph.origins.items() if f"{origin.module}.".startswith(f"{module}."))
        return graph.modules.places(module) if any(graph.scans[path].mentions for path in below) else []

    def _problem(self, module: str) -> tuple[str, str]:
        """Why it is not known which file a module is, and how to fix it."""
        places = self._places(module)
        if places:
            return f"is found in several places, {' and '.join(places[:3])}", _EXCLUDE
        package, dot, _ = module.partition(".")
        is_own = dot and package == self.file.source.module.partition(".")[0]
        return "cannot be found", _RESTORE if is_own else _INSTALL.format(package)
