"""Reads what methods do with the attributes of their object: what they set, change and register."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from ..common.records import field, record, replace
from ..model import Change, NodePath
from ..model.source import Registered, RegisteredKind
from .annotations import type_expr
from .bindings import BLOCK, Function, dotted, string_value, suites
from .dotted_names import Scope
from .signatures import positional_parameters
from .values import is_container, made

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


_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
_KIND_OF = {
    "register_buffer": RegisteredKind.BUFFER,
    "register_parameter": RegisteredKind.PARAMETER,
    "add_module": RegisteredKind.CHILD,
    "register_module": RegisteredKind.CHILD,
}
_VALUE_KEYWORDS = ("tensor", "param", "module")
_CONTAINERS = {f"torch.nn.{name}": name for name in ("ModuleList", "ModuleDict")}
_MOST = 64
"""How many names of a loop are written out."""

_Names = Mapping[str, tuple[str, ...]]
"""The strings that a variable of a loop stands for."""


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
    waiting: list[str] = [name for name in ("__init__", "__post_init__") if name in methods]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        node = methods.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        reading = _reading(node, scope)
        if reading is not None:
            found.update(dict.fromkeys(_in(node.body, reading, {})))
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
        for each in ast.walk(node)
        if isinstance(each, ast.Assign) and _may_be_none(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    )
    return _Reading(parameters[0].arg, frozenset((*optional, *assigned)), scope)


def _in(statements: Iterable[ast.stmt], reading: _Reading, names: _Names) -> Iterator[Registered]:
    for statement in statements:
        if isinstance(statement, BLOCK):
            known = {**names, **_of_loop(statement)}
            for suite, _, only_for_checkers in suites(statement, NodePath()):
                if not only_for_checkers:
                    yield from _in(suite, reading, known)
        else:
            yield from _registered(statement, reading, names)


def _registered(node: ast.stmt, reading: _Reading, names: _Names) -> Iterator[Registered]:
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
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method)) as call) if _is_object(
            owner, reading
        ):
            if method not in _KIND_OF:
                reading.called.append(method)
                return
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            called_with = call.args[0] if call.args else keywords.get("name")
            passed = call.args[1:] or [keywords[name] for name in _VALUE_KEYWORDS if name in keywords]
            for found in _strings(called_with, names) if passed else ():
                yield from _given(found, passed[0], _KIND_OF[method], reading, by_name=True)
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value])) if _is_object(
            owner, reading
        ):
            for found in _strings(name, names):
                yield from _given(found, value, RegisteredKind.OTHER, reading, by_name=True)


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
    if resolved in _CONTAINERS:
        inner = _common_call(call)
        if inner is not None and _names_a_class(dotted(inner) or ""):
            type = type_expr(inner, NodePath(), scope)
            return replace(found, kind=RegisteredKind.CHILD, type=type, container=_CONTAINERS[resolved])
    if _names_a_class(function):
        return replace(found, kind=RegisteredKind.CHILD, type=type_expr(call.func, NodePath(), scope))
    return found


def _common_call(container: ast.Call) -> ast.expr | None:
    """The class whose calls alone fill a ModuleList or ModuleDict."""
    match container.args:
        case [ast.ListComp(elt=ast.Call(func=function)) | ast.GeneratorExp(elt=ast.Call(func=function))]:
            return function
        case [ast.DictComp(value=ast.Call(func=function))]:
            return function
        case [ast.List(elts=elements) | ast.Tuple(elts=elements)]:
            values: list[ast.expr] = elements
        case [ast.Dict(values=elements)]:
            values = elements
        case _:
            return None
    functions = [value.func for value in values if isinstance(value, ast.Call)]
    same = len({dotted(function) for function in functions}) == 1 and len(functions) == len(values)
    return functions[0] if same else None


def _names_a_class(function: str) -> bool:
    """Whether what is called is a class, by the convention for its name."""
    return function.rpartition(".")[2].lstrip("_")[:1].isupper()


def _of_loop(statement: ast.stmt) -> _Names:
    """The strings, and the numbers of a range, that the variable of a loop stands for."""
    match statement:
        case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=elements) | ast.List(elts=elements)):
            values = [string_value(element) for element in elements]
            known = tuple(value for value in values if value is not None)
            return {name: known} if len(known) == len(values) else {}
        case ast.For(
            target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(stop))])
        ):
            return {name: tuple(map(str, range(stop)))} if stop <= _MOST else {}
    return {}


def _strings(node: ast.expr | None, names: _Names) -> Iterator[str]:
    """The strings that an expression stands for; nothing where they are known only at run time."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=name):
            yield from names.get(name, ())
        case ast.JoinedStr(values=parts):
            named = [_part(part) for part in parts]
            used = list(dict.fromkeys(name for name, _ in named if name))
            if any(name not in names for name in used) or any(name is None for name, _ in named):
                return
            for chosen in product(*(names[name] for name in used)):
                meaning = dict(zip(used, chosen, strict=True))
                yield "".join(meaning[name] if name else text for name, text in named)


def _part(part: ast.expr) -> tuple[str | None, str]:
    """A part of an f-string: the name of a variable, or an empty name and a text; None for anything else."""
    match part:
        case ast.Constant(value=str(text)):
            return "", text
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None):
            return name, ""
    return None, ""


def _is_object(node: ast.expr, reading: _Reading) -> bool:
    return isinstance(node, ast.Name) and node.id == reading.object_name


def _may_be_none(node: ast.expr) -> bool:
    return _is_none(node) or (isinstance(node, ast.IfExp) and (_may_be_none(node.body) or _may_be_none(node.orelse)))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
