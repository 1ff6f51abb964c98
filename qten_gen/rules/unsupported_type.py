"""The annotation of a field does not decide how the field is stored.

A field is a tensor, another TensorClass, or a Python value that is the same for the whole batch. Generated code has
different lines for each. A union of these, or a tensor inside a container such as `tuple[Tensor, ...]` could only be stored as a
Python value: `batch[0]` would return it unindexed, and `.to()` would not move its tensors.

A type variable stands for its bound. Without a bound it stands for a Python value, and the constructor refuses tensors.

The containers `dict[str, Tensor]` and `list[Tensor]` are supported. TensorDicts and classes that tensordict makes are not: their
keys and shapes change while a program runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import DerivedDecl, FieldDecl, FieldKind, TypeExpr, language
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES
from ..model.diagnostics import Diagnostic, Kind
from ..model.expression_text import annotation_text
from ..model.field_kinds import is_kw_only, is_tensor, members_of
from .rule_input import RuleContext

KIND = Kind("QG208", "unsupported-type")

EXAMPLE = """
-from qten_gen import TensorClass
+from qten_gen import TensorClass, Unbatched
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    layers: tuple[Tensor, ...]
-            ^^^^^^^^^^^^^^^^^^
+    layers: list[Tensor]
+    mask: Tensor | None = None
+    table: Unbatched[Tensor] | None = None
+    tags: list[str] | None = None
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for declared in context.fields:
        is_final = declared.type.name == "typing.Final" and not isinstance(declared, DerivedDecl)
        if is_final and not context.constructs_itself:
            help = "remove Final; frozen=True makes the objects of a TensorClass immutable"
            yield Diagnostic(
                KIND, f"{declared.name} is Final, but the constructor has to assign it", declared.type.place, help
            )
    for declared in context.fields:
        unfit = None if context.constructs_itself else _no_type(declared.type)
        if unfit is not None:
            yield Diagnostic(KIND, f"the type of {declared.name} {unfit[0]}", declared.type.place, unfit[1])
    for field in context.tensorclass_fields:
        problem = _problem(field, context) if _no_type(field.type) is None else None
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, f"the type of {field.name} {message}", field.type.place, help)


def _no_type(type: TypeExpr) -> tuple[str, str] | None:
    """The problem with an annotation that is not a type of values, in any declaration; and how to fix it."""
    for member in members_of(type):
        last = member.name.rpartition(".")[2]
        if member.name == "dataclasses.InitVar":
            return "is InitVar, which only dataclasses support", "write a class method that computes the fields"
        if is_kw_only(member):
            return "is KW_ONLY, which only dataclasses support", "write field(kw_only=True) for each field below"
        shown = re.match(_OBJECT, member.text)
        if shown is not None or member.name in _FUNCTIONS or member.name.startswith("None."):
            kind, name = ("function", last) if shown is None else (shown[1].replace("method", "function"), shown[2])
            instead = _FUNCTIONS.get(member.name) or _FUNCTIONS.get(f"torch.{name}")
            return f"is the {kind} {name}, not a type", f"write {instead or 'the type of the values'}"
        if member.name in ("torch.Tensor", "torch.nn.Parameter") and member.args:
            return f"is {last} with brackets, which it does not take", 'write Float[Tensor, "batch 3"] with jaxtyping'
        if not _is_array(member):
            return f"is not {last} of an array type and one shape", f'write {last}[Tensor, "batch 3"]'
    if _is_unreadable(type):
        return "cannot be determined from its annotation", "write a type, or its name in quotes"
    return None


def _is_unreadable(type: TypeExpr) -> bool:
    """Whether an annotation, or a part of it, is a string that holds no expression."""
    is_string = type.text[:1] in ("'", '"')
    parts = (argument for argument in type.args if isinstance(argument, TypeExpr))
    return (is_string and annotation_text(type.text) is None) or any(map(_is_unreadable, parts))


def _is_array(type: TypeExpr) -> bool:
    """Whether the brackets of a dtype of jaxtyping hold what they have to, as far as the text shows."""
    module, _, dtype = type.name.rpartition(".")
    if module != "jaxtyping" or dtype not in (*FAMILIES, *DTYPES, ANY_DTYPE) or not type.args:
        return True
    if len(type.args) != 2 or isinstance(type.args[0], str):
        return False
    shape = type.args[1]
    return isinstance(shape, str) or not shape.text.isdecimal()


_OBJECT = r"""['"]?<(?:built-in )?(function|method|module) \\?'?([\w.]+)"""
"""How a class statement shows an annotation that is an object without a type."""
_FUNCTIONS = {
    "builtins.any": "Any, which typing defines",
    "builtins.callable": "Callable, which collections.abc defines",
    "builtins.iter": "Iterator, which collections.abc defines",
    "numpy.array": "np.ndarray",
    "torch.tensor": "Tensor",
    "torch.as_tensor": "Tensor",
}
"""Functions whose names are taken for types, and the type that is meant."""


