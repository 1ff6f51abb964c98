"""Which type an argument without an annotation certainly has: by its default, or because it is used as a size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..adoption import FoundClass
from .context import Context

_SIZES = {
    "torch.nn.MultiheadAttention": ("embed_dim", "num_heads"),
    "torch.nn.LSTM": ("input_size", "hidden_size", "num_layers"),
    "torch.nn.GRU": ("input_size", "hidden_size", "num_layers"),
}
"""The first arguments, in order, that have to be integers, of the layers of torch that do not say it."""

_PLAIN = ("int", "float", "bool", "str")
_FILLS = ("torch.zeros", "torch.ones", "torch.empty", "torch.randn", "torch.rand")
_INTEGRAL = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)


def constructor(found: FoundClass) -> ast.FunctionDef | None:
    """The `__init__` that a class statement contains."""
    return next(
        (each for each in found.node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None
    )


def by_default(default: ast.expr | None) -> str | None:
    """The type of a default that is a plain literal; None for None, which says only what else an argument may be."""
    match default:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return type(value).__name__
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return type(value).__name__
        case ast.Tuple(elts=[_, *_] as items) if len({by_default(item) for item in items}) == 1:
            kind = by_default(items[0])
            return None if kind is None else f"tuple[{kind}, ...]"
        case ast.List(elts=items):
            kinds = {by_default(item) for item in items}
            return f"Sequence[{kinds.pop() or 'Any'}]" if len(kinds) == 1 else "Sequence[Any]"
        case ast.Dict() | ast.Call(func=ast.Name(id="dict"), args=[], keywords=[]):
            return "dict[str, Any]"
    return None


def by_value(value: ast.expr | None) -> str | None:
    """The type of a value that a call gives, as far as its form tells; None if it does not."""
    match value:
        case ast.Constant(value=None):
            return "None"
        case ast.Subscript(slice=ast.Slice()) | ast.ListComp() | ast.Tuple():
            return by_default(value) or "Sequence[Any]"
    return by_default(value)


def by_use(init: ast.FunctionDef, context: Context, depth: int = 0, *, is_certain: bool = True) -> dict[str, str]:
    """The arguments that have to be integers or rates, because something that takes nothing else gets them.

    With `is_certain` switched off, also those that only some calls of the constructor give to it.
    """
    names = {each.arg for each in (*init.args.posonlyargs, *init.args.args[1:], *init.args.kwonlyargs)}
    stored = [each for each in ast.walk(init) if isinstance(each, ast.Name | ast.Attribute)]
    rebound = [ast.unparse(each) for each in stored if isinstance(each.ctx, ast.Store)]
    aliases = {
        name: statement.value
        for statement in init.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name | ast.Attribute)
        and rebound.count(name := ast.unparse(statement.targets[0])) == 1
        and name not in names
    }
    replaced = dict(_replaced_if_absent(init))
    found: dict[str, str] = {}

    def require(node: ast.expr, kind: str, level: int = 0) -> None:
        match node:
            case ast.Name(id=name) if name in names and name not in rebound:
                found[name] = kind if found.get(name) in (None, f"{kind} | None") else found[name]
            case ast.Name(id=name) if name in replaced and rebound.count(name) == 1 and level < 10:
                found.setdefault(name, f"{kind} | None")
                require(replaced[name], kind, level + 1)
            case ast.Name() | ast.Attribute() if (name := ast.unparse(node)) in aliases and level < 10:
                require(aliases[name], kind, level + 1)
            case ast.BinOp(left=left, op=operator, right=right) if kind == "int" and isinstance(operator, _INTEGRAL):
                require(left, kind, level)
                require(right, kind, level)

    calls = _certain_calls(init) if is_certain else (each for each in ast.walk(init) if isinstance(each, ast.Call))
    for call in calls:
        for node, kind in _required(call, context, depth):
            require(node, kind)
    return found


def _replaced_if_absent(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The arguments that get another value where they are None: `hidden = hidden or dim`, each with that value."""
    for statement in init.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=given), other])
                | ast.IfExp(body=ast.Name(id=given), orelse=other),
            ) if given == name:
                yield name, other


def _certain_calls(init: ast.FunctionDef) -> Iterator[ast.Call]:
    """The calls that a constructor makes whenever it runs: none that a condition may leave out."""
    waiting: list[ast.AST] = list(init.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If | ast.Try | ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.While | ast.With):
            continue
        if isinstance(node, ast.Call):
            yield node
        parts = [node.test] if isinstance(node, ast.IfExp) else [*ast.iter_child_nodes(node)]
        if isinstance(node, ast.For):
            parts = [node.iter]
        if isinstance(node, ast.BoolOp):
            parts = [node.values[0]]
        waiting += parts


def _required(call: ast.Call, context: Context, depth: int) -> Iterator[tuple[ast.expr, str]]:
    """The types that a call needs for its arguments."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return
    if isinstance(call.func, ast.Name) and call.func.id == "range":
        yield from ((each, "int") for each in call.args)
        return
    qualified = context.meaning(call.func)
    if qualified in _FILLS and len(call.args) > 1:
        yield from ((each, "int") for each in call.args)
    elif qualified in _SIZES:
        yield from ((node, "int") for node, _ in zip(call.args, _SIZES[qualified], strict=False))
        yield from ((each.value, "int") for each in call.keywords if each.arg in _SIZES[qualified])
    elif qualified.startswith("torch.nn."):
        yield from _of_annotations(call, context.constructor(qualified))
    elif depth < 5:
        yield from _of_class(call, qualified, context, depth)


def _of_annotations(call: ast.Call, taken: ast.arguments | None) -> Iterator[tuple[ast.expr, str]]:
    """The types that the parameters of a constructor have by their annotations, where these are plain."""
    plain = [] if taken is None else [*taken.posonlyargs, *taken.args]
    named = {each.arg: each for each in [*plain, *(taken.kwonlyargs if taken is not None else ())]}
    given = [(each.value, named.get(each.arg or "")) for each in call.keywords]
    for node, parameter in [*zip(call.args, plain, strict=False), *given]:
        match parameter:
            case ast.arg(annotation=ast.Name(id=kind)) if kind in _PLAIN:
                yield node, kind


def _of_class(call: ast.Call, qualified: str, context: Context, depth: int) -> Iterator[tuple[ast.expr, str]]:
    """The types that a class of the run needs, from its own constructor."""
    found = context.class_of(qualified)
    init = None if found is None else constructor(found)
    if found is None or init is None:
        return
    file = context.project.files[found.path]
    inner = Context(file, context.project, found)
    arguments = init.args.args[1:]
    key = (found.qualified, depth)
    kinds = context.project.kinds.get(key)
    if kinds is None:
        kinds = context.project.kinds[key] = by_use(init, inner, depth + 1)
    given = [*zip((each.arg for each in arguments), call.args, strict=False)]
    given += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
    for name, node in given:
        annotation = next((each.annotation for each in arguments if each.arg == name), None)
        said = ast.unparse(annotation) if annotation is not None else kinds.get(name)
        if said in ("int", "float"):
            yield node, str(said)
