"""Generates a class in a running program, if no file was generated for its declaration.

The runtime imports this module by name, when such a class is declared. It uses the same templates and rules as the command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..common.module_names import absolute
from ..link import program_of
from ..link.import_context import Asked
from ..link.program import Reading
from ..model import Declaration, ImportContext, SourceFile, TensorClassDecl
from ..model.diagnostics import DeclarationError
from ..read.module import read
from ..rules import check_declaration
from ..rules.context import Project, RunningStatement
from .render import render_class


def render(declaration: Declaration, project: Project, statement: RunningStatement) -> str:
    """Generate the Python code of one class. `project` and `statement` are what the rules know beside the declaration.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    refuse(declaration, project, statement)
    return render_class(declaration)


def refuse(declaration: Declaration, project: Project, statement: RunningStatement) -> None:
    """Check a declaration.

    Raises:
        DeclarationError: it breaks a rule; the message lists all findings.
    """
    findings = [item for item in check_declaration(declaration, project, statement) if item.is_error]
    if findings:
        raise DeclarationError.of(declaration.name, findings)


class OwnText(NamedTuple):
    """The text of the module that runs: of a script or a notebook, where nobody could find it by the name of the module."""

    module: str
    path: str
    text: str


def is_tensorclass(name: str, own: OwnText | None = None) -> bool:
    """Whether a qualified name is a TensorClass. It reads the text of the module that defines it, without importing it."""
    module, _, cls = name.rpartition(".")
    return cls in _tensorclasses(module, own)


@lru_cache(maxsize=64)
def _tensorclasses(module: str, own: OwnText | None) -> frozenset[str]:
    linked = program_of(_with_bases(module, own)).linked(module)
    declared = linked[0].declarations if linked is not None else ()
    return frozenset(d.name for d in declared if isinstance(d, TensorClassDecl))


def _with_bases(module: str, own: OwnText | None) -> Iterator[Reading]:
    """The source of a module, and of the modules that bases of its classes may come from, also indirectly."""
    waiting, seen = [module], {module}
    while waiting:
        reading = _read(waiting.pop(), own)
        if reading is not None:
            yield reading
            modules = _modules_of_bases(reading.file)
            found = {name for name in modules if name.partition(".")[0] not in _WITHOUT_DECLARATIONS}
            waiting.extend(found - seen)
            seen |= found


def _modules_of_bases(source: SourceFile) -> Iterator[str]:
    """The modules that bases of classes are imported from; for a file without classes, which may reexport bases, all imports."""
    heads = {name.partition(".")[0] for cls in source.classes for base in cls.bases for name in base.names}
    written = [imported.module for name, imported in source.imports.items() if name in heads or not source.classes]
    for module in (*written, *source.star_imports):
        yield absolute(module, source.module, source.is_package)


_WITHOUT_DECLARATIONS = frozenset({*sys.stdlib_module_names, "jaxtyping", "numpy", "qten_gen", "tensordict", "torch"})
"""Packages in which no base of a TensorClass is declared."""


def _read(module: str, own: OwnText | None) -> Reading | None:
    path, found = _path(module, own), _bytes(module, own)
    if path is None or found is None:
        return None
    is_package, asked = Path(path).name == "__init__.py", Asked()
    file = read(found, path, module, is_package, ImportContext(asked))[0]
    return Reading(file, asked.names, lambda context: read(found, path, module, is_package, context)[0])


def _bytes(module: str, own: OwnText | None) -> bytes | None:
    if own is not None and module == own.module:
        return own.text.encode()
    path = _path(module, own)
    return None if path is None else Path(path).read_bytes()


def _path(module: str, own: OwnText | None) -> str | None:
    """The file of a module; None if there is none with Python source."""
    if own is not None and module == own.module:
        return own.path
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec is not None and spec.origin is not None and spec.origin.endswith(".py") else None