def _problem(field: FieldDecl, context: RuleContext) -> tuple[str, str] | None:
    """The problem with the type of a field, as the end of a sentence, and how to fix it."""
    present = [member for member in members_of(field.type) if member.name != "None"]
    tensors = [member for member in present if is_tensor(member)]
    nested = [member for member in present if _is_tensorclass(member, context)]
    if any(member.name == language.UNBATCHED for member in present):
        unfit = "is Unbatched, but not a tensor" if len(present) == 1 else "combines Unbatched with another type"
        return None if field.unbatched else (unfit, "write Unbatched[Tensor]; Python values have no batch dimensions")
    if any(member.name == language.PER_ITEM for member in present) and field.kind is not FieldKind.PER_ITEM:
        return "combines PerItem with another type", "write one PerItem[...] with the union inside the brackets"
    if field.kind is FieldKind.PER_ITEM and any(_holds_tensors(member, context) for member in present):
        return "has a tensor for each item", "stack the tensors into one Tensor"
    if tensors and len(tensors) < len(present):
        return "combines a tensor with another type", "write Tensor; a number becomes a tensor"
    if len(nested) > 1 or (nested and len(nested) < len(present)):
        return "allows several classes", "declare a field for each class, with None as its default"
    if any(member.name == language.TENSORCLASS for member in present):
        return _base_itself(present[0].text, context)
    if any(_is_of_tensordict(member, context) for member in present):
        return "is a class of tensordict, which no field holds", f"{_FOR_CONTAINERS} for each entry"
    if any(member.name in _OTHER_BATCHES for member in present):
        return "holds tensors that a static field does not move or index", "write Tensor, or declare a TensorClass"
    if any(member.name == "typing.Self" for member in present):
        return "is Self, which means another class in each subclass", f"write {context.declaration.name}"
    if any(not member.name for member in present):
        return "cannot be determined from its annotation", "write a type, or its name in quotes"
    others = [member for member in present if member not in tensors and member not in nested]
    if field.container is None and any(_holds_tensors(member, context) for member in others):
        return "contains tensors in an unsupported container", f"{_FOR_CONTAINERS} for each"
    return None


_FOR_CONTAINERS = "write dict[str, Tensor] or list[Tensor], or declare a TensorClass with a field"


def _base_itself(text: str, context: RuleContext) -> tuple[str, str]:
    """The problem with TensorClass, or with a type variable that stands for it; and how to fix it."""
    name = text.removeprefix("~")
    parameters = (f"[{context.declaration.type_parameters}]", *(base.text for base in context.declaration.bases))
    # A class statement shows a variable as `~T`.
    if name == text and not any(re.search(rf"(\[|, ){re.escape(name)}\b", given) for given in parameters):
        return "is TensorClass itself", "write the class of the stored objects"
    return (
        f"is the type variable {name}, whose bound is TensorClass itself",
        f"bound {name} to a class that you declare and derive the stored ones from; it needs no fields",
    )


_OTHER_BATCHES = frozenset(
    {"qten_gen.LazyStack", "qten_gen.LabelledTensor", "torch.nn.utils.rnn.PackedSequence", language.TENSORCLASS}
)
"""Classes whose objects hold tensors, and that no kind of field is for."""

_OF_TENSORDICT = r"tensordict\.(?:.*\.)?(?:\w*TensorDict|TensorDictBase|TensorCollection|TensorClass|NonTensor\w+)"
_TENSORDICT_DECORATORS = frozenset({"tensordict.tensorclass", "tensordict.prototype.tensorclass"})


def _is_of_tensordict(type: TypeExpr, context: RuleContext) -> bool:
    """Whether the type is a container of tensordict, or a class of the run that tensordict makes."""
    source = context.project.classes.get(type.name)
    names = [type.name, *(base.name for base in (source.bases if source is not None else ()))]
    decorators = source.decorators if source is not None else ()
    return any(re.fullmatch(_OF_TENSORDICT, name) is not None for name in names) or any(
        name in _TENSORDICT_DECORATORS for name, _ in decorators
    )


def _is_tensorclass(type: TypeExpr, context: RuleContext) -> bool:
    own = context.declaration
    return type.name == f"{own.module}.{own.name}" or context.project.is_tensorclass(type.name)


def _holds_tensors(type: TypeExpr, context: RuleContext) -> bool:
    """Whether a tensor is among the type's arguments, at any depth. A callable does not contain what it takes and returns."""
    if type.name in ("typing.Callable", "collections.abc.Callable", "builtins.type", "typing.Type"):
        return False
    arguments = [argument for argument in type.args if isinstance(argument, TypeExpr)]
    return any(_is_batched(a, context) or _holds_tensors(a, context) for a in arguments)


def _is_batched(type: TypeExpr, context: RuleContext) -> bool:
    """Whether objects of the type are tensors, or hold tensors."""
    if is_tensor(type) or type.name in _OTHER_BATCHES or _is_of_tensordict(type, context):
        return True
    return _is_tensorclass(type, context)
