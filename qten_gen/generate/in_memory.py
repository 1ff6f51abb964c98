"""Generates a class in a running program, if no file was generated for its declaration.

The runtime imports this module by name, when such a class is declared. It uses the same templates and rules as the command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ..common.module_names import absolute
from ..link import link
from ..link.import_context import import_contexts
from ..model import Declaration, ImportContext, SourceFile, TensorClassDecl
from ..model.diagnostics import DeclarationError
from ..read.module import NO_CONTEXT, read
from ..rules import check_declaration
from ..rules.context import Project
from .render import render_class


def render(declaration: Declaration, parents: Mapping[str, Declaration]) -> str:
    """Generate the Python code of one class. `parents` are its declared ancestors by qualified name.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    refuse_mistakes(declaration, parents)
    return render_class(declaration)


def refuse_mistakes(declaration: Declaration, parents: Mapping[str, Declaration]) -> None:
    """Check a declaration by the rules. `parents` are its declared ancestors by qualified name.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    findings = [item for item in check_declaration(declaration, Project(parents)) if item.is_error]
    if findings:
        raise DeclarationError.of(declaration.name, findings)


def is_tensorclass(name: str, texts: Mapping[str, str]) -> bool:
    """Whether a qualified name is a TensorClass. It reads the text of the module that defines it, without importing it.

    `texts` has the text of modules that are not to be looked for.
    """
    module, _, cls = name.rpartition(".")
    return cls in _tensorclasses(module, texts.get(module))


@lru_cache(maxsize=64)
def _tensorclasses(module: str, text: str | None) -> frozenset[str]:
    """The names of the TensorClasses that a module declares. `text` is what it says, where that is known."""
    given = {} if text is None else {module: text.encode()}
    files = tuple(_with_bases(module, given))
    contexts = import_contexts(files, {file.path: _bytes(file, given) for file in files})
    linked, _ = link(
        [_read(file.module, given, contexts[file.path]) or file if file.path in contexts else file for file in files]
    )
    own = [d for file in linked if file.source.module == module for d in file.declarations]
    return frozenset(d.name for d in own if isinstance(d, TensorClassDecl))


def _bytes(file: SourceFile, given: Mapping[str, bytes]) -> bytes:
    return given[file.module] if file.module in given else Path(file.path).read_bytes()


def _with_bases(module: str, given: Mapping[str, bytes]) -> Iterator[SourceFile]:
    """The source of a module, and of the modules of its package that bases of its classes may come from, also indirectly."""
    waiting, seen = [module], {module}
    while waiting:
        source = _read(waiting.pop(), given)
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


def _read(module: str, given: Mapping[str, bytes], around: ImportContext = NO_CONTEXT) -> SourceFile | None:
    if module in given:
        is_package = hasattr(sys.modules.get(module), "__path__")
        return read(given[module], f"<{module}>", module, is_package, around)[0]
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    is_package = spec.submodule_search_locations is not None
    return read(Path(spec.origin).read_bytes(), spec.origin, module, is_package, around)[0]
