"""Reads what methods do with the attributes of their object: what they set, change and register."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..common.python_text import below
from ..common.records import field, record, replace
from ..model import AttributeChange, NodePath
from ..model.source import Registered, RegisteredKind
from .annotations import type_expr
from .bindings import BLOCK, Function, dotted, string_value, suites
from .dotted_names import Scope
from .signatures import positional_parameters
from .values import DISPLAYS, is_container, made

_CONSTRUCTORS = ("__init__", "__post_init__")
_APPEND = frozenset({"append", "extend", "insert", "add", "update"})
_TAKES_MODULES = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict", "add_module", "setattr")
_REGISTER = ("register_buffer", "register_parameter", "register_module", "add_module")
_REGISTER_EACH = ("add_module", "register_module", "register_parameter", "register_buffer", "setattr")
"""The methods by which a loop over an attribute may register its content."""


nodes_of = lru_cache(maxsize=4)(below)
"""The nodes of a tree; a constructor is read for several reasons, one after the other."""


def changes(node: Function, place: NodePath, scope: Scope) -> tuple[AttributeChange, ...]:
    """The attributes that a method assigns or appends to, in the order of the statements. Nested functions are left out."""
    parameters = positional_parameters(node)
    if not parameters:
        return ()
    found = tuple(_of_suite(node.body, place / "body", parameters[0].arg, scope))
    if node.name not in _CONSTRUCTORS or not any(each.local for each in found):
        return found
    lists = _lists(node, scope)
    return tuple(
        replace(each, makes=lists[each.local], in_container=True) if each.local in lists else each for each in found
    )


def _lists(node: Function, scope: Scope) -> dict[str, tuple[str, ...]]:
    """What the local lists and dicts contain that a method fills, gives to attributes, and does nothing else with."""
    uses = Counter(each.id for each in nodes_of(node) if isinstance(each, ast.Name))
    found: dict[str, tuple[str, ...]] = {}
    for each in nodes_of(node):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if isinstance(value, DISPLAYS):
                found[name] = (*found.get(name, ()), *_objects(value, scope)[0])
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Name(id=name)), args=[*_, last]) if name in found:
                if method not in _APPEND:
                    continue
                found[name] += _objects(last, scope)[0]
            case ast.Assign(targets=[ast.Attribute()], value=ast.Name(id=name)):
                pass
            case _:
                continue
        uses[name] -= 1  # what is left is another use, by which the list may go anywhere
    return {name: contents for name, contents in found.items() if not uses[name]}


def registered_later(node: Function) -> tuple[str, ...]:
    """The attributes of the object whose content a method registers: `layers` of `nn.ModuleList(self.layers)`."""
    parameters = positional_parameters(node)
    owner = parameters[0].arg if parameters else ""
    calls = (found for found in nodes_of(node) if isinstance(found, ast.Call))
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
                loops = (loop.iter for loop in nodes_of(node) if isinstance(loop, ast.For | ast.comprehension))
                found.update((read, None) for loop in loops for read in reads(loop, owner))
    return tuple(found)


def reads(node: ast.AST, owner: str) -> Iterator[str]:
    """The attributes of an object that an expression or a function mentions."""
    for found in nodes_of(node):
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
    for each in nodes_of(node):
        if isinstance(each, ast.Attribute) and _is_named(each.value, owner):
            found[each.attr] = None
            alone -= 1  # the name in it is none of its own
        elif isinstance(each, ast.Name):
            alone += each.id == owner
            is_passed_on |= each.id == "super"
    return (*found, "") if is_passed_on or alone > 0 else tuple(found)


def _of_suite(statements: Iterable[ast.stmt], place: NodePath, owner: str, scope: Scope) -> Iterator[AttributeChange]:
    """The changes in the statements of a block, and in the blocks inside it."""
    for index, node in enumerate(statements):
        if isinstance(node, BLOCK):
            for suite, inner, _ in suites(node, place / index):
                yield from _of_suite(suite, inner, owner, scope)
            continue
        if isinstance(node, ast.Assign):
            for position, target in enumerate(node.targets):
                yield from _assigned(target, node.value, place / index / "targets" / position, owner, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _assigned(node.target, node.value, place / index / "target", owner, scope)
        match getattr(node, "value", None):
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Attribute(attr=name) as target), args=[*_, last]):
                objects, _ = _objects(last, scope) if method in _APPEND else ((), False)
                if objects and _is_named(target.value, owner):
                    yield AttributeChange(
                        name, "append", makes=objects, in_container=True, place=place / index / "value"
                    )


def _assigned(
    target: ast.expr, value: ast.expr, place: NodePath, owner: str, scope: Scope
) -> Iterator[AttributeChange]:
    """The attributes of the object in a target of an assignment."""
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            # Which part of the value it gets is not known.
            yield from _assigned(part, _NOTHING, place / "elts" / index, owner, scope)
    elif isinstance(target, ast.Subscript) and isinstance(attribute := target.value, ast.Attribute):
        if _is_named(attribute.value, owner) and (objects := _objects(value, scope)[0]):
            yield AttributeChange(attribute.attr, "append", objects, in_container=True, place=place)
    elif isinstance(target, ast.Attribute) and _is_named(target.value, owner):
        if isinstance(value, ast.Name):
            yield AttributeChange(target.attr, "assign", local=value.id, place=place)
            return
        objects, moved = _objects(value, scope)
        in_container = is_container(value, scope)
        yield AttributeChange(target.attr, "assign", objects, in_container, moved, place)


_NOTHING = ast.Constant(None)


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


_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
_KIND_OF = {
    "register_buffer": RegisteredKind.BUFFER,
    "register_parameter": RegisteredKind.PARAMETER,
    "add_module": RegisteredKind.CHILD,
    "register_module": RegisteredKind.CHILD,
}
_VALUE_KEYWORDS = ("tensor", "param", "module")


@record(slots=True)
class _Reading:
    """One method: what `self` is called, what is known of its names, and the methods that it calls on `self`."""

    object_name: str
    optional: frozenset[str]
    """Parameters whose default is None, and names that a statement gives None."""
    scope: Scope
    called: list[str] = field(default_factory=list)


def registered_state(body: Iterable[ast.stmt], scope: Scope) -> tuple[Registered, ...]:
    """The objects that `__init__` and `__post_init__` in the body of a class register, in their order, each only once."""
    methods = {node.name: node for node in body if isinstance(node, Function)}
    found: dict[Registered, None] = {}
    waiting: list[str] = [name for name in _CONSTRUCTORS if name in methods]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        node = methods.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        reading = _reading(node, scope)
        if reading is not None:
            found.update(dict.fromkeys(_in(node.body, reading)))
            waiting += reading.called
    return tuple(found)


def _reading(node: Function, scope: Scope) -> _Reading | None:
    """The name of a constructor's own object, and the local names that may be None; None without a first parameter."""
    parameters = positional_parameters(node)
    if not parameters:
        return None
    given = node.args
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(reversed(parameters), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    optional = (parameter.arg for parameter, default in defaults if default is not None and _is_none(default))
    assigned = (
        target.id
        for each in nodes_of(node)
        if isinstance(each, ast.Assign) and _may_be_none(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    )
    return _Reading(parameters[0].arg, frozenset((*optional, *assigned)), scope)


def _in(statements: Iterable[ast.stmt], reading: _Reading) -> Iterator[Registered]:
    for statement in statements:
        if isinstance(statement, BLOCK):
            for suite, _, only_for_checkers in suites(statement, NodePath()):
                if not only_for_checkers:
                    yield from _in(suite, reading)
        else:
            yield from _registered(statement, reading)


def _registered(node: ast.stmt, reading: _Reading) -> Iterator[Registered]:
    """The objects that one statement registers. A call of a method on `self` is noted."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_object(target.value, reading):
                    yield from _given(target.attr, value, RegisteredKind.OTHER, reading, by_name=False)
        case ast.AnnAssign(target=ast.Attribute(value=owner, attr=name), value=ast.expr() as value) if _is_object(
            owner, reading
        ):
            yield from _given(name, value, RegisteredKind.OTHER, reading, by_name=False)
        case ast.Expr(value=ast.Call() as call) if method := _own_method(call.func, reading):
            if method not in _KIND_OF:
                reading.called.append(method)
                return
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            called_with = call.args[0] if call.args else keywords.get("name")
            passed = call.args[1:] or [keywords[name] for name in _VALUE_KEYWORDS if name in keywords]
            called = string_value(called_with)
            if called is not None and passed:
                yield from _given(called, passed[0], _KIND_OF[method], reading, by_name=True)
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(str(name)), value])) if (
            _is_object(owner, reading)
        ):
            yield from _given(name, value, RegisteredKind.OTHER, reading, by_name=True)


def _own_method(function: ast.expr, reading: _Reading) -> str | None:
    """The method of the object that a call runs; None for any other call."""
    is_own = isinstance(function, ast.Attribute) and _is_object(function.value, reading)
    return function.attr if isinstance(function, ast.Attribute) and is_own else None


def _given(
    name: str, value: ast.expr, kind: RegisteredKind, reading: _Reading, *, by_name: bool
) -> Iterator[Registered]:
    """The values of a name. A condition gives both of its values."""
    if isinstance(value, ast.IfExp):
        yield from _given(name, value.body, kind, reading, by_name=by_name)
        yield from _given(name, value.orelse, kind, reading, by_name=by_name)
        return
    found = Registered(name, kind, by_name)
    if _is_none(value):
        tensors = (RegisteredKind.PARAMETER, RegisteredKind.BUFFER)
        yield replace(found, kind=kind if kind in tensors else RegisteredKind.NONE, may_be_none=True)
    elif isinstance(value, ast.Call) and kind in (RegisteredKind.OTHER, RegisteredKind.CHILD):
        yield _made_by(found, value, reading.scope)
    else:
        yield replace(found, may_be_none=isinstance(value, ast.Name) and value.id in reading.optional)


def _made_by(found: Registered, call: ast.Call, scope: Scope) -> Registered:
    """The result of a call: a parameter, a buffer, or a child of the class that is called."""
    function = dotted(call.func) or ""
    resolved = scope.resolve(function)
    if resolved in _PARAMETERS:
        return replace(found, kind=RegisteredKind.PARAMETER)
    if resolved in _BUFFERS:
        return replace(found, kind=RegisteredKind.BUFFER)
    if _names_a_class(function):
        return replace(found, kind=RegisteredKind.CHILD, type=type_expr(call.func, NodePath(), scope))
    return found


def _names_a_class(function: str) -> bool:
    """True if what is called is a class, by the convention for its name."""
    return function.rpartition(".")[2].lstrip("_")[:1].isupper()


def _is_object(node: ast.expr, reading: _Reading) -> bool:
    return isinstance(node, ast.Name) and node.id == reading.object_name


def _may_be_none(node: ast.expr) -> bool:
    return _is_none(node) or (isinstance(node, ast.IfExp) and (_may_be_none(node.body) or _may_be_none(node.orelse)))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
