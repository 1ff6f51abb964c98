"""Rules about the annotations of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..common.field_kinds import is_tensor, members_of
from ..common.suggestions import did_you_mean, only_near
from ..model import (
    ClassSource,
    DerivedDecl,
    FieldDecl,
    FieldKind,
    NodePath,
    SourceFile,
    SpecifierCall,
    TensorClassDecl,
    TypeExpr,
    Value,
    language,
)
from ..model.array_shapes import ANY_DTYPE, DTYPES, FAMILIES
from ..model.diagnostics import Fix
from ..model.dimensions import annotation_text
from ..model.field_parts import is_kw_only
from .rule_input import Problem, RuleContext, name_of

_TYPES = {
    language.PARAM: "nn.Parameter",
    language.BUFFER: "Tensor",
    language.SUBMODULE: "the class of the module",
    language.FIELD: "its type",
    language.DERIVED: "int",
}


def missing_annotation(context: RuleContext) -> Iterator[Problem]:
    """A field specifier is assigned to a name without an annotation, or to a ClassVar.

    Only annotated names are fields, and class variables are not. Without an annotation, the specifier stays an ordinary class
    attribute: `module.weight` would be the specifier itself, and no parameter would be registered. So it would be missing in
    `parameters()` and in the state dict, and the optimizer would not train it.

    Example:

     from qten_gen import Module, param
     from torch import nn


     class Scale(Module):
         dim: int
    -    weight = param("dim", initializer=nn.init.ones_)
    -    ^^^^^^
    +    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    """
    for field in context.source.fields:
        if field.annotation is None and field.specifier is not None and field.specifier.name != language.VIRTUAL:
            called = field.specifier.name.rpartition(".")[2]
            help = f"write {field.name}: {_type(field.specifier)} = {called}(...)"
            yield Problem(f"the field {field.name} has no annotation", name_of(field), help)


def _type(call: SpecifierCall) -> str:
    """The annotation of a field with this specifier; the class of a child, if the call names it."""
    first = call.positional[0].value if call.name == language.SUBMODULE and call.positional else None
    if isinstance(first, Value) and first.literal is None and first.text.replace(".", "").isidentifier():
        return first.text
    return _TYPES.get(call.name, "its type")


def unknown_type(context: RuleContext) -> Iterator[Problem]:
    """The annotation of a field contains a name that is not defined.

    The annotation decides how a field is stored, and qten-gen would treat an unknown name as an ordinary Python class: a field
    annotated `Tensr` would not be indexed with the batch, and `.to()` would not move it. If annotations are evaluated, the
    class statement raises NameError.

    A type alias below the class is reported too, even if the annotation is quoted: the alias does not exist yet when the class
    is created, and qten-gen needs its meaning then.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
    -    tokens: Tensr
    -            ^^^^^
    +    tokens: Tensor
    """
    if context.is_running or context.file is None:
        for declared in context.fields:
            for name, type in _unknown(declared.type, None):
                written = type.text if type.text.startswith(f"{name}.") else name  # in a class around this one
                message = f"{declared.name} is annotated with {written}, which is not defined"
                yield Problem(message, type.place, "define or import it before the class")
        return
    for field in context.source.fields:
        if field.annotation is None:
            continue
        for name, type in _unknown(field.annotation, context.file):
            if name in context.source.attributes:
                message = f"{name} is bound in the class body, where generated code does not see it"
                yield Problem(message, type.place, "import or define it above the class")
                continue
            if context.file.has_star_import:
                help = "import it by name; qten-gen does not know what a star import or globals() binds"
            elif name in context.file.names:
                yield Problem(f"{name} is a module, not a type", type.place, "write the name of a class")
                continue
            else:
                help = did_you_mean(name, sorted(context.file.names), "import it, or define it in this file")
            fix = _fix(name, type, field.annotation, context.file)
            yield Problem(f"{name} is not defined in this file", type.place, help, fix=fix)
        for name in _bound_below(field.annotation, context.source, context.file):
            message = f"{name} is defined below the class, so it does not exist yet when the class is created"
            yield Problem(message, field.annotation.place, f"define {name} above the class")


def _fix(name: str, type: TypeExpr, annotation: TypeExpr, file: SourceFile) -> Fix | None:
    """The one name of the file that a slip of one letter makes this one of. It may as well be a name that is not imported."""
    is_whole = type.text == name and not any(quote in annotation.text for quote in "'\"")  # what is quoted has no place
    meant = only_near(name, file.names) if is_whole else None
    return None if meant is None else Fix(meant, type.place, is_sure=False)


def _bound_below(type: TypeExpr, cls: ClassSource, file: SourceFile) -> Iterator[str]:
    """The type aliases of an annotation, quoted ones included, that are defined below the class."""
    for name in dict.fromkeys(name.partition(".")[0] for name in type.names):
        alias = file.aliases.get(name)
        if alias is not None and _line(alias.place) > _line(cls.place):
            yield name


def _line(place: NodePath) -> int:
    """The index of the top-level statement that contains a place."""
    return next((step for step in place.steps if isinstance(step, int)), 0)


def _unknown(type: TypeExpr, file: SourceFile | None) -> Iterator[tuple[str, TypeExpr]]:
    """The names in a type expression that are not bound, which is why they have no module, and the `nn` of `nn.Parameter`."""
    for part in type.parts:
        head, dot, _ = part.name.partition(".")
        is_written = file is not None and part.text.startswith(f"{head}.") and head not in file.names
        if head.isidentifier() and head != "None" and (is_written or not dot):
            yield head, part


def unsupported_type(context: RuleContext) -> Iterator[Problem]:
    """The annotation of a field does not decide how the field is stored.

    A field is a tensor, another TensorClass, or a Python value that is the same for the whole batch. Generated code has
    different lines for each. A union of these, or a tensor inside a container such as `tuple[Tensor, ...]` could only be stored
    as a Python value: `batch[0]` would return it unindexed, and `.to()` would not move its tensors.

    A type variable stands for its bound. Without a bound it stands for a Python value, and the constructor refuses tensors.

    With the flag `tensor_only`, every field is a tensor or another TensorClass.

    The containers `dict[str, Tensor]` and `list[Tensor]` are supported. TensorDicts and classes that tensordict makes are not:
    their keys and shapes change while a program runs.

    Example:

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
    for declared in context.fields:
        is_final = declared.type.name == "typing.Final" and not isinstance(declared, DerivedDecl)
        if is_final and not context.constructs_itself:
            help = "remove Final; frozen=True makes the objects of a TensorClass immutable"
            yield Problem(f"{declared.name} is Final, but the constructor has to assign it", declared.type.place, help)
    for declared in context.fields:
        unfit = None if context.constructs_itself else _no_type(declared.type)
        if unfit is not None:
            yield Problem(f"the type of {declared.name} {unfit[0]}", declared.type.place, unfit[1])
    for declared in context.module_fields:
        if declared.type.name == language.AS_TENSOR:
            message = f"{declared.name} is AsTensor, but a Module keeps numbers"
            yield Problem(message, declared.type.place, "write int, float, bool or complex")
    for field in context.tensorclass_fields:
        problem = _problem(field, context) if _no_type(field.type) is None else None
        if problem is not None:
            message, help = problem
            yield Problem(f"the type of {field.name} {message}", field.type.place, help)


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
    if any(part.text[:1] in ("'", '"') and annotation_text(part.text) is None for part in type.parts):
        return "cannot be determined from its annotation", "write a type, or its name in quotes"
    return None


