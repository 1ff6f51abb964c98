"""Notes for the author of a tensorclass after its adoption: the different meaning of its methods and fields in tensordict."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PRIVATE = {
    "_from_tensordict": "write from_tensordict",
    "_get_at_str": "write get_at",
    "_get_str": "write get, or read the field",
    "_non_tensordict": "read the fields that hold other values",
    "_set_str": "write set, or assign to the field",
    "_tensordict": "write to_tensordict()",
}
"""Private members that tensordict gives a tensorclass, and what to write instead."""


def differences_in_use(node: ast.ClassDef) -> Iterator[str]:
    """The differences for a class that keeps its methods and fields, in the order of its lines."""
    own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name="__post_init__"):
                yield "__post_init__ runs in the constructor only; tensordict also runs it for results of operations"
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if _is_list(annotation):
                yield (
                    f"a list in {name} is one value for the batch; in tensordict it has one value for each item: "
                    "write PerItem[...] for that"
                )
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _private_calls(statement, own)


def _private_calls(method: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str]) -> Iterator[str]:
    """The private members of tensordict that a method reads of its object, its class or `super()`."""
    named = {each.arg for each in method.args.args[:1]}
    for each in ast.walk(method):
        match each:
            case ast.Attribute(value=ast.Name(id=of), attr=attribute) if of in named:
                pass
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attribute):
                pass
            case _:
                continue
        if attribute in _PRIVATE and attribute not in own:
            yield f"line {each.lineno} uses {attribute}, which is private to tensordict: {_PRIVATE[attribute]}"


def _is_list(annotation: ast.expr) -> bool:
    """Whether an annotation is a list, or a list or None."""
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                return _is_list(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return False
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return _is_list(inner)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return any(map(_is_list, (left, right)))
        case ast.Subscript(value=value):
            return _is_list(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("list", "List")
    return False
