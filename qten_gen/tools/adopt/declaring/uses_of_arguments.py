"""The uses of a constructor's arguments, as evidence for their types: it computes with one, or gives it to a layer."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator, Mapping

from ..opened import OpenFile
from .context import CONTAINERS, PARAMETER, Context, function_of, self_attribute
from .proofs import constructor
from .use import Use

_SIZES = {
    "torch.nn.MultiheadAttention": ("embed_dim", "num_heads"),
    "torch.nn.LSTM": ("input_size", "hidden_size", "num_layers"),
    "torch.nn.GRU": ("input_size", "hidden_size", "num_layers"),
}
"""The first arguments, in order, that have to be integers, of the layers of torch that do not say it."""

_FILLS = ("zeros", "ones", "empty", "randn", "rand")
_MAKERS = (*_FILLS, "full", "arange", "linspace", "eye", "tensor", "triu")
_ANNOTATED = {"int": Use.SIZE, "float": Use.RATE, "str": Use.TEXT, "bool": Use.TEST}
_INTEGRAL = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod | ast.Pow
_TAKE_MODULES = CONTAINERS | {"TransformerEncoder", "TransformerDecoder", "Transformer", "DataParallel", "Parameter"}
_FUNCTIONS = {
    **dict.fromkeys(("int", "float", "abs", "round"), Use.NUMBER),
    **dict.fromkeys(
        ("len", "list", "tuple", "zip", "enumerate", "reversed", "sum", "sorted", "math.prod"), Use.SEQUENCE
    ),
    **dict.fromkeys(("callable", "isinstance", "str", "print", "bool", "type", "repr"), Use.NONE),
    **dict.fromkeys(("max", "min", "math.sqrt", "math.log", "pow"), Use.NUMBER),
    "range": Use.SIZE,
}
_TRANSPARENT = ast.Tuple | ast.List | ast.Starred | ast.keyword | ast.BoolOp

_Found = Use | str | tuple[str]
"""A use, or a name that is given a value; in a tuple, one that is given what integers make with it."""


def uses_of_arguments(function: ast.FunctionDef, context: Context, depth: int = 0) -> Mapping[str, frozenset[Use]]:
    """How a constructor or function uses each of its arguments, itself or by the local name or attribute that holds it."""
    arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
    nodes = [each for each in ast.walk(function) if isinstance(each, ast.Name) or self_attribute(each) is not None]
    found: dict[str, set[_Found]] = {name: set() for name in (*arguments, *map(_written, nodes))}
    stores = Counter(each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    stores -= Counter(_replacing_none(function))
    changing = {name for name, times in stores.items() if times > (name not in arguments)}
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found[_written(node)] |= set(_use(node, parents[node], parents, context, depth))
    return {name: frozenset(_followed(name, found, changing)) for name in arguments}


def _replacing_none(function: ast.FunctionDef) -> Iterator[str]:
    """The arguments that are None by default, for each statement that gives them a value then: `hidden = hidden or dim`."""
    defaults = zip(reversed(function.args.args), reversed(function.args.defaults), strict=False)
    absent = {each.arg for each, value in defaults if isinstance(value, ast.Constant) and value.value is None}
    for statement in function.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=given), _]) | ast.IfExp(body=ast.Name(id=given)),
            ) if given == name and name in absent:
                yield name


def _written(node: ast.AST) -> str:
    """A local name, or `self.name`."""
    return node.id if isinstance(node, ast.Name) else f"self.{self_attribute(node)}"


def _followed(name: str, found: Mapping[str, set[_Found]], changing: Container[str]) -> Iterator[Use]:
    """The uses of a name and of those that are given what it holds. Of a name that gets another value, none tells a size."""
    waiting = [(name, False)]
    reached = {*waiting}
    while waiting:
        current, is_part = waiting.pop()
        for use in found.get(current, ()):
            if isinstance(use, Use):
                is_exact = use in (Use.SIZE, Use.RATE)
                if not (current in changing if is_exact else is_part):
                    yield use
            elif (following := (use[0], True) if isinstance(use, tuple) else (use, is_part)) not in reached:
                reached.add(following)
                waiting.append(following)


def _use(
    node: ast.expr, parent: ast.AST, parents: Mapping[ast.AST, ast.AST], context: Context, depth: int
) -> Iterator[_Found]:
    """How one mention of an argument uses it; the local name that is given its value."""
    match parent:
        case ast.Attribute():
            yield Use.OTHER  # a module may have any
        case ast.BinOp(left=left, op=operator, right=right):
            yield _of_operation(left if right is node else right, operator)
            if isinstance(operator, _INTEGRAL):
                for use in _use(parent, parents[parent], parents, context, depth):
                    if not isinstance(use, Use):
                        yield (use,) if isinstance(use, str) else use
                    elif use is Use.SIZE:
                        yield use
        case ast.UnaryOp(op=ast.Not()):
            yield Use.TEST
        case ast.UnaryOp():
            yield Use.NUMBER
        case ast.Compare():
            yield _of_comparison(node, parent)
        case ast.Subscript(value=held, slice=key) if held is node:
            yield Use.VALUE if isinstance(key, ast.Constant) and isinstance(key.value, str) else Use.SEQUENCE
        case ast.Subscript():
            yield Use.VALUE
        case ast.For(iter=held) | ast.comprehension(iter=held) if held is node:
            yield Use.SEQUENCE
        case ast.If() | ast.While() | ast.Assert() | ast.IfExp(test=ast.Name()) if parent.test is node:
            yield Use.TEST
        case ast.BoolOp() if _is_test(parent, parents):
            yield Use.TEST
        case ast.FormattedValue():
            yield Use.NONE
        case ast.Call(func=called) if called is node:
            yield Use.CLASS
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) if isinstance(node, ast.Name):
            yield _of_target(target)
            if self_attribute(target) == node.id:
                yield Use.STORED
        case _:
            yield from _given(node, parents, context, depth)


def _of_operation(other: ast.expr, operator: ast.operator) -> Use:
    """The type of an argument that is computed with another value."""
    match other, operator:
        case ast.Constant(value=str()), _:
            return Use.NONE
        case ast.List() | ast.Tuple() | ast.ListComp(), ast.Mult():
            return Use.INTEGER
        case ast.List() | ast.Tuple(), _:
            return Use.SEQUENCE
        case _, ast.FloorDiv() | ast.Mod():
            return Use.INTEGER
        case (_, ast.Sub() | ast.Pow() | ast.Div()) | (ast.Constant(), _):
            return Use.NUMBER
    return Use.VALUE


def _of_comparison(node: ast.expr, parent: ast.Compare) -> Use:
    if any(isinstance(each, ast.Is | ast.IsNot) for each in parent.ops):
        return Use.NONE
    others = [each for each in (parent.left, *parent.comparators) if each is not node]
    parts = [
        part for each in others for part in (each.elts if isinstance(each, ast.Tuple | ast.List | ast.Set) else [each])
    ]
    kinds = {type(each.value) if isinstance(each, ast.Constant) else None for each in parts}
    if kinds == {str}:
        return Use.TEXT if others[0] is parent.comparators[0] else Use.VALUE
    return Use.NUMBER if kinds and kinds <= {int, float} else Use.VALUE


def _is_test(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an `and` or `or` decides about a branch."""
    above = parents[node]
    while isinstance(above, ast.BoolOp | ast.UnaryOp):
        node, above = above, parents[above]
    return isinstance(above, ast.If | ast.While | ast.Assert | ast.IfExp) and above.test is node


