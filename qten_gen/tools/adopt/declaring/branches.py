"""An `if` that registers: fields that may be None, and choices of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .children import conditional
from .context import PARAMETER, Context, quoted, self_attribute
from .expressions import said, short
from .pieces import FieldPiece, Stays
from .tensors import buffer, parameter


def branches(node: ast.If, context: Context) -> Iterator[tuple[str, FieldPiece]]:
    """The fields of an `if`, in the order in which it registers them.

    Raises:
        Stays: its branches register different names, or something that no declaration says.
    """
    first, second = _registered(node.body), _registered(node.orelse)
    if first is None or second is None:
        raise Stays("a branch does more than register", node)
    for found, other in ((first, second), (second, first)):
        if not found:
            found.update({name: ast.Constant(None) for name in other if not context.is_asked_for(name)})
    if list(first) != list(second):
        missing = next((name for name in (*first, *second) if (name in first) != (name in second)), None)
        if missing is None:
            raise Stays("the branches register in different orders", node)
        raise Stays(f"`self.{missing}` exists in one branch only, where a declared field would be None", node)
    for name in first:
        yield name, conditional_field(name, node, first[name], second[name], context)


def only_in_one(node: ast.If) -> list[str]:
    """The attributes that one branch alone sets, which a declaration sets to None in the other."""
    first, second = _registered(node.body) or {}, _registered(node.orelse) or {}
    return [name for name in (*first, *second) if (name in first) != (name in second)]


def conditional_field(
    name: str, node: ast.If | ast.IfExp, one: ast.expr, other: ast.expr, context: Context
) -> FieldPiece:
    """The field for one name that both branches give a value."""
    made = next((each for each in (one, other) if not _is_none(each)), None)
    if made is None:
        raise Stays(f"`self.{name}` is None in both branches", node)
    is_tensor = isinstance(made, ast.Call) and (
        context.meaning(made.func) in PARAMETER or _method(made) == "register_buffer"
    )
    if not is_tensor or not isinstance(made, ast.Call):
        found = conditional(node.test, one, other, node, context)
        return FieldPiece(name, found.annotation, found.text, node)
    if not (_is_none(one) or _is_none(other)):
        raise Stays(f"the branches give the tensor `{name}` different values", node)
    condition = said(node.test, context)
    if condition is None:
        raise Stays(
            f"the condition `{short(node.test)}` cannot be written as an expression of a declaration", node.test
        )
    if _is_none(one):
        condition = f"not ({condition})" if not condition.isidentifier() else f"not {condition}"
    if _method(made) == "register_buffer":
        given = {each.arg: each.value for each in made.keywords}
        persistent = made.args[2] if len(made.args) > 2 else given.get("persistent")
        text, kind = buffer(made, made.args[1], persistent, context), context.spell("Tensor", "torch")
    else:
        text, kind = parameter(made, context), ast.unparse(made.func)
    return FieldPiece(name, f"{kind} | None", f"{text[:-1]}, when={quoted(condition)})", node)


def _registered(statements: list[ast.stmt]) -> dict[str, ast.expr] | None:
    """What a branch registers, by name; None if it does anything else."""
    found: dict[str, ast.expr] = {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[target], value=value) if (name := self_attribute(target)) is not None:
                pass
            case ast.Expr(value=ast.Call(args=[ast.Constant(value=str(name)), value, *_]) as call) if _method(call) in (
                "register_buffer",
                "register_parameter",
            ):
                if _method(call) == "register_buffer" and not _is_none(value):
                    value = call
            case _:
                return None
        if name in found:
            return None
        found[name] = value
    return found


def _method(call: ast.Call) -> str:
    return self_attribute(call.func) or ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
