"""The order of the overloads of a Module's call: `forward` before the handlers, or behind them.

A call runs a handler where there is one, so `forward` stands behind the handlers if both can mean an object. If not, it stands
first: where a module is taken for a function, as by `torch.compile(module)`, mypy reads the first overload alone.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator

from ..model import RegistrationDecl, Signature, SourceFile
from ..model.expression_text import annotation_text
from ..model.field_kinds import members_of
from .parameters import parsed
from .stub_names import qualified

_PLAIN = frozenset(
    f"builtins.{name}" for name in "bool bytes complex dict float frozenset int list set str tuple".split()
)
"""Builtins that are no base of a tensor."""


def forward_first(
    forward: Iterable[tuple[SourceFile, Signature]], handlers: Iterable[RegistrationDecl], declared: Container[str]
) -> bool:
    """Whether `forward` takes only tensors and plain builtins, and the handlers only declared classes and the other of these."""
    taken = {name for source, signature in forward for name in _taken(signature, source)} - {"None"}
    registered = {member.name for handler in handlers for member in members_of(handler.type)} - {"None"}
    others = {name for name in registered if name not in declared}
    return taken <= {"torch.Tensor", *_PLAIN} and others <= _PLAIN and not (others and taken & _PLAIN)


def _taken(signature: Signature, source: SourceFile) -> Iterator[str]:
    """The qualified names of what the first argument can be; `""` for a type that says less."""
    first = next(iter(parsed(signature.parameters)), None)
    return iter(()) if first is None else _members(first.type, source)


def _members(text: str, source: SourceFile) -> Iterator[str]:
    """The qualified names of the members of a union, with what jaxtyping annotates in the place of its annotation."""
    node = ast.parse(text, mode="eval").body if text else None
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _members(ast.unparse(left), source)
            yield from _members(ast.unparse(right), source)
        case ast.Constant(value=None):
            yield "None"
        case ast.Constant(value=str(quoted)):
            yield from _members(annotation_text(quoted) or "", source)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[item, *_])) if _is_shaped(ast.unparse(value), source):
            yield from _members(ast.unparse(item), source)
        case ast.Name() | ast.Attribute():
            yield qualified(ast.unparse(node), source)
        case _:
            yield ""


def _is_shaped(name: str, source: SourceFile) -> bool:
    return qualified(name, source).startswith("jaxtyping.")
