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
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from ...model.source import Registered, RegisteredKind
from ...read.bindings import Function, dotted, statements
from ...read.own_state import registered_state
from ...read.signatures import positional_parameters
from .library_modules import Source, Sources, defined_names, imported_module

_TRANSPARENT = frozenset(
    "torch._jit_internal._overload_method torch._jit_internal._copy_to_script_wrapper torch._jit_internal.unused "
    "torch._jit_internal.ignore torch.jit.unused torch.jit.ignore torch.jit.export torch.jit.interface".split()
)
"""Decorators without annotations that return what they are given. They would hide the annotations of the function."""


def copied(source: Source, stubbed: Collection[str], classes: ModuleClasses) -> list[ast.stmt]:
    """The statements of the stub of a module.

    Args:
        source: The module.
        stubbed: The names of the modules that stubs are written for.
        classes: The changes in classes, and where other modules are found.
    """
    body = list(_Copy(source, stubbed, classes).block(_without_docstring(source.tree.body), top=True))
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in body)
    return [*body[:start], *(_OPEN_PACKAGE if source.file.is_package else ()), *body[start:]]


_OPEN_PACKAGE = ast.parse("__path__ = __import__('pkgutil').extend_path(__path__, __name__)").body
"""The statement that ty and pyrefly look for in a package before they look for its modules in a second folder."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """The copy of one module."""

    source: Source
    stubbed: Collection[str]
    classes: ModuleClasses

    def block(self, body: list[ast.stmt], *, top: bool) -> Iterator[ast.stmt]:
        """The copies of the statements of a block."""
        # A stub must not have the implementation of overloads.
        overloaded = {node.name for node in body if isinstance(node, Function) and _is_overload(node)}
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from self._import(node)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    if node.name not in overloaded or _is_overload(node):
                        yield self._function(node)
                case ast.ClassDef():
                    body = list(self.block(_without_docstring(node.body), top=False)) or _nothing()
                    changed = _with(node, body=body)
                    if top:
                        self.classes.change(self.source, changed)
                    yield changed
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    continue
                case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
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
        return self.source.scope.resolve(dotted(function) or "") in _TRANSPARENT

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
        """The statements that stand for an import in the stub."""
        if isinstance(node, ast.Import):
            yield ast.Import([_shown(alias) if "." not in alias.name else alias for alias in node.names])
            return
        if node.module == "__future__":
            yield node
            return
        own, target = self.source.file, imported_module(node, self.source.file)
        names: list[ast.alias] = []
        for alias in node.names:
            name = f"{target}.{alias.name}"
            if self._is_submodule_elsewhere(name, target):
                yield _submodule(name, alias.asname or alias.name)
            else:
                names.append(_shown(alias))
        if names and node.level and target in self.stubbed:
            yield ast.ImportFrom(node.module, names, node.level)
        elif names:
            # `from .serialization import save` in a package makes `serialization` its attribute too.
            name, scope = target.removeprefix(f"{own.name}."), self.source.scope
            taken = "." in name or name in scope.bound or name in scope.imports
            if node.level == 1 and own.is_package and node.module and not taken:
                yield _submodule(target, name)
            yield ast.ImportFrom(target, names, 0)

    def _is_submodule_elsewhere(self, name: str, target: str) -> bool:
        """True for a name imported from a package with a stub that is one of its modules, and has none."""
        sources = self.classes.sources
        if target not in self.stubbed or name in self.stubbed or name.endswith(".*") or not sources.installed.has(name):
            return False
        package = sources.find(target)
        return package is None or name.rpartition(".")[2] not in package.scope.bound


def _shown(alias: ast.alias) -> ast.alias:
    """The alias that others can import from the stub."""
    return alias if alias.name == "*" or alias.asname else ast.alias(alias.name, alias.name)


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
    return ast.If(ast.parse("_types.MYPY", mode="eval").body, [for_mypy], others)


_Node = TypeVar("_Node", bound=ast.AST)


def _with(node: _Node, **changes: object) -> _Node:
    """A node with other parts. What is read of a library stays as it was, because other modules ask about its classes."""
    changed = copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _is_overload(node: Function) -> bool:
    """True for a function that is decorated with `overload`."""
    return any((dotted(one) or "").rpartition(".")[2] == "overload" for one in node.decorator_list)


def _is_read(node: Function) -> bool:
    """True if checkers read the body: the result is not annotated, or an attribute of `self` is assigned."""
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


_MODULE = "torch.nn.modules.module.Module"

ANY = "_types.Any"
_TENSORS = {RegisteredKind.PARAMETER: "_types.Parameter", RegisteredKind.BUFFER: "_types.Tensor"}

_CALL = """\
__call__: _ClassVar[_types.Call]
register_forward_hook: _ClassVar[_types.ForwardHook]
register_forward_pre_hook: _ClassVar[_types.ForwardPreHook]
register_full_backward_hook: _ClassVar[_types.BackwardHook]
register_full_backward_pre_hook: _ClassVar[_types.BackwardPreHook]"""
"""The lines of a class whose `forward` says its result. A descriptor looks at the `forward` of the object."""

_ANY_CALL = "__call__: _types.AnyCall"
"""The line of a class that overrides a `forward` with one that does not say its result."""


@dataclass(frozen=True, slots=True)
class ModuleClasses:
    """The classes of libraries that derive from nn.Module: what differs in their copies.

    A call has the signature of `forward`, where the library annotates its result. Parameters and buffers that are registered by
    name get their types, with None or Any where one can be missing. Hooks get the class and the result of `forward`.

    What a container of torch.nn holds is a type parameter, and a Sequential has the result of its last module. They stay usable
    without a subscript, since their type parameters have defaults. What is in a container that nobody described is Any, as it is
    without stubs: attributes of a Module are `Tensor | Module`, so Module would make errors of calls that are right. At run time
    they take no subscript, so one belongs into an annotation that is not evaluated: `blocks: "nn.ModuleList[Block]"`.
    """

    sources: Sources
    absent: str = ANY
    """The other type of a tensor that an argument of the constructor switches off: None, or Any, which needs no check."""

    def change(self, source: Source, node: ast.ClassDef) -> None:
        """Give the copy of a class its exact types, if it is a module."""
        qualified = f"{source.file.name}.{node.name}"
        if qualified == _MODULE or not self._is_module(source, node):
            return
        if qualified in _containers():
            _change_container(_containers()[qualified], node)
        original = source.classes[node.name]
        added = [*self._registered(source, original), *self._calls(source, original)]
        if added:
            placeholder = ast.Expr, ast.Constant
            body = [item for item in node.body if (type(item), type(getattr(item, "value", None))) != placeholder]
            node.body = [*ast.parse("\n".join(added)).body, *body]

    def _is_module(self, source: Source, node: ast.ClassDef) -> bool:
        found = (f"{one.file.name}.{cls.name}" for one, cls in self.sources.ancestors(source, node))
        return _MODULE in found or _MODULE in self.sources.bases(source, node)

    def _calls(self, source: Source, node: ast.ClassDef) -> Iterator[str]:
        """The lines that type calls and hooks. What a base class says holds for classes without a `forward` of their own."""
        if "__call__" in defined_names(node.body):
            return
        says = _says_result(node.body)
        above = next(
            (said for _, cls in self.sources.ancestors(source, node) if (said := _says(cls)) is not None), None
        )
        if says and not above:
            yield _CALL
        elif says is False and above:
            yield _ANY_CALL

    def _registered(self, source: Source, node: ast.ClassDef) -> Iterator[str]:
        """The lines for registered tensors that a checker does not see, or sees without None."""
        groups: dict[str, list[Registered]] = {}
        for each in registered_state(node.body, source.scope):
            groups.setdefault(each.name, []).append(each)
        found = {
            name: type for name, group in groups.items() if name.isidentifier() and (type := _type(group, self.absent))
        }
        if found:
            above = (cls for _, cls in [(source, node), *self.sources.ancestors(source, node)])
            known = {name for cls in above for name in _annotated(cls)}
            yield from (f"{name}: {type}" for name, type in found.items() if name not in known)


def _type(group: Iterable[Registered], absent: str) -> str | None:
    """The type of a registered tensor; None where a checker sees it too, or where the text does not tell."""
    group = tuple(group)
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    may_be_none = any(each.may_be_none for each in group)
    by_name = any(each.by_name for each in group)
    if not kinds or not kinds <= _TENSORS.keys() or not by_name:
        return None
    type = _TENSORS[kinds.pop()] if len(kinds) == 1 else _TENSORS[RegisteredKind.BUFFER]
    return f"{type} | {absent}" if may_be_none else type


def _says(node: ast.ClassDef) -> bool | None:
    """True for a class whose calls are typed by `forward`, False if they are not, None where it says nothing of them."""
    return False if "__call__" in defined_names(node.body) else _says_result(node.body)


def _says_result(body: Iterable[ast.stmt]) -> bool | None:
    """True if the `forward` of a class annotates its result; None without a `forward`."""
    functions = [node for node in statements(body) if isinstance(node, Function) and node.name == "forward"]
    deciding = [node for node in functions if _is_overload(node)] or functions
    if deciding:
        return all(node.returns is not None for node in deciding)
    return False if "forward" in defined_names(body) else None


@cache
def _annotated(node: ast.ClassDef) -> frozenset[str]:
    """The attributes that the body of a class annotates or defines, or a method annotates."""
    inner = {
        found.target.attr
        for method in statements(node.body)
        if isinstance(method, Function)
        for found in ast.walk(method)
        if isinstance(found, ast.AnnAssign) and isinstance(found.target, ast.Attribute)
    }
    return frozenset(inner | defined_names(node.body))


@cache
def _containers() -> Mapping[str, ast.ClassDef]:
    """The containers by their qualified names, with the methods that differ from the library's."""
    from ...generate.templates import rendered

    classes = ast.parse(rendered("library_containers.pyi.j2")).body
    return {f"torch.nn.modules.container.{cls.name}": cls for cls in classes if isinstance(cls, ast.ClassDef)}


def _change_container(ours: ast.ClassDef, node: ast.ClassDef) -> None:
    """Make the copy of a container generic. Methods that the library has too are replaced."""
    theirs = {method.name for method in node.body if isinstance(method, Function)}
    methods = [item for item in ours.body if not isinstance(item, Function) or item.name in theirs]
    replaced = {item.name for item in methods if isinstance(item, Function)}
    others = [item for item in node.body if not (isinstance(item, Function) and item.name in replaced)]
    node.bases = [*node.bases, *ours.bases]
    node.body = [*methods, *others]
