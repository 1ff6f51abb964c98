"""Finds what the `__init__` of a class registers: `self.scale = nn.Parameter(...)`, `self.register_buffer("table", ...)`.

Methods of the class that `__init__` calls on `self` are read too. Names may be strings, those of a loop over strings that are
written out, and f-strings of such names and of `range(4)`. Other computed names are known only at run time.

The stub of a Module says what is registered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from ..common.records import field, record, replace
from ..model import NodePath
from ..model.registered import Registered, RegisteredKind
from .annotations import string_value, type_expr
from .blocks import BLOCK, suites
from .bound_names import dotted
from .dotted_names import Scope
from .signatures import Function, positional_parameters

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
        yield _made(found, value, reading.scope)
    else:
        yield replace(found, may_be_none=isinstance(value, ast.Name) and value.id in reading.optional)


def _made(found: Registered, call: ast.Call, scope: Scope) -> Registered:
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