def _of_target(target: ast.expr) -> Use | str:
    """The use of a value in an assignment: that of a local name or an attribute, which may be used further."""
    if isinstance(target, ast.Tuple):
        return Use.SEQUENCE
    is_followed = isinstance(target, ast.Name) or self_attribute(target) is not None
    return _written(target) if is_followed else Use.OTHER


def _given(node: ast.AST, parents: Mapping[ast.AST, ast.AST], context: Context, depth: int) -> Iterator[_Found]:
    """How a call uses an argument that it gets, perhaps inside a tuple or a list."""
    above = parents[node]
    while isinstance(above, _TRANSPARENT) or (isinstance(above, ast.IfExp) and above.test is not node):
        node, above = above, parents[above]
    match above:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) if not isinstance(node, ast.Tuple | ast.List):
            yield _of_target(target)
            return
        case ast.Return():
            yield Use.RETURNED
            return
    if not isinstance(above, ast.Call) or above.func is node:
        yield Use.OTHER
        return
    qualified = context.meaning(above.func)
    name = above.func.id if isinstance(above.func, ast.Name) else qualified
    last = qualified.rpartition(".")[2]
    if name in ("max", "min") and len(above.args) == 1:
        yield Use.SEQUENCE
    elif name in _FUNCTIONS or qualified in _FUNCTIONS:
        yield _FUNCTIONS.get(name) or _FUNCTIONS[qualified]
    elif qualified in PARAMETER or last in _TAKE_MODULES:
        yield Use.OTHER
    elif qualified.startswith("torch.") and (context.is_module_class(qualified) or last in _MAKERS):
        yield _of_torch(node, above, qualified, context)
    elif (found := function_of(qualified, context)) is not None and depth < 5:
        for use in _of_function(node, above, *found, qualified, context, depth):
            if use is Use.RETURNED:
                yield from _use(above, parents[above], parents, context, depth)
            else:
                yield use
    else:
        yield from _of_class(node, above, qualified, context, depth)


