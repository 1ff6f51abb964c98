"""What single expressions of a constructor look like: a module that is made, a parameter, a name."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

_PURE = frozenset("int len min max float bool abs round str tuple list sum range dict getattr".split())


@dataclass
class Shapes:
    """What one constructor needs of the language, and what is not in it, in the order of the statements."""

    parts: set[str] = field(default_factory=set)
    stops: list[str] = field(default_factory=list)
    passes: bool = False
    """Whether it passes arguments to the constructor of the base."""


def children_in(statements: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """The attributes that statements give children to, or None."""
    found: dict[str, ast.expr] = {}
    makes = False
    for statement in statements:
        for each in ast.walk(statement):
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    if isinstance(target, ast.Attribute) and (makes_module(each.value) or is_none(each.value)):
                        found[target.attr] = each.value
                makes = makes or makes_module(each.value)
            elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                makes = makes or any(makes_module(argument) for argument in each.value.args)
                if text_of(each.value.func).endswith(("register_buffer", "register_parameter")):
                    makes = True
                    first = each.value.args[0] if each.value.args else None
                    if isinstance(first, ast.Constant):
                        found[str(first.value)] = each.value
    return found or ({"": ast.Constant(None)} if makes else {})


def makes_module(node: ast.expr) -> bool:
    """Whether an expression looks as if it made a module or a parameter: it calls a name in capitals, or picks from a table."""
    match node:
        case ast.Call(func):
            text = text_of(func)
            last = text.rpartition(".")[2]
            if text.startswith(("torch.", "math.", "np.", "numpy.", "F.")) and not text.startswith("torch.nn."):
                return False
            is_layer_of_torch = text in (f"nn.{last}", f"torch.nn.{last}")  # some are in capitals: nn.GELU, nn.LSTM
            if text.startswith("nn.init.") or (last.isupper() and not is_layer_of_torch):
                return False
            if isinstance(func, ast.Subscript):
                return makes_module(func)
            if last.endswith(("Config", "Error", "Warning", "Enum", "Output", "Path")):
                return False
            plain = last.lstrip("_")
            is_class = plain[:1].isupper()
            is_layer = last.endswith(("_layer", "_cls", "_class", "_block")) or last.startswith(
                ("build_", "make_", "create_")
            )
            return is_class or is_layer or last in ("from_config", "act_fn", "get_activation")
        case ast.Subscript(value):
            name = text_of(value).rpartition(".")[2]
            return name.isupper() and any(
                word in name for word in ("ACT", "CLASS", "NORM", "LAYER", "FN", "MODULE", "BLOCK")
            )
        case ast.IfExp(_, body, orelse):
            return makes_module(body) or makes_module(orelse)
        case ast.Starred(value):
            return makes_module(value) or isinstance(value, ast.ListComp)
        case ast.List(elements) | ast.Tuple(elements):
            return any(map(makes_module, elements))
        case ast.BoolOp(_, values):
            return any(map(makes_module, values))
    return False


def same_arguments(one: ast.expr, other: ast.expr) -> bool:
    """Whether two calls have the same arguments, so that a choice of their classes says both. `nn.Identity` takes any."""
    if not isinstance(one, ast.Call) or not isinstance(other, ast.Call):
        return False
    if any(text_of(call.func).endswith("Identity") and not call.args for call in (one, other)):
        return True
    first, second = ([ast.dump(each) for each in (*call.args, *call.keywords)] for call in (one, other))
    return first == second


def modules_by_default(arguments: ast.arguments) -> Iterator[str]:
    """The arguments whose default is a module that is made when the class statement runs: `act=nn.GELU()`."""
    plain = [*arguments.posonlyargs, *arguments.args]
    given: list[tuple[ast.arg, ast.expr | None]] = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    given += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return (each.arg for each, default in given if isinstance(default, ast.Call) and makes_module(default))


def is_registered_alone(name: str, init: ast.FunctionDef) -> bool:
    """Whether all that happens to an argument is `self.name = name`, which a config field with a default factory does."""
    uses = [each for each in ast.walk(init) if isinstance(each, ast.Name) and each.id == name]
    stored = [
        each.value
        for each in ast.walk(init)
        if isinstance(each, ast.Assign) and [text_of(target) for target in each.targets] == [f"self.{name}"]
    ]
    return all(any(use is value for value in stored) for use in uses)


def is_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and text_of(node.func).rpartition(".")[2] in ("Parameter", "Buffer")


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_self_method(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "self"
    )


def may_make(call: ast.Call) -> bool:
    """Whether a method of the class may make children, by its name."""
    name = text_of(call.func).rpartition(".")[2]
    return any(word in name for word in ("make", "build", "create", "init", "layer", "block", "get_"))


def is_append(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "add_module")


def is_plain(node: ast.Assign) -> bool:
    return all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets) and not makes_module(node.value)


def is_factory_kwargs(node: ast.expr) -> bool:
    """Whether an expression is `{"device": device, "dtype": dtype}`, or one of the two."""
    return (
        isinstance(node, ast.Dict)
        and bool(node.keys)
        and all(
            isinstance(key, ast.Constant)
            and key.value in ("device", "dtype")
            and isinstance(value, ast.Name)
            and value.id == key.value
            for key, value in zip(node.keys, node.values, strict=True)
        )
    )


def text_of(node: ast.AST) -> str:
    """The text of an expression. Names and attributes, which most are, do not need the writer of `ast`."""
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ast.unparse(node)


def is_pure(call: ast.Call, own: Collection[str]) -> bool:
    """Whether a call is of a function that expressions may call, or reads none of a constructor's `own` names."""
    if text_of(call.func) in _PURE - {"getattr"}:
        return True
    return not any(isinstance(each, ast.Name) and each.id in own for each in ast.walk(call))
