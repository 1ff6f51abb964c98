"""The input of the rules about plain classes: a class that derives from torch.nn.Module, and its hierarchy."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ..common.python_text import below, children_of
from ..common.records import field, record

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """A finding of a rule, at a node of the syntax tree."""

    node: ast.expr | ast.stmt | ast.arg
    message: str
    help: str


@record(frozen=True, slots=True)
class PlainClass:
    """A class statement, and the classes that decide which attributes its objects have."""

    node: ast.ClassDef
    meaning: Callable[[ast.expr], str]
    """The qualified name that a name or a chain of attributes in its file leads to; empty where none does."""
    ancestors: Sequence[PlainClass] = ()
    """The ancestors in the project, in method resolution order."""
    descendants: Sequence[PlainClass] = ()
    is_whole: bool = False
    """True if the ancestors that are not in the project are torch.nn.Module and others without attributes of their own."""
    is_mentioned: Callable[[str], bool] = field(default=bool)
    """True if the project assigns an attribute of this name to some object, or has the name in a string."""
    is_written: Callable[[str], bool] = field(default=bool)
    """True if the project writes an attribute of this name of an object that is not called `self`."""
    is_known_word: Callable[[str], bool] = field(default=bool)
    """True if a file of the project has this word anywhere, comments included."""

    @property
    def methods(self) -> Iterator[Function]:
        """The functions in its body, those in blocks included."""
        waiting: list[ast.stmt] = list(self.node.body)
        while waiting:
            statement = waiting.pop(0)
            if isinstance(statement, Function):
                yield statement
            elif not isinstance(statement, ast.ClassDef):
                waiting[:0] = [child for child in ast.walk(statement) if isinstance(child, Function)]


def owner_of(method: Function) -> str:
    """The name of the parameter that the object is; empty where there is none, or an annotation says what it is."""
    parameters = (*method.args.posonlyargs, *method.args.args)
    decorators = {each.id for each in method.decorator_list if isinstance(each, ast.Name)}
    is_other = not parameters or parameters[0].annotation is not None or decorators & {"staticmethod", "classmethod"}
    return "" if is_other else parameters[0].arg


@cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes of a tree, without contexts and operators."""
    return tuple(below(tree))


@cache
def _by_kind(tree: ast.AST) -> dict[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in nodes_of(tree):
        found.setdefault(node.__class__, []).append(node)
    return found


def of_kinds(tree: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a tree that are of some kinds, one kind after the other."""
    return (node for kind in kinds for node in _by_kind(tree).get(kind, ()))


_SCOPES = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def own_nodes(method: Function, owner: str) -> tuple[ast.AST, ...]:
    """The nodes of a method in which the name of its object means the object."""
    found: list[ast.AST] = list(method.body)
    for node in found:
        if isinstance(node, ast.ClassDef):
            continue
        arguments = below(node.args) if isinstance(node, _SCOPES) else ()
        if not any(isinstance(each, ast.arg) and each.arg == owner for each in arguments):
            found += children_of(node)
    return tuple(found)


def attribute_of(node: ast.AST, owner: str) -> str | None:
    """`x` of `self.x`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner:
        return node.attr
    return None


def stays_where_it_is(name: str, family: Sequence[PlainClass]) -> bool:
    """True if a tensor of the constructor is used later as it was made there: neither replaced, nor moved where it is read.

    An index, and what a condition asks, may be on the CPU, whatever is computed. An author who writes parts of a tensor keeps it
    where he wants it.
    """
    is_used = False
    for cls in family:
        for method in cls.methods:
            owner = owner_of(method)
            nodes = list(own_nodes(method, owner)) if owner and method.name not in _CONSTRUCTORS else []
            if any(_is_written(node, name, owner) for node in nodes):
                return False
            harmless = {id(inner) for node in nodes for part in _anywhere(node) for inner in ast.walk(part)}
            bound = (node for node in nodes if isinstance(node, ast.Assign) and attribute_of(node.value, owner) == name)
            harmless |= {id(node.value) for node in bound if _is_moved(node.targets[0], nodes)}
            is_used |= any(attribute_of(node, owner) == name and id(node) not in harmless for node in nodes)
    return is_used


def _is_moved(variable: ast.expr, nodes: Sequence[ast.AST]) -> bool:
    """True if what a variable was given is moved then: `weight = self.weight`, and `weight.to(x.device)`."""
    moved = (node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("to", "cuda", "type_as"))
    return ast.unparse(variable) in map(ast.unparse, moved)


def _is_written(node: ast.AST, name: str, owner: str) -> bool:
    """True if a node replaces an attribute or a part of it."""
    target = node.value if isinstance(node, ast.Subscript) else node
    return not isinstance(getattr(node, "ctx", None), ast.Load | None) and attribute_of(target, owner) == name


_CONSTRUCTORS = ("__init__", "__post_init__")
_MOVES = frozenset({"to", "cuda", "cpu", "type_as", "tolist", "item", "numel", "size", "shape", "dtype", "device"})
"""Methods that a tensor has on any device, or that move it."""


def _anywhere(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which a tensor may be on any device."""
    match node:
        case ast.Subscript(slice=part) | ast.If(test=part) | ast.IfExp(test=part) | ast.While(test=part):
            yield part
        case ast.Attribute(value=part, attr=name) if name in _MOVES:
            yield part