def _is_array(type: TypeExpr) -> bool:
    """True if the brackets of a dtype of jaxtyping hold what they have to, as far as the text shows."""
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
    if any(member.name == language.RAGGED for member in present):
        unfit = "has no rows of a Tensor or a TensorClass" if len(present) == 1 else "combines Ragged with another type"
        return None if field.kind is FieldKind.RAGGED else (unfit, "write Ragged[Tensor], or Ragged of a TensorClass")
    if any(member.name == language.AS_TENSOR for member in present) and field.kind is not FieldKind.NUMBER:
        return "is no AsTensor of a number", "write AsTensor[int], AsTensor[float | None] or the like"
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
    cls = context.declaration
    if field.kind.is_static and isinstance(cls, TensorClassDecl) and "tensor_only" in cls.flags:
        return f"is no tensor, but {cls.name} is tensor_only", "write Tensor, or remove tensor_only"
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


_OTHER_BATCHES = frozenset({"qten_gen.LabelledTensor", "torch.nn.utils.rnn.PackedSequence", language.TENSORCLASS})
"""Classes whose objects hold tensors, and that no kind of field is for."""

_OF_TENSORDICT = r"tensordict\.(?:.*\.)?(?:\w*TensorDict|TensorDictBase|TensorCollection|TensorClass|NonTensor\w+)"

_TENSORDICT_DECORATORS = frozenset({"tensordict.tensorclass", "tensordict.prototype.tensorclass"})


def _is_of_tensordict(type: TypeExpr, context: RuleContext) -> bool:
    """True if the type is a container of tensordict, or a class of the run that tensordict makes."""
    source = context.facts.classes.get(type.name)
    names = [type.name, *(base.name for base in (source.bases if source is not None else ()))]
    decorators = source.decorators if source is not None else ()
    return any(re.fullmatch(_OF_TENSORDICT, name) is not None for name in names) or any(
        name in _TENSORDICT_DECORATORS for name, _ in decorators
    )


def _is_tensorclass(type: TypeExpr, context: RuleContext) -> bool:
    own = context.declaration
    return type.name == f"{own.module}.{own.name}" or context.facts.is_tensorclass(type.name)


def _holds_tensors(type: TypeExpr, context: RuleContext) -> bool:
    """True if a tensor is among the type's arguments, at any depth. A callable does not contain what it takes and returns."""
    if type.name in ("typing.Callable", "collections.abc.Callable", "builtins.type", "typing.Type"):
        return False
    arguments = [argument for argument in type.args if isinstance(argument, TypeExpr)]
    return any(
        is_tensor(each)
        or each.name in _OTHER_BATCHES
        or _is_of_tensordict(each, context)
        or _is_tensorclass(each, context)
        or _holds_tensors(each, context)
        for each in arguments
    )
