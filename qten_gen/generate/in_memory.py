"""Generates a class in a running program, if no file was generated for its declaration.

The runtime imports this module by name, when such a class is declared. It uses the same templates and rules as the command.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ..common.module_names import absolute
from ..link import link
from ..link.import_context import import_contexts
from ..model import Declaration, ImportContext, SourceFile, TensorClassDecl
from ..model.diagnostics import DeclarationError
from ..read.module import NO_CONTEXT, read
from ..reflection import ClassStatement, field_sources
from ..rules import check_declaration
from ..rules.context import Project
from .render import render_class


def render(declaration: Declaration, statement: ClassStatement) -> str:
    """Generate the Python code of the class that a statement declares.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    check(declaration, statement)
    return render_class(declaration)


def check(declaration: Declaration, statement: ClassStatement) -> None:
    """Check the declaration that a class statement makes.

    Raises:
        DeclarationError: it breaks a rule; the message lists all findings.
    """
    project = Project(dict(statement.parents), nested=statement.declared)
    findings = [item for item in check_declaration(declaration, project, field_sources(statement)) if item.is_error]
    if findings:
        raise DeclarationError.of(declaration.name, findings)


def is_tensorclass(name: str) -> bool:
    """Whether a qualified name is a TensorClass. It reads the text of the module that defines it, without importing it."""
    module, _, cls = name.rpartition(".")
    return cls in _tensorclasses(module)


@lru_cache(maxsize=64)
def _tensorclasses(module: str) -> frozenset[str]:
    files = tuple(_with_bases(module))
    contexts = import_contexts(files, {file.path: Path(file.path).read_bytes() for file in files})
    linked, _ = link(
        [_read(file.module, contexts[file.path]) or file if file.path in contexts else file for file in files]
    )
    own = [d for file in linked if file.source.module == module for d in file.declarations]
    return frozenset(d.name for d in own if isinstance(d, TensorClassDecl))


def _with_bases(module: str) -> Iterator[SourceFile]:
    """The source of a module, and of the modules of its package that bases of its classes may come from, also indirectly."""
    waiting, seen = [module], {module}
    while waiting:
        source = _read(waiting.pop())
        if source is not None:
            yield source
            found = {name for name in _modules_of_bases(source) if name.partition(".")[0] == module.partition(".")[0]}
            waiting.extend(found - seen)
            seen |= found


def _modules_of_bases(source: SourceFile) -> Iterator[str]:
    """The modules that bases of classes are imported from; for a file without classes, which may reexport bases, all imports."""
    heads = {name.partition(".")[0] for cls in source.classes for base in cls.bases for name in base.names}
    written = [imported.module for name, imported in source.imports.items() if name in heads or not source.classes]
    for module in (*written, *source.star_imports):
        yield absolute(module, source.module, source.is_package)


def _read(module: str, around: ImportContext = NO_CONTEXT) -> SourceFile | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    is_package = spec.submodule_search_locations is not None
    return read(Path(spec.origin).read_bytes(), spec.origin, module, is_package, around)[0]
