"""Reads which objects an expression makes: `[nn.Linear(2, 2)]` makes one of `torch.nn.Linear`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..common import language
from .bound_names import dotted
from .dotted_names import Scope

_PARTIAL = "functools.partial"
_CONTAINERS = frozenset({"builtins.dict", "builtins.list", "builtins.tuple", "collections.OrderedDict", _PARTIAL})
_DISPLAYS = ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp

_NO_OBJECTS = frozenset(
    {"data_ptr", "dim", "element_size", "item", "nelement", "numel", "numpy", "parameters", "size", "tolist"}
)
"""Methods of tensors and modules whose result is neither."""


def made(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The qualified names of what an expression calls and keeps the result of, in containers and partials too.

    What a lambda calls is left out, because it makes an object for each call; its defaults are made once. The arguments of other
    functions are left out too, because those may use them up.
    """
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            for element in node.elts:
                yield from made(element, scope)
        case ast.Dict():
            for part in (*filter(None, node.keys), *node.values):
                yield from made(part, scope)
        case ast.Starred():
            yield from made(node.value, scope)
        case ast.ListComp() | ast.SetComp():
            yield from made(node.elt, scope)
        case ast.DictComp():
            yield from made(node.value, scope)
        case ast.GeneratorExp():
            yield language.ITERATOR
        case ast.Lambda():
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from made(default, scope)
        case ast.Attribute(value=ast.Call() as call, attr="forward" | "__call__"):  # a bound method keeps its object
            yield from made(call, scope)
        case ast.IfExp():
            yield from made(node.body, scope)
            yield from made(node.orelse, scope)
        case ast.BoolOp():
            for value in node.values:
                yield from made(value, scope)
        case ast.NamedExpr():
            yield from made(node.value, scope)
        case ast.Call():
            yield from _of_call(node, scope)


def specifiers(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The specifiers that an expression calls anywhere, except in a lambda, which runs later."""
    if isinstance(node, ast.Lambda | ast.Name | ast.Attribute | ast.Constant):
        return
    if isinstance(node, ast.Call) and (name := scope.resolve(dotted(node.func) or "")) in language.SPECIFIERS:
        yield name  # a specifier among its arguments is a part of it
        return
    for part in ast.iter_child_nodes(node):
        inside = part.value if isinstance(part, ast.keyword) else part
        if isinstance(inside, ast.expr):
            yield from specifiers(inside, scope)


def is_container(node: ast.expr, scope: Scope) -> bool:
    """Whether the objects that an expression makes are inside a container or a partial."""
    if isinstance(node, ast.Call):
        return scope.resolve(dotted(node.func) or "") in _CONTAINERS
    return isinstance(node, _DISPLAYS)


def is_callable(node: ast.expr, scope: Scope) -> bool:
    """Whether what an expression makes may be called, as far as the text shows: a list, a dict, a tuple and the like may not."""
    if isinstance(node, ast.Call):
        return scope.resolve(dotted(node.func) or "") not in _CONTAINERS - {_PARTIAL}
    return not isinstance(node, _DISPLAYS)


def _of_call(node: ast.Call, scope: Scope) -> Iterator[str]:
    name = dotted(node.func)
    resolved = scope.resolve(name or "")
    if resolved in _CONTAINERS:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from made(argument, scope)
    elif name is not None:
        yield resolved
    elif isinstance(node.func, ast.Attribute) and node.func.attr not in _NO_OBJECTS:
        yield from made(node.func.value, scope)
