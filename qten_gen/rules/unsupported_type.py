"""The type of a field leaves open how it is stored.

Each field is a tensor, another TensorClass, or a Python value that is the same for the whole batch, and the annotation says
which. A union of these, an unbound type variable, and containers of tensors other than `dict[str, Tensor]` and `list[Tensor]` say
several at once, or what cannot be held.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FieldDecl, FieldKind, TensorClassDecl, TypeExpr, language
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import is_tensor, members_of
from .context import RuleContext

KIND = Kind("QG208", "unsupported-type")

GOOD = """
from qten_gen import TensorClass, Unbatched
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    layers: list[Tensor]
    mask: Tensor | None = None
    table: Unbatched[Tensor] | None = None
    tags: list[str] | None = None
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    layers: tuple[Tensor, ...]
            ^^^^^^^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for declared in context.fields:
        if declared.type.name == "typing.Final" and not context.constructs_itself:
            help = "leave Final out; with frozen=True nothing can be set in the objects of a TensorClass"
            yield Diagnostic(
                KIND, f"{declared.name} is Final, which no argument of a constructor can be", declared.type.place, help
            )
    for field in context.tensorclass_fields:
        problem = _problem(field, context)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, f"the type of {field.name} {message}", field.type.place, help)


def _problem(field: FieldDecl, context: RuleContext) -> tuple[str, str] | None:
    present = [member for member in members_of(field.type) if member.name != "None"]
    tensors = [member for member in present if is_tensor(member)]
    nested = [member for member in present if _is_tensorclass(member, context)]
    if any(member.name == language.UNBATCHED for member in present):
        unfit = "is Unbatched, but no tensor" if len(present) == 1 else "is Unbatched or something else"
        return None if field.unbatched else (unfit, "write Unbatched[Tensor]; a Python value is not batched anyway")
    if any(member.name == language.PER_ITEM for member in present) and field.kind is not FieldKind.PER_ITEM:
        return "is PerItem or something else", "write PerItem[...] alone, with a union in its brackets"
    if field.kind is FieldKind.PER_ITEM and any(_holds_tensors(member, context) for member in present):
        return "has tensors as values of items", "stack them in one Tensor"
    if tensors and len(tensors) < len(present):
        return "is a tensor or something else", "write Tensor: a number given for it becomes a tensor"
    if len(nested) > 1 or (nested and len(nested) < len(present)):
        return "is one of several classes", "give each class a field of its own, with None as default"
    if any(member.name == language.TENSORCLASS for member in present):
        return "is any TensorClass", "name the class that is stored"
    if any(member.name == "dataclasses.InitVar" for member in present):
        return "is InitVar, which only dataclasses have", "write a class method that computes the fields and constructs"
    if any(member.name == "typing.Self" for member in present):
        return "is Self, which is another class in each child", f"write {context.declaration.name}"
    if any(not member.name for member in present):
        return "cannot be told from its annotation", "write a type; a type variable needs a bound, such as Tensor"
    if field.container is None and any(
        _holds_tensors(member, context) for member in present if member not in tensors and member not in nested
    ):
        return (
            "has tensors inside a container",
            "write dict[str, Tensor] or list[Tensor], or declare a TensorClass with a field for each",
        )
    return None


def _is_tensorclass(type: TypeExpr, context: RuleContext) -> bool:
    own = context.declaration
    return type.name == f"{own.module}.{own.name}" or isinstance(
        context.project.declarations.get(type.name), TensorClassDecl
    )


def _holds_tensors(type: TypeExpr, context: RuleContext) -> bool:
    """Whether a tensor is among the type's arguments, at any depth. What a callable takes and returns is not held."""
    if type.name in ("typing.Callable", "collections.abc.Callable", "builtins.type", "typing.Type"):
        return False
    arguments = [argument for argument in type.args if isinstance(argument, TypeExpr)]
    return any(is_tensor(a) or _is_tensorclass(a, context) or _holds_tensors(a, context) for a in arguments)
