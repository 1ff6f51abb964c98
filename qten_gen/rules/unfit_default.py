"""The default of a field is not a value that the field can hold.

A default is stored like any other value of the field. With `mask: Tensor = None`, every call of the constructor that leaves the
mask out would raise TypeError, and type checkers would take `batch.mask` for a tensor. A number or string in place of a tensor is
refused likewise, unless the class converts values, and so is `0.5` in an `int` field.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..model import FieldDecl, FieldKind, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG213", "unfit-default")

GOOD = """
import torch
from qten_gen import TensorClass, field
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    mask: Tensor | None = None
    weight: Tensor = field(default_factory=lambda: torch.ones(()))
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    mask: Tensor = None
                   ^^^^
"""

_WIDTHS = (bool, int, float, complex)


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    converts = isinstance(declaration, TensorClassDecl) and not declaration.flags.isdisjoint(
        {"autocast", "tensor_only"}
    )
    for field in context.tensorclass_fields:
        if field.default is None or field.default.factory or field.default.value.literal is None:
            continue
        value: object = literal_eval(field.default.value.literal)
        help = _help(field, value, converts)
        if help:
            message = f"the default of {field.name} is {field.default.value.text}, but its type is {field.type.text}"
            yield Diagnostic(KIND, message, field.default.value.place, help)


def _help(field: FieldDecl, value: object, converts: bool) -> str:
    """How to fix a default that does not fit; empty for one that does."""
    if field.kind is FieldKind.STATIC or (value is None and field.optional):
        return ""
    if value is None:
        return f"write {field.name}: {field.type.text} | None = None"
    if field.kind is FieldKind.NUMBER:
        return (
            "" if _fits(value, field.cast or "") else "write a default of the annotated type, or change the annotation"
        )
    if field.kind is FieldKind.TENSOR and field.container is None:
        factory = f"write field(default_factory=lambda: torch.tensor({value!r}))"
        return (
            ""
            if converts
            else factory
            if isinstance(value, _WIDTHS)
            else "remove the default, or write a default_factory"
        )
    return "" if field.kind is FieldKind.PER_ITEM else "remove the default, or write a default_factory"


def _fits(value: object, kind: str) -> bool:
    """Whether a number is of the type that an annotation says, or of a narrower one; 0 and 1 are booleans."""
    if not isinstance(value, _WIDTHS):
        return False
    names = [width.__name__ for width in _WIDTHS]
    return names.index(type(value).__name__) <= names.index(kind) or (
        kind == "bool" and type(value) is int and value in (0, 1)
    )
