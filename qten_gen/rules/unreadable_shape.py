"""The shape or dtype of a jaxtyping annotation says something that cannot be checked.

Tensors of a TensorClass are checked against what their annotation says: `Float[Tensor, "*batch seq 3"]`. `*batch` stands for the
batch size and comes first. Names, sizes, `_`, `...`, `*name` and `#name` are understood; arithmetic (`seq+1`) and trees (`?leaf`)
are not. Where a shape cannot be checked, `checks="off"` for the class leaves all of them out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldDecl, TensorClassDecl
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES, Axis, AxisKind, UnreadableShape, read_axes
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG211", "unreadable-shape")

GOOD = """
from jaxtyping import Float, Int
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Int[Tensor, "*batch seq"]
    scores: Float[Tensor, "*batch seq classes"] | None = None
"""

BAD = """
from jaxtyping import Float, Int
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Int[Tensor, "*batch seq"]
    shifted: Int[Tensor, "*batch seq+1"]
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, TensorClassDecl) or declaration.checks == "off":
        return
    bound = _bound(declaration)
    for field in context.tensorclass_fields:
        if field.dims is None:
            continue
        for message, help in _problems(field, bound):
            yield Diagnostic(KIND, f"{field.name}: {message}", field.type.place, help)


def _problems(field: FieldDecl, bound: frozenset[str]) -> Iterator[tuple[str, str]]:
    if field.dtype not in (*FAMILIES, *DTYPES, ANY_DTYPE):
        yield f"torch has no dtype for {field.dtype}", "name one that it has, or write Shaped for any"
    try:
        axes = read_axes(field.dims or "")
    except UnreadableShape as error:
        yield f"{error}", 'name the dimension on its own; or give the class checks="off"'
        return
    batch = [position for position, axis in enumerate(axes) if axis.kind is AxisKind.BATCH]
    if batch and field.unbatched:
        yield "the batch does not carry it, so *batch is no part of its shape", "leave *batch out"
    elif batch and batch != [0]:
        yield "*batch is not the first of its dimensions", "put *batch first: the shape starts with the batch size"
    for axis in axes:
        if axis.kind is AxisKind.BROADCAST and axis.value not in bound:
            help = f"write {axis.value} in a field that is not None, or _ here"
            yield f"no other field says what the size of #{axis.value} is", help


def _bound(declaration: TensorClassDecl) -> frozenset[str]:
    """The names whose size is known in every object: those in fields that are never None."""
    fields = [field for field in declaration.fields if field.dims is not None and not field.optional]
    return frozenset(axis.value for field in fields for axis in _readable(field) if axis.kind is AxisKind.NAME)


def _readable(field: FieldDecl) -> tuple[Axis, ...]:
    try:
        return read_axes(field.dims or "")
    except UnreadableShape:
        return ()
