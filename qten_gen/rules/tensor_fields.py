"""Rules about which tensors the fields of a TensorClass hold."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldDecl, FieldKind, TensorClassDecl, language
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES, Axis, AxisKind, UnreadableShape, read_axes
from .rule_input import Problem, RuleContext


def unsupported_shape(declaration: TensorClassDecl, context: RuleContext) -> Iterator[Problem]:
    """The shape or dtype of a jaxtyping annotation cannot be checked.

    The constructor and assignments of a TensorClass check tensors against their annotations, such as `Float[Tensor, "*batch seq
    3"]`. If qten-gen skipped a shape that it cannot read, the annotation would promise a check that nobody makes, and a tensor
    of a wrong shape would fail later and elsewhere.

    qten-gen understands sizes, names, `_`, `...`, `*name` and `#name`. `*batch` is the batch size, and comes first. Arithmetic
    (`seq+1`) and trees (`?leaf`) are not supported. `checks="off"` switches off all checks of a class.

    Example:

     from jaxtyping import Float, Int
     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Int[Tensor, "*batch seq"]
    -    shifted: Int[Tensor, "*batch seq+1"]
    -             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    +    scores: Float[Tensor, "*batch seq classes"] | None = None
    """
    if declaration.checks == "off":
        return
    # The names whose size is known in every object: those in fields that are never None.
    certain = (f for f in declaration.fields if f.kind is FieldKind.TENSOR and f.dims is not None and not f.optional)
    bound = frozenset(axis.value for f in certain for axis in _readable(f) if axis.kind is AxisKind.NAME)
    for field in context.tensorclass_fields:
        if field.dims is None:
            continue
        for message, help in _problems(field, bound):
            yield Problem(f"{field.name}: {message}", field.type.place, help)


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
    if batch and (field.unbatched or field.kind is FieldKind.RAGGED):
        kind = "Unbatched" if field.unbatched else "Ragged"
        yield f"it is {kind}, so *batch is not part of its shape", "remove *batch"
    elif batch and batch != [0]:
        yield "*batch is not its first dimension", "put *batch first: the shape starts with the batch size"
    for axis in axes:
        if axis.kind is AxisKind.BROADCAST and axis.value not in bound:
            help = f"use {axis.value} in a field that cannot be None, or write _ here"
            yield f"no other field defines the size of #{axis.value}", help


def _readable(field: FieldDecl) -> tuple[Axis, ...]:
    try:
        return read_axes(field.dims or "")
    except UnreadableShape:
        return ()


def implicit_tensor_conversion(context: RuleContext) -> Iterator[Problem]:
    """A number is stored as a tensor, but its annotation says otherwise.

    In a class without flags, a number in a field annotated `int`, `float`, `bool` or `complex` becomes a tensor, as in
    tensordict. The declaration then says `int` where the object has a `Tensor`: type checkers accept `json.dumps(batch.epoch)`,
    which raises TypeError. `AsTensor[int]` says what happens; `nocast=True` on the class keeps all its numbers as they are.

    Example:

    -from qten_gen import TensorClass
    +from qten_gen import AsTensor, TensorClass, number
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    epoch: int = 0
    -           ^^^
    +    epoch: AsTensor[int] = number(default=0)
    """
    for field in context.tensorclass_fields:
        if field.kind is FieldKind.NUMBER and field.type.name != language.AS_TENSOR:
            message = f"{field.name} is annotated {field.type.text}, but is stored as a Tensor"
            help = f"write {field.name}: {_as_tensor(field)}, or keep it with nocast=True on the class"
            yield Problem(message, field.type.place, help)


def _as_tensor(field: FieldDecl) -> str:
    """The annotation and default of a number that says to checkers what is stored."""
    type = f"AsTensor[{field.cast}{' | None' if field.optional else ''}]"
    default = field.default
    return type if default is None else f"{type} = number(default={'...' if default.factory else default.value.text})"
