"""Rules about tensors and modules in attributes where nothing registers or moves them."""

from __future__ import annotations

from collections.abc import Iterator

from ..common.field_kinds import is_tensor, members_of
from ..model import AttributeChange, ClassSource, ConfigDecl, FieldKind, ModuleDecl, TensorClassDecl, TypeExpr, language
from ..model.diagnostics import Fix
from ..model.source import Registered, RegisteredKind
from .rule_input import Problem, RuleContext, at
from .shared_objects import derives_from_layer, made_by

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


def unmanaged_tensor(context: RuleContext) -> Iterator[Problem]:
    """A field may hold tensors or modules that nothing moves, indexes or trains.

    In a TensorClass, a field whose type is a module, or a class with tensors in it, is a Python value: `batch[0]` returns it
    unindexed, and `batch.to("cuda")` leaves its tensors where they are. In a Module, a constructor argument annotated `Tensor`
    or `list[nn.Module]` is an ordinary attribute: `.to()` does not move it, `parameters()` does not contain its parameters, and
    the state dict does not save it.

    A single `nn.Module` or `nn.Parameter` that is an argument of the constructor is registered, as in any module.

    Example:

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
    declaration = context.declaration
    for field in context.tensorclass_fields:
        if field.kind is FieldKind.STATIC:
            what = next((found for one in members_of(field.type) if (found := _of_static(one, context))), None)
            if what is not None:
                message = f"{field.name} is stored as a Python value, so nothing indexes or moves {what} in it"
                help = "declare the tensors as fields, in a TensorClass of their own where they belong together"
                yield Problem(message, field.type.place, help)
    if not isinstance(declaration, ModuleDecl) or context.constructs_itself:
        return
    for argument in context.module_fields:
        if isinstance(argument, ConfigDecl):
            if argument.default is not None and argument.default.value.held_specifier is not None:
                continue  # see `dynamic_declaration` and `misplaced_specifier`
            yield from at(argument.type.place, _of_argument(argument, context))


def _of_static(type: TypeExpr, context: RuleContext) -> str | None:
    """A part of a static field of this type that has to be moved; None if there is none, or nobody knows."""
    if _is_module(type.name, context):
        return "the tensors of a module"
    inner = [argument for argument in type.args if isinstance(argument, TypeExpr)]
    if type.name in _CONTAINERS and any(_is_module(argument.name, context) for argument in inner):
        return "the tensors of modules"
    source = context.facts.classes.get(type.name)
    if source is not None and _fields_with_tensors(source):
        return "tensors"
    return None


def _of_argument(field: ConfigDecl, context: RuleContext) -> tuple[str, str] | None:
    """The problem with a constructor argument of a Module, and how to fix it."""
    members = [member for member in members_of(field.type) if member.name != "None"]
    for member in members:
        inner = [argument for argument in member.args if isinstance(argument, TypeExpr)]
        if member.name in _CONTAINERS:
            if any(_is_module(argument.name, context) for argument in inner):
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
        if isinstance(context.facts.declarations.get(member.name), TensorClassDecl):
            message = f"{field.name} is an ordinary attribute: nothing moves or saves the tensors of a {member.text}"
            return message, "declare a buffer(...) for each tensor, or pass it to forward"
    return None


def _short(type: TypeExpr) -> str:
    return type.name.rpartition(".")[2]


def _is_module(name: str, context: RuleContext) -> bool:
    """True if the text says that a class is an nn.Module."""
    declared = context.facts.declarations.get(name)
    return isinstance(declared, ModuleDecl) or derives_from_layer(name, context.facts)


def _fields_with_tensors(source: ClassSource) -> bool:
    """True if a class is a dataclass or a NamedTuple with a tensor among its fields."""
    is_record = any(name.rpartition(".")[2] == "dataclass" for name, _ in source.decorators)
    is_record = is_record or any(base.name == "typing.NamedTuple" for base in source.bases)
    annotations = (field.annotation for field in source.fields)
    return is_record and any(
        is_tensor(member) for annotation in annotations if annotation for member in members_of(annotation)
    )


_CONSTRUCTORS = ("__init__", "__post_init__")


def unregistered_state(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A constructor keeps tensors or modules where torch does not find them.

    A module assigned to an attribute is registered, but not one in a list or a dict: `parameters()` does not contain its
    parameters, so no optimizer trains them, `.to()` leaves them where they are, and the state dict does not save them. The same
    holds for a plain tensor, and for `nn.Parameter(...).to(device)`, which is an ordinary tensor again.

    The rule looks at `__init__` and `__post_init__`. It does not report what the constructor registers afterwards, as in
    `nn.ModuleList(self.layers)`.

    Example:

    +import torch
     from qten_gen import Module
    -from torch import nn
    +from torch import Tensor, nn


     class Net(Module):
    +    layers: nn.ModuleList
    +    mask: Tensor
    +
         def __init__(self, dim: int, depth: int) -> None:
             super().__init__()
    -        self.layers = [nn.Linear(dim, dim) for _ in range(depth)]
    -        ^^^^^^^^^^^
    +        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
    +        self.register_buffer("mask", torch.ones(dim, dim).tril(), persistent=False)
    """
    declared = {field.name for field in declaration.fields if not isinstance(field, ConfigDecl)}
    bases = [source for source in context.facts.lineage(declaration.qualified).values() if source is not None]
    registered = {each.name for source in bases for each in source.registers if each.is_tensor}
    for method in context.source.methods:
        if method.name not in _CONSTRUCTORS:
            continue
        known = {*registered, *method.registers_later}
        if method.name == "__post_init__":
            known |= declared
        seen: set[str] = set()
        lists = {c.name for c in method.changes if c.action == "assign" and c.in_container and not c.makes}
        for change in method.changes:
            if change.name in known or change.name in seen:
                continue
            problem = _problem(change, lists, context)
            if problem is not None:
                seen.add(change.name)
                message, help = problem
                yield Problem(message, change.place, help)


