"""Copies the source of a library as a stub: all that checkers read of it, as the library says it.

Type checkers read stubs as they read sources: annotations, assignments, and the attributes that methods assign to `self`. So
nothing has to be inferred here. Only what they do not read is left out: docstrings, comments, and the bodies of functions that
say what they return and assign no attribute.

Imports are rewritten, so that they mean in a stub, below another folder, what they mean in the source. Three things differ. A
stub hides what it imports, unless it says `as` with the same name. A relative import is looked for beside the stub, by some
checkers nowhere else. And where `torch` has a stub and `optim` has none, `from torch import optim` is an attribute for some
checkers: `import torch.optim as optim` finds the library's own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from copy import copy
from typing import TypeVar

from ...read.bound_names import dotted
from ...read.signatures import Function, positional_parameters
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


ClassChange = Callable[[ast.ClassDef], None]
"""Changes the copy of a class in place: its bases and its body."""

_TRANSPARENT = frozenset(
    "torch._jit_internal._overload_method torch._jit_internal._copy_to_script_wrapper torch._jit_internal.unused "
    "torch._jit_internal.ignore torch.jit.unused torch.jit.ignore torch.jit.export torch.jit.interface".split()
)
"""Decorators without annotations that return what they are given. They would hide the annotations of the function."""


def copied(
    source: Source, stubbed: Collection[str], sources: Sources, change: ClassChange, keeps_package_open: bool
) -> list[ast.stmt]:
    """The statements of the stub.

    Args:
        source: The module.
        stubbed: The names of the modules that stubs are written for.
        sources: Where other modules are found.
        change: Called for each top-level class.
        keeps_package_open: Whether to say that other modules of this package are found elsewhere.
    """
    copying = _Copy(source, stubbed, sources, change)
    body = list(copying.block(_without_docstring(source.tree.body), top=True))
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in body)
    return [*body[:start], *(_OPEN_PACKAGE if keeps_package_open else ()), *body[start:]]


_OPEN_PACKAGE = ast.parse("__path__ = __import__('pkgutil').extend_path(__path__, __name__)").body
"""The statement that ty and pyrefly look for in a package before they look for its modules in a second folder."""


class _Copy:
    """The copy of one module."""

    def __init__(self, source: Source, stubbed: Collection[str], sources: Sources, change: ClassChange) -> None:
        self._source = source
        self._stubbed = stubbed
        self._sources = sources
        self._change = change

    def block(self, body: list[ast.stmt], *, top: bool) -> Iterator[ast.stmt]:
        """The copies of the statements of a block."""
        implemented = _overloaded(body)
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from rewritten(node, self._source, self._stubbed, self._sources)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    if node.name not in implemented or is_overload(node):
                        yield self._function(node)
                case ast.ClassDef():
                    body = list(self.block(_without_docstring(node.body), top=False)) or _nothing()
                    changed = _with(node, body=body)
                    if top:
                        self._change(changed)
                    yield changed
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    continue
                case ast.If(test=test) if _is_main(test):
                    continue
                case _:
                    yield self._with_inner_blocks(node, top)

    def _with_inner_blocks(self, node: ast.stmt, top: bool) -> ast.stmt:
        """A statement with the copies of the blocks in it; as it is where it has none."""
        changes: dict[str, object] = {}
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if inner:
                changes[name] = list(self.block(inner, top=top)) or _nothing()
        handlers = getattr(node, "handlers", None)
        if handlers:
            changes["handlers"] = [
                _with(each, body=list(self.block(each.body, top=top)) or _nothing()) for each in handlers
            ]
        return _with(node, **changes) if changes else node

    def _function(self, node: Function) -> Function:
        decorators = [one for one in node.decorator_list if not self._is_transparent(one)]
        body = (_without_docstring(node.body) or _nothing()) if _is_read(node) else _nothing()
        return _with(node, decorator_list=decorators, body=body)

    def _is_transparent(self, decorator: ast.expr) -> bool:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._source.scope.resolve(dotted(function) or "") in _TRANSPARENT


_Node = TypeVar("_Node", bound=ast.AST)


def _with(node: _Node, **changes: object) -> _Node:
    """A node with other parts. What is read of a library stays as it was, because other modules ask about its classes."""
    changed = copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def is_overload(node: Function) -> bool:
    """Whether a function is decorated with `overload`."""
    return any((dotted(one) or "").rpartition(".")[2] == "overload" for one in node.decorator_list)


def _overloaded(body: list[ast.stmt]) -> frozenset[str]:
    """The functions of a block that have overloads, whose implementation a stub must not have."""
    return frozenset(node.name for node in body if isinstance(node, Function) and is_overload(node))


def _is_read(node: Function) -> bool:
    """Whether checkers read the body: the result is not annotated, or an attribute of `self` is assigned."""
    if node.returns is None and node.name != "__init__":
        return True
    first = next((parameter.arg for parameter in positional_parameters(node)), None)
    return any(
        isinstance(inner, ast.Attribute)
        and isinstance(inner.ctx, ast.Store)
        and isinstance(inner.value, ast.Name)
        and inner.value.id == first
        for inner in ast.walk(node)
    )


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def _nothing() -> list[ast.stmt]:
    return [ast.Expr(ast.Constant(...))]


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and dotted(test.left) == "__name__"
