"""The shape or dtype of a jaxtyping annotation cannot be checked.

The constructor and assignments of a TensorClass check tensors against their annotations, such as `Float[Tensor, "*batch seq
3"]`. If qten-gen skipped a shape that it cannot read, the annotation would promise a check that nobody makes, and a tensor of a
wrong shape would fail later and elsewhere.

qten-gen understands sizes, names, `_`, `...`, `*name` and `#name`. `*batch` is the batch size, and comes first. Arithmetic
(`seq+1`) and trees (`?leaf`) are not supported. `checks="off"` switches off all checks of a class.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldDecl, TensorClassDecl
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES, Axis, AxisKind, UnreadableShape, read_axes
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG211", "unsupported-shape")

EXAMPLE = """
 from jaxtyping import Float, Int
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Int[Tensor, "*batch seq"]
-    shifted: Int[Tensor, "*batch seq+1"]
-             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
+    scores: Float[Tensor, "*batch seq classes"] | None = None
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
    """The problem with the dtype and shape of a field, and how to fix it; `bound` are the names with a known size."""
    if field.dtype not in (*FAMILIES, *DTYPES, ANY_DTYPE):
        yield f"torch has no dtype for {field.dtype}", "use a dtype of torch, or Shaped for any dtype"
    try:
        axes = read_axes(field.dims or "")
    except UnreadableShape as error:
        yield f"{error}", 'give the dimension a name, or set checks="off" on the class'
        return
    batch = [position for position, axis in enumerate(axes) if axis.kind is AxisKind.BATCH]
    if batch and field.unbatched:
        yield "it is Unbatched, so *batch is not part of its shape", "remove *batch"
    elif batch and batch != [0]:
        yield "*batch is not its first dimension", "put *batch first: the shape starts with the batch size"
    for axis in axes:
        if axis.kind is AxisKind.BROADCAST and axis.value not in bound:
            help = f"use {axis.value} in a field that cannot be None, or write _ here"
            yield f"no other field defines the size of #{axis.value}", help


def _bound(declaration: TensorClassDecl) -> frozenset[str]:
    """The names whose size is known in every object: those in fields that are never None."""
    fields = [field for field in declaration.fields if field.dims is not None and not field.optional]
    return frozenset(axis.value for field in fields for axis in _readable(field) if axis.kind is AxisKind.NAME)


def _readable(field: FieldDecl) -> tuple[Axis, ...]:
    try:
        return read_axes(field.dims or "")
    except UnreadableShape:
        return ()
