"""The generator for a running program: classes whose declaration no file was generated for.

The runtime reaches it by name, only when such a class is declared; it shares templates and rules with the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .diagnostics import DeclarationError
from .link import link
from .model import Declaration, TensorClassDecl
from .read.module import read
from .render import render_class
from .rules import check_declaration
from .rules.subject import Project


def render(declaration: Declaration, parents: Mapping[str, Declaration]) -> str:
    """The generated Python of one class; `parents` are its declared ancestors by qualified name.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    findings = [finding for finding in check_declaration(declaration, Project(parents)) if finding.severity == "error"]
    if findings:
        raise DeclarationError.of(declaration.name, findings)
    return render_class(declaration)


def is_tensorclass(name: str) -> bool:
    """Whether a qualified name is a TensorClass, from the text of the module that defines it; nothing is imported."""
    module, _, cls = name.rpartition(".")
    return cls in _tensorclasses(module)


@lru_cache(maxsize=64)
def _tensorclasses(module: str) -> frozenset[str]:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return frozenset()
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return frozenset()
    source, _ = read(Path(spec.origin).read_bytes(), spec.origin, module, spec.submodule_search_locations is not None)
    files, _ = link([source])
    return frozenset(d.name for file in files for d in file.declarations if isinstance(d, TensorClassDecl))