def _problem(change: AttributeChange, lists: set[str], context: RuleContext) -> tuple[str, str] | None:
    """The problem with what a constructor assigns, and how to fix it."""
    if change.action == "append" and change.name not in lists:
        return None
    kinds = [made_by(name, context) for name in change.makes]
    what = f"self.{change.name}"
    if "module" in kinds:
        if not change.in_container:
            return None
        help = "write nn.ModuleList or nn.ModuleDict"
        return f"the modules in {what} are not registered: it is an ordinary container", help
    if "parameter" in kinds:
        if change.in_container:
            help = "write nn.ParameterList or nn.ParameterDict"
            return f"the parameters in {what} are not registered: it is an ordinary container", help
        if change.moved:
            help = "give nn.Parameter a tensor of that device and dtype, and assign it directly"
            return f"{what} is not a parameter: the method after nn.Parameter(...) returns an ordinary tensor", help
        return None
    initialised = any(name.startswith("torch.nn.init.") for name in change.makes)
    if change.action == "append" or not ("tensor" in kinds or initialised):
        return None
    if change.in_container:
        return f"the tensors in {what} are not registered, so .to() does not move them", "register a buffer for each"
    help = f'write self.register_buffer("{change.name}", ..., persistent=False), or nn.Parameter(...) to train it'
    return f"the tensor {what} is not registered, so .to() does not move it", help


def unannotated_registration(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """A constructor registers a name by a string, which type checkers do not see.

    They report `self.mask` of `register_buffer("mask", ...)` wherever it is read. An annotation in the class body gives it a
    type, and changes nothing when the module runs. The rule does not report a class that derives from `OpenModule`.

    Example:

     import torch
    -from qten_gen import Module
    +from qten_gen import Module
    +from torch import Tensor


     class Causal(Module):
    -      ^^^^^^
    +    mask: Tensor
    +
         def __init__(self, length: int) -> None:
             super().__init__()
             self.register_buffer("mask", torch.ones(length, length).tril())
    """
    if not context.constructs_itself:
        return
    classes = (declaration, *context.facts.ancestors(declaration))
    if any(base.name == language.OPEN_MODULE for each in classes for base in each.bases):
        return
    seen = {change.name for method in context.source.methods for change in method.changes}
    for each in classes:
        seen |= each.bound if isinstance(each, ModuleDecl) else set()
    names = context.file.names if context.file is not None else frozenset()
    init = next((method.place for method in context.source.methods if method.name == "__init__"), None)
    for found in context.source.registers:
        if not found.by_name or found.name in seen or not found.name.isidentifier():
            continue
        seen.add(found.name)
        type = next((each for each in _spellings(found) if each.partition(".")[0] in names), "")
        written = f"{found.name}: {type or _spellings(found)[0]}{' | None' if found.may_be_none else ''}"
        message = f"{declaration.name} registers {found.name} by a string, which type checkers do not see"
        help = f"write {written} in the class body, or derive from OpenModule, whose attributes have any name"
        fix = Fix(f"\n\n    {written}", init, is_behind=True, is_sure=False) if type and init is not None else None
        yield Problem(message, context.name_place, help, fix=fix)


def _spellings(found: Registered) -> tuple[str, ...]:
    """The type of what a statement registers, by each name that a file may have for it."""
    match found.kind:
        case RegisteredKind.BUFFER:
            return "Tensor", "torch.Tensor"
        case RegisteredKind.PARAMETER:
            return "nn.Parameter", "torch.nn.Parameter"
    return ("..." if found.type is None else found.type.text,)