def _of_torch(node: ast.AST, call: ast.Call, qualified: str, context: Context) -> Use:
    """What a layer or a function of torch takes an argument for."""
    given = node.value if isinstance(node, ast.keyword) else node
    if isinstance(given, ast.Tuple | ast.List | ast.Starred):
        return Use.VALUE
    names = _SIZES.get(qualified, ())
    by_place = next((name for name, each in zip(names, call.args, strict=False) if each is node), None)
    is_fill = qualified.removeprefix("torch.") in _FILLS and len(call.args) > 1 and node in call.args
    if is_fill or (node.arg if isinstance(node, ast.keyword) else by_place) in names:
        return Use.SIZE
    taking = context.constructor_of_library(qualified)
    argument = None if taking is None else _argument(node, call, taking, 0)
    match argument:
        case ast.arg(annotation=ast.Name(id="int" | "float" as kind)):
            return _ANNOTATED[kind]
    return Use.VALUE


def _argument(node: ast.AST, call: ast.Call, taking: ast.FunctionDef, skipped: int) -> ast.arg | None:
    """The argument of a function or constructor that a call gives a value; None if that is not certain."""
    plain = taking.args.args[skipped:]
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if isinstance(node, ast.keyword):
        return next((each for each in (*plain, *taking.args.kwonlyargs) if each.arg == node.arg), None)
    return next((each for each, given in zip(plain, call.args, strict=False) if given is node), None)


def _of_function(
    node: ast.AST, call: ast.Call, function: ast.FunctionDef, file: OpenFile, name: str, context: Context, depth: int
) -> Iterator[Use]:
    """How a function of the project uses the argument that it gets."""
    argument = _argument(node, call, function, 0)
    inner = Context(file, context.project, context.found)
    found = {} if argument is None else _cached(name, function, inner, depth)
    yield from found.get(argument.arg if argument is not None else "", frozenset({Use.OTHER}))


def _of_class(node: ast.AST, call: ast.Call, qualified: str, context: Context, depth: int) -> Iterator[Use]:
    """How a class of the project uses the argument that it gets."""
    found = context.class_of(qualified)
    init = None if found is None or depth > 4 else constructor(found)
    argument = None if init is None else _argument(node, call, init, 1)
    if found is None or init is None or argument is None:
        yield Use.OTHER
    elif argument.annotation is not None:
        text = ast.unparse(argument.annotation).removesuffix(" | None")
        yield _ANNOTATED.get(text, Use.OTHER)
    else:
        inner = Context(context.project.files[found.path], context.project, found)
        default = _default(argument, init)
        if default is not None and context.is_module_class(inner.meaning(default)):
            yield Use.CLASS
            return
        uses = _cached(found.qualified, init, inner, depth)
        yield from uses.get(argument.arg, frozenset()) - {Use.NONE, Use.STORED} or {Use.OTHER}


def _default(argument: ast.arg, init: ast.FunctionDef) -> ast.expr | None:
    defaults = dict(zip(reversed(init.args.args), reversed(init.args.defaults), strict=False))
    defaults |= {each: value for each, value in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True) if value}
    return defaults.get(argument)


def _cached(qualified: str, init: ast.FunctionDef, context: Context, depth: int) -> Mapping[str, frozenset[Use]]:
    known = context.project.uses
    if qualified not in known:
        known[qualified] = {}  # a class that constructs itself
        known[qualified] = uses_of_arguments(init, context, depth + 1)
    return known[qualified]
