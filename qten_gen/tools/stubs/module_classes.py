"""The changes in the stub of a class that derives from nn.Module.

A call has the signature of `forward`, where the library annotates its result. Parameters and buffers that are registered by name
get their types, with None or Any where one can be missing. Hooks get the class and the result of `forward`.

What a container of torch.nn holds is a type parameter, and a Sequential has the result of its last module. They stay usable
without a subscript, since their type parameters have defaults. What is in a container that nobody described is Any, as without
stubs: attributes of a Module are `Tensor | Module`, so Module would make errors of calls that are right. At run time they take no
subscript, so one belongs into an annotation that is not evaluated: `blocks: "nn.ModuleList[Block]"`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from ...model.registered import Registered, RegisteredKind
from ...read.blocks import statements
from ...read.bound_names import bound_names
from ...read.registered_state import registered_state
from ...read.signatures import Function
from .copying import is_overload
from .library_modules import Source, Sources
from .support import ANY, ANY_CALL, CALL, HOOKS, PARAMETER, TENSOR

MODULE = "torch.nn.modules.module.Module"

_TENSORS = {RegisteredKind.PARAMETER: PARAMETER, RegisteredKind.BUFFER: TENSOR}


@dataclass(slots=True)
class ModuleClasses:
    """The classes of libraries that derive from nn.Module, and what they say of `forward`."""

    sources: Sources
    absent: str = ANY
    """The other type of a tensor that an argument of the constructor switches off: None, or Any, which needs no check."""
    _known: dict[ast.ClassDef, frozenset[str]] = field(default_factory=dict)

    def change(self, source: Source, node: ast.ClassDef) -> None:
        """Give the copy of a class its exact types, if it is a module."""
        qualified = f"{source.file.name}.{node.name}"
        if qualified == MODULE or not self._is_module(source, node):
            return
        if qualified in containers():
            change_container(containers()[qualified], node)
        original = source.classes[node.name]
        added = [*self._registered(source, original), *self._calls(source, original)]
        if added:
            node.body = [*ast.parse("\n".join(added)).body, *_without_placeholder(node.body)]

    def _is_module(self, source: Source, node: ast.ClassDef) -> bool:
        found = (f"{one.file.name}.{cls.name}" for one, cls in self.sources.ancestors(source, node))
        return MODULE in found or MODULE in self.sources.bases(source, node)

    def _calls(self, source: Source, node: ast.ClassDef) -> Iterator[str]:
        """The lines that type calls and hooks. What a base class says holds for classes without a `forward` of their own."""
        if "__call__" in _names(node.body):
            return
        says = _says_result(node.body)
        above = next(
            (said for _, cls in self.sources.ancestors(source, node) if (said := _says(cls)) is not None), None
        )
        if says and not above:
            yield CALL
            yield from HOOKS
        elif says is False and above:
            yield ANY_CALL

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
            known = {name for cls in above for name in self._annotated(cls)}
            yield from (f"{name}: {type}" for name, type in found.items() if name not in known)

    def _annotated(self, node: ast.ClassDef) -> frozenset[str]:
        """The attributes that a class annotates or defines."""
        if node not in self._known:
            self._known[node] = _annotated(node)
        return self._known[node]


def _type(group: Iterable[Registered], absent: str) -> str | None:
    """The type of a registered tensor; None where a checker sees it too, or where the text does not tell."""
    group = tuple(group)
    kinds = {each.kind for each in group} - {RegisteredKind.NONE}
    may_be_none = any(each.may_be_none for each in group)
    by_name = any(each.by_name for each in group)
    if not kinds or not kinds <= _TENSORS.keys() or not by_name:
        return None
    type = _TENSORS[kinds.pop()] if len(kinds) == 1 else TENSOR
    return f"{type} | {absent}" if may_be_none else type


def _says(node: ast.ClassDef) -> bool | None:
    """The statement of a class about calls: True if they are typed by `forward`, False if not, None without one."""
    return False if "__call__" in _names(node.body) else _says_result(node.body)


def _says_result(body: Iterable[ast.stmt]) -> bool | None:
    """Whether `forward` in the body of a class says its result; None without a `forward`."""
    functions = [node for node in statements(body) if isinstance(node, Function) and node.name == "forward"]
    deciding = [node for node in functions if is_overload(node)] or functions
    if deciding:
        return all(node.returns is not None for node in deciding)
    return False if "forward" in _names(body) else None


def _names(body: Iterable[ast.stmt]) -> set[str]:
    """The names that the body of a class defines or assigns."""
    found: set[str] = set()
    for node in statements(body):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found.update(name for target in targets for name in bound_names(target))
            case ast.AnnAssign(target=target):
                found.update(bound_names(target))
    return found


def _annotated(node: ast.ClassDef) -> frozenset[str]:
    """The attributes that the body of a class annotates or defines, or a method annotates."""
    inner = {
        found.target.attr
        for method in statements(node.body)
        if isinstance(method, Function)
        for found in ast.walk(method)
        if isinstance(found, ast.AnnAssign) and isinstance(found.target, ast.Attribute)
    }
    return frozenset(inner | _names(node.body))


def _without_placeholder(body: list[ast.stmt]) -> list[ast.stmt]:
    return [node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]


@cache
def containers() -> Mapping[str, ast.ClassDef]:
    """The containers by their qualified names, with the methods that differ from the library's."""
    from ...generate.templates import rendered

    classes = ast.parse(rendered("library_containers.pyi.j2")).body
    return {f"torch.nn.modules.container.{cls.name}": cls for cls in classes if isinstance(cls, ast.ClassDef)}


def change_container(ours: ast.ClassDef, node: ast.ClassDef) -> None:
    """Make the copy of a container generic. Of its methods, those that the library has too are replaced."""
    theirs = {method.name for method in node.body if isinstance(method, Function)}
    methods = [item for item in ours.body if not isinstance(item, Function) or item.name in theirs]
    replaced = {item.name for item in methods if isinstance(item, Function)}
    kept = [item for item in node.body if not (isinstance(item, Function) and item.name in replaced)]
    node.bases = [*node.bases, *ours.bases]
    node.body = [*methods, *kept]
