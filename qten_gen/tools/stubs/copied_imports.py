"""Rewrites the imports of a copied module, so that they mean in a stub, below another folder, what they mean in the source.

Three things differ. A stub hides what it imports, unless it says `as` with the same name. A relative import is looked for beside
the stub, by some checkers nowhere else. And where `torch` has a stub and `optim` has none, `from torch import optim` is an
attribute for some checkers: `import torch.optim as optim` finds the library's own.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .library_modules import Source, Sources, imported_module
from .support import TYPES


def rewritten(
    node: ast.Import | ast.ImportFrom, source: Source, stubbed: Collection[str], sources: Sources
) -> Iterator[ast.stmt]:
    """The statements that stand for an import in the stub. `stubbed` are the modules that stubs are written for."""
    if isinstance(node, ast.Import):
        yield ast.Import([_shown(alias) if "." not in alias.name else alias for alias in node.names])
        return
    if node.module == "__future__":
        yield node
        return
    target = imported_module(node, source.file)
    kept: list[ast.alias] = []
    for alias in node.names:
        name = f"{target}.{alias.name}"
        if _is_submodule_elsewhere(name, target, stubbed, sources):
            yield _submodule(name, alias.asname or alias.name)
        else:
            kept.append(_shown(alias))
    if kept and node.level and target in stubbed:
        yield ast.ImportFrom(node.module, kept, node.level)
    elif kept:
        yield from _attribute_of_package(node, target, source)
        yield ast.ImportFrom(target, kept, 0)


def _shown(alias: ast.alias) -> ast.alias:
    """The alias that others can import from the stub."""
    return alias if alias.name == "*" or alias.asname else ast.alias(alias.name, alias.name)


def _is_submodule_elsewhere(name: str, target: str, stubbed: Collection[str], sources: Sources) -> bool:
    """Whether a name imported from a package with a stub is one of its modules, and has none."""
    if target not in stubbed or name in stubbed or name.endswith(".*") or not sources.installed.has(name):
        return False
    package = sources.find(target)
    return package is None or name.rpartition(".")[2] not in package.scope.bound


def _attribute_of_package(node: ast.ImportFrom, target: str, source: Source) -> Iterator[ast.stmt]:
    """The second effect of `from .serialization import save` in a package: `serialization` becomes its attribute."""
    own = source.file
    name = target.removeprefix(f"{own.name}.")
    taken = name in source.scope.bound or name in source.scope.imports
    if node.level == 1 and own.is_package and node.module and "." not in name and not taken:
        yield _submodule(target, name)


def _submodule(name: str, bound: str) -> ast.stmt:
    """Binds a module that has no stub, so that others can import it from here.

    For mypy, `import torch.optim as optim` in a stub is private, and for the others `from torch import optim` is an attribute.
    For pyright, a module that is imported as `_C` is private, and a variable is not.
    """
    package, _, last = name.rpartition(".")
    if bound.startswith("_"):
        variable = f"{bound}_module"
        others: list[ast.stmt] = [ast.Import([ast.alias(name, variable)])]
        others.append(ast.Assign([ast.Name(bound, ast.Store())], ast.Name(variable, ast.Load()), lineno=0))
    else:
        others = [ast.Import([ast.alias(name, bound)])]
    for_mypy = ast.ImportFrom(package, [ast.alias(last, bound)], 0)
    return ast.If(ast.parse(f"{TYPES}.MYPY", mode="eval").body, [for_mypy], others)
