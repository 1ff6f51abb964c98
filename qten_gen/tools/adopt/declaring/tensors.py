"""Parameters and buffers: `nn.Parameter(torch.zeros(dim))` → `param("dim", initializer=nn.init.zeros_)`."""

from __future__ import annotations

import ast

from .children import is_factory_kwargs
from .context import BUFFER, PARAMETER, Context, quoted
from .expressions import of_module, over_fields, said, short, type_of
from .pieces import FieldPiece, Stays

_FILLS = {"torch.zeros": "zeros_", "torch.ones": "ones_"}


def registered_tensor(name: str, value: ast.expr, node: ast.stmt, context: Context) -> FieldPiece | None:
    """The field for a parameter or buffer that a statement registers; None for anything else.

    Raises:
        Stays: it has no declaration.
    """
    match value:
        case ast.Call() if context.meaning(value.func) in PARAMETER:
            return FieldPiece(name, ast.unparse(value.func), parameter(value, context), node)
        case ast.Call(args=[tensor], keywords=keywords) if context.meaning(value.func) in BUFFER:
            given = {each.arg: each.value for each in keywords}
            if given.keys() - {"persistent"}:
                raise Stays(f"`{short(value)}` has no declaration", node)
            text = buffer(tensor, given.get("persistent"), context)
            return FieldPiece(name, context.spell("Tensor", "torch"), text, node)
        case ast.IfExp():
            return _optional_parameter(name, value, context)
    return None


def parameter(node: ast.Call, context: Context) -> str:
    """The specifier of `nn.Parameter(...)`.

    Raises:
        Stays: its value reads something that is not known where the field stands.
    """
    keywords = {each.arg: each.value for each in node.keywords}
    if len(node.args) == 2:
        keywords["requires_grad"] = node.args[1]
    value = node.args[0] if node.args else keywords.pop("data", None)
    if value is None or keywords.keys() - {"requires_grad"} or any(isinstance(each, ast.Starred) for each in node.args):
        raise Stays(f"`{short(node)}` cannot be declared", node)
    switches = _switch("requires_grad", keywords.get("requires_grad"), True)
    return f"{context.spell('param')}({', '.join([*_value(value, context), *switches])})"


def buffer(value: ast.expr, persistent: ast.expr | None, context: Context) -> str:
    """The specifier of `register_buffer("mask", torch.ones(4))`.

    Raises:
        Stays: as above.
    """
    switches = _switch("persistent", persistent, True)
    return f"{context.spell('buffer')}({', '.join([*_value(value, context), *switches])})"


def _optional_parameter(name: str, node: ast.IfExp, context: Context) -> FieldPiece | None:
    """The field for a parameter that exists where a condition is true; None for anything else.

    Raises:
        Stays: it exists in both cases, or the language does not say the condition.
    """
    one, other = node.body, node.orelse
    made = next((each for each in (one, other) if isinstance(each, ast.Call)), None)
    if made is None or context.meaning(made.func) not in PARAMETER:
        return None
    if not (_is_none(one) or _is_none(other)):
        raise Stays(f"the branches give the tensor `{name}` different values", node)
    condition = said(node.test, context)
    if condition is None:
        raise Stays(
            f"the condition `{short(node.test)}` cannot be written as an expression of a declaration", node.test
        )
    if _is_none(one):
        condition = f"not ({condition})" if not condition.isidentifier() else f"not {condition}"
    text = f"{parameter(made, context)[:-1]}, when={quoted(condition)})"
    return FieldPiece(name, f"{ast.unparse(made.func)} | None", text, node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _switch(name: str, given: ast.expr | None, default: bool) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, ast.Constant) or not isinstance(given.value, bool):
        raise Stays(f"`{name}={short(given)}` is not True or False", given)
    return [] if given.value is default else [f"{name}={given.value}"]


def _value(node: ast.expr, context: Context) -> list[str]:
    """The sizes and the initialiser where zeros or ones fill a tensor, else a function that computes the value.

    Initialisers run when everything is registered, so one that draws random numbers would draw them too late.
    """
    if isinstance(node, ast.Constant) and node.value is None:
        raise Stays("a tensor is registered as None", node)
    if isinstance(node, ast.Call) and all(_is_factory(keyword, context) for keyword in node.keywords):
        fill = None if context.resets else _FILLS.get(context.meaning(node.func))
        sizes = _sizes(node.args, context)
        if sizes is not None and context.resets and context.meaning(node.func) == "torch.empty":
            return sizes
        if fill is not None and sizes is not None and context.file.scope.resolve("nn") == "torch.nn":
            return [*sizes, f"initializer=nn.init.{fill}"]
    _refuse_shared(node, context)
    return [f"value={of_module(node, context)}"]


def _is_factory(keyword: ast.keyword, context: Context) -> bool:
    """Whether a keyword gives a tensor the device and dtype of the constructor, as a declared one has."""
    if keyword.arg is None:
        return is_factory_kwargs(keyword.value, context)
    return keyword.arg in context.factory and ast.unparse(keyword.value) == keyword.arg


def _sizes(nodes: list[ast.expr], context: Context) -> list[str] | None:
    """The sizes of a tensor; None where they are not certainly integers."""
    if len(nodes) == 1 and isinstance(nodes[0], ast.Tuple | ast.List):
        nodes = nodes[0].elts
    elif len(nodes) == 1 and not isinstance(nodes[0], ast.Constant):
        found = said(nodes[0], context)
        if found is None or not _is_int(nodes[0], context):
            return None
    sizes = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            return None
        if isinstance(node, ast.Constant) and type(node.value) is int:
            sizes.append(str(node.value))
            continue
        text = said(node, context)
        if text is None:
            return None
        sizes.append(quoted(text))
    return sizes


def _is_int(node: ast.expr, context: Context) -> bool:
    found = over_fields(node, context)
    return found is not None and type_of(found, context) == "int"


def _refuse_shared(node: ast.expr, context: Context) -> None:
    """Refuse a tensor that is an argument, or one that another name may hold: the value has to be made here alone."""
    read = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    shared = any(context.reads[name] > 1 and _is_tensor(context.names.get(name), context) for name in read)
    if shared or not isinstance(over_fields(node, context) or node, ast.Call | ast.BinOp | ast.UnaryOp):
        raise Stays(f"the value `{short(node)}` is not made where it is registered", node)


def _is_tensor(node: ast.expr | None, context: Context) -> bool:
    """Whether what a local name stands for may be a tensor."""
    calls = () if node is None else (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(context.meaning(each.func).startswith("torch.") for each in calls)
