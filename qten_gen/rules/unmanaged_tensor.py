"""A field may hold tensors or modules that nothing moves, indexes or trains.

In a TensorClass, a field whose type is a module, or a class with tensors in it, is a Python value: `batch[0]` returns it
unindexed, and `batch.to("cuda")` leaves its tensors where they are. In a Module, a constructor argument annotated `Tensor` or
`list[nn.Module]` is an ordinary attribute: `.to()` does not move it, `parameters()` does not contain its parameters, and the
state dict does not save it.

A single `nn.Module` or `nn.Parameter` that is an argument of the constructor is registered, as in any module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ClassSource, ConfigDecl, FieldKind, ModuleDecl, TensorClassDecl, TypeExpr
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import is_tensor, members_of
from .rule_input import RuleContext

KIND = Kind("QG216", "unmanaged-tensor", "warning")

EXAMPLE = """
-from qten_gen import Module, buffer
+from qten_gen import Module, ModuleList, buffer, submodule
 from torch import Tensor, nn


 class Encoder(Module):
     dim: int
-    layers: list[nn.Module]
-            ^^^^^^^^^^^^^^^
+    depth: int
     table: Tensor = buffer("dim", initializer=nn.init.zeros_)
+    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "dim", "dim", repeat="depth")
"""

_CONTAINERS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "builtins": ("list", "tuple", "dict", "set", "frozenset"),
        "typing": ("List", "Tuple", "Dict", "Set", "Sequence", "Mapping", "Iterable"),
        "collections.abc": ("Sequence", "Mapping", "MutableSequence", "MutableMapping", "Iterable"),
    }.items()
    for name in names
)
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    for field in context.tensorclass_fields:
        if field.kind is FieldKind.STATIC:
            what = next((found for one in members_of(field.type) if (found := _of_static(one, context))), None)
            if what is not None:
                message = (
                    f"{field.name} is stored as a Python value, but contains {what}: nothing indexes or moves them"
                )
                help = "declare the tensors as fields, in a TensorClass of their own where they belong together"
                yield Diagnostic(KIND, message, field.type.place, help)
    if not isinstance(declaration, ModuleDecl) or context.constructs_itself:
        return
    for argument in context.module_fields:
        if isinstance(argument, ConfigDecl):
            if argument.default is not None and argument.default.value.held_specifier is not None:
                continue  # see `dynamic_declaration` and `misplaced_specifier`
            problem = _of_argument(argument, context)
            if problem is not None:
                yield Diagnostic(KIND, problem[0], argument.type.place, problem[1])


def _of_static(type: TypeExpr, context: RuleContext) -> str | None:
    """A part of a static field of this type that has to be moved; None if there is none, or nobody knows."""
    if is_module(type.name, context):
        return "the tensors of a module"
    if type.name in _CONTAINERS and any(_is_module_type(argument, context) for argument in type.args):
        return "the tensors of modules"
    source = context.project.classes.get(type.name)
    if source is not None and _fields_with_tensors(source):
        return "tensors"
    return None


def _of_argument(field: ConfigDecl, context: RuleContext) -> tuple[str, str] | None:
    """The problem with a constructor argument of a Module, and how to fix it."""
    members = [member for member in members_of(field.type) if member.name != "None"]
    for member in members:
        inner = [argument for argument in member.args if isinstance(argument, TypeExpr)]
        if member.name in _CONTAINERS:
            if any(is_module(argument.name, context) for argument in inner):
                message = f"the modules in {field.name} are not registered: a {_short(member)} is an ordinary attribute"
                help = f'write {field.name}: ModuleList[...] = submodule(..., repeat="..."), or take an nn.ModuleList'
                return message, help
            if any(is_tensor(argument) for argument in inner):
                message = f"the tensors in {field.name} are not registered: a {_short(member)} is an ordinary attribute"
                return message, "declare a buffer(...) or param(...) for each"
        if is_tensor(member) and member.name not in _PARAMETERS:
            message = f"{field.name} is an ordinary attribute: nothing moves the tensor or saves it"
            help = f"write {field.name}: {field.type.text} = buffer(...), or take an nn.Parameter to train it"
            return message, help
        if isinstance(context.project.declarations.get(member.name), TensorClassDecl):
            message = f"{field.name} is an ordinary attribute: nothing moves or saves the tensors of a {member.text}"
            return message, "declare a buffer(...) for each tensor, or pass it to forward"
    return None


def _short(type: TypeExpr) -> str:
    return type.name.rpartition(".")[2]


def _is_module_type(argument: TypeExpr | str, context: RuleContext) -> bool:
    return isinstance(argument, TypeExpr) and is_module(argument.name, context)


def is_module(name: str, context: RuleContext) -> bool:
    """Whether the text says that a class is an nn.Module."""
    if isinstance(context.project.declarations.get(name), ModuleDecl):
        return True
    return derives_from_layer(name, context.project.classes)


def derives_from_layer(name: str, classes: Mapping[str, ClassSource]) -> bool:
    """Whether a class is one of torch.nn, or derives from one as far as the run shows."""
    return _derives(name, classes, frozenset())


def _derives(name: str, classes: Mapping[str, ClassSource], seen: frozenset[str]) -> bool:
    """Whether a class derives from one of torch.nn; `seen` holds the classes that led to it."""
    if name.startswith("torch.nn.") and name not in _PARAMETERS:
        return name.rpartition(".")[2][:1].isupper() and ".utils." not in name
    source = classes.get(name)
    if source is None or name in seen:
        return False
    return any(_derives(base.name, classes, seen | {name}) for base in source.bases)


def _fields_with_tensors(source: ClassSource) -> bool:
    """Whether a class is a dataclass or a NamedTuple with a tensor among its fields."""
    is_record = any(name.rpartition(".")[2] == "dataclass" for name, _ in source.decorators)
    is_record = is_record or any(base.name == "typing.NamedTuple" for base in source.bases)
    annotations = (field.annotation for field in source.fields)
    return is_record and any(
        is_tensor(member) for annotation in annotations if annotation for member in members_of(annotation)
    )
