"""Finds what a method does to the attributes of its own object: `self.x = ...`, `self.x += 1`, `self.x[0] = 1`, `self.x.add_(1)`.

Rules ask whether an attribute is declared, whether it holds tensors that nothing registers, and whether the object is frozen.
Only statements are walked, not the expressions in them, so that reading stays fast.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..model import Change, NodePath
from .blocks import BLOCK, suites
from .bound_names import dotted
from .dotted_names import Scope
from .made_objects import is_container, made
from .signatures import Function, positional_parameters

_APPEND = frozenset({"append", "extend", "insert", "add", "update"})
_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
_TAKES_MODULES = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict", "add_module", "setattr")
_REGISTER = ("register_buffer", "register_parameter", "register_module", "add_module")
_REGISTER_EACH = ("add_module", "register_module", "register_parameter", "register_buffer", "setattr")
"""The methods by which a loop over an attribute may register its content."""
_IN_PLACE = frozenset({"requires_grad_", "share_memory_", "rename_"})
"""Methods that end in an underscore and change no element."""


def changes(node: Function, place: NodePath, scope: Scope) -> tuple[Change, ...]:
    """The changes that a method makes to its object, in the order of the statements. Nested functions are left out."""
    parameters = positional_parameters(node)
    if not parameters:
        return ()
    return tuple(_of_suite(node.body, place / "body", parameters[0].arg, scope))


def registered_later(node: Function) -> tuple[str, ...]:
    """The attributes of the object whose content a method registers: `layers` of `nn.ModuleList(self.layers)`."""
    parameters = positional_parameters(node)
    owner = parameters[0].arg if parameters else ""
    calls = (found for found in ast.walk(node) if isinstance(found, ast.Call))
    found: dict[str, None] = {}
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func) or ""
        if name.startswith("register_") or name.rpartition(".")[2] in _TAKES_MODULES:
            # Registered under a string, as `self.register_buffer("table", ...)`.
            if name in _REGISTER and call.args and isinstance(call.args[0], ast.Constant):
                found[str(call.args[0].value)] = None
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                found.update(dict.fromkeys(reads(argument, owner)))
            if name in _REGISTER_EACH:  # `self.add_module(name, layer)` in a loop over `self.layers` does not name that
                loops = (loop.iter for loop in ast.walk(node) if isinstance(loop, ast.For | ast.comprehension))
                found.update((read, None) for loop in loops for read in reads(loop, owner))
    return tuple(found)


def reads(node: ast.AST, owner: str) -> Iterator[str]:
    """The attributes of an object that an expression or a function mentions."""
    for found in ast.walk(node):
        if isinstance(found, ast.Attribute) and _is_named(found.value, owner):
            yield found.attr


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def mentions(node: Function) -> tuple[str, ...]:
    """The attributes of its object that a method mentions; `""` for the object itself, of which anything may be read."""
    parameters = positional_parameters(node)
    if not parameters:
        return ()
    owner = parameters[0].arg
    found: dict[str, None] = {}
    alone, is_passed_on = 0, False
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and _is_named(each.value, owner):
            found[each.attr] = None
            alone -= 1  # the name in it is none of its own
        elif isinstance(each, ast.Name):
            alone += each.id == owner
            is_passed_on |= each.id == "super"
    return (*found, "") if is_passed_on or alone > 0 else tuple(found)


def _of_suite(statements: Iterable[ast.stmt], place: NodePath, owner: str, scope: Scope) -> Iterator[Change]:
    """The changes in the statements of a block, and in the blocks inside it."""
    for index, node in enumerate(statements):
        if isinstance(node, BLOCK):
            for suite, inner, _ in suites(node, place / index):
                yield from _of_suite(suite, inner, owner, scope)
            continue
        if isinstance(node, ast.Assign):
            for position, target in enumerate(node.targets):
                if not isinstance(target, ast.Name):
                    where = place / index / "targets" / position
                    yield from _of_target(target, node.value, where, owner, scope)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and not isinstance(node.target, ast.Name):
            action = "augment" if isinstance(node, ast.AugAssign) else None
            if node.value is not None:
                yield from _of_target(node.target, node.value, place / index / "target", owner, scope, action)
        call = getattr(node, "value", None)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _may_change(call.func.attr):
            yield from _of_call(call, call.func, place / index / "value", owner, scope)


def _may_change(method: str) -> bool:
    """Whether a method of this name changes its object."""
    return (method[-1] == "_" and method[-2:] != "__") or method in _APPEND


def _of_target(
    target: ast.expr,
    value: ast.expr,
    place: NodePath,
    owner: str,
    scope: Scope,
    action: str | None = None,
) -> Iterator[Change]:
    """The changes of an assignment to a target: of an attribute of the object, or of something in one."""
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            # Which part of the value it gets is not known.
            yield from _of_target(part, _NOTHING, place / "elts" / index, owner, scope, action)
        return
    whole = target
    while isinstance(target, ast.Subscript):
        target = target.value
    path = _path(target, owner)
    if path is None:
        return
    if target is not whole:
        action = "element"
    elif len(path) != 1:
        return
    objects, moved = ((), False) if action == "augment" else _objects(value, scope)
    yield Change(
        path[0] if path else "",
        action or "assign",
        makes=objects,
        in_container=isinstance(value, _DISPLAYS) or is_container(value, scope),
        moved=moved,
        place=place,
    )


def _of_call(node: ast.Call, function: ast.Attribute, place: NodePath, owner: str, scope: Scope) -> Iterator[Change]:
    """The changes of a call that is a statement, or is assigned: `self.x.add_(1)`."""
    method = function.attr
    target = function.value
    while isinstance(target, ast.Subscript):
        target = target.value
    path = _path(target, owner)
    if path is None:
        return
    if method.endswith("_") and method not in _IN_PLACE:
        yield Change(path[0] if path else "", "in place", makes=(method,), place=place)
    elif method in _APPEND and len(path) == 1 and node.args:
        objects, _ = _objects(node.args[-1], scope)  # `insert` takes the position first
        if objects:
            yield Change(path[0], "append", makes=objects, in_container=True, place=place)


_NOTHING = ast.Constant(None)


def _path(node: ast.expr, owner: str) -> tuple[str, ...] | None:
    """`("x", "y")` of `self.x.y`, and `()` of `self`; None of anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return tuple(names) if isinstance(node, ast.Name) and node.id == owner else None


def _objects(node: ast.expr, scope: Scope) -> tuple[tuple[str, ...], bool]:
    """The functions whose results an expression uses, arithmetic included, and whether a method was called on them."""
    if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
        return (), False
    found = tuple(_made(node, scope))
    # Other methods give a new tensor, which nothing registers: `nn.Parameter(...).to(...)`.
    is_moved = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and dotted(node.func) is None
    return found, is_moved and isinstance(node, ast.Call) and getattr(node.func, "attr", "") != "requires_grad_"


def _made(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The functions whose results an expression uses, also in arithmetic and indexing: `1.0 / torch.arange(3)[1:]`."""
    match node:
        case ast.BinOp():
            yield from _made(node.left, scope)
            yield from _made(node.right, scope)
        case ast.UnaryOp():
            yield from _made(node.operand, scope)
        case ast.Subscript():
            yield from _made(node.value, scope)
        case ast.Call(func=ast.Attribute(value=ast.BinOp() | ast.UnaryOp() | ast.Subscript() as inner)):
            yield from _made(inner, scope)
        case _:
            yield from made(node, scope)
