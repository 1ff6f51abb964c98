"""Rules about tensors and modules that the class body makes, once for all instances."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import (
    Argument,
    ConfigDecl,
    Default,
    ModuleDecl,
    NodePath,
    SpecifierCall,
    SubmoduleDecl,
    TensorClassDecl,
    Value,
    language,
)
from .rule_input import Facts, Problem, RuleContext, at

_PARAMETERS = ("Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer")

_FACTORIES = frozenset(
    """
    arange as_tensor asarray bartlett_window blackman_window block_diag cat cartesian_prod clone complex diag diag_embed
    diagflat empty empty_like empty_strided eye from_numpy frombuffer full full_like hamming_window hann_window
    heaviside hstack kaiser_window linspace logspace meshgrid normal ones ones_like polar rand rand_like randint
    randint_like randn randn_like randperm scalar_tensor stack tensor tril tril_indices triu triu_indices vander vstack
    zeros zeros_like
    """.split()
)
"""The functions of torch that make a tensor."""


def shared_object(context: RuleContext) -> Iterator[Problem]:
    """A declaration contains a module or a tensor.

    The class body runs once, so children that get a module that it makes would share the weights, or start with equal ones if
    it were copied. Seeds, the default dtype and `device="meta"` would have no effect on it. A parameter as a default would be
    neither registered nor trained.

    A method of an object holds the object: `submodule(Wrap, nn.Linear(2, 2).forward)` gives all instances the same weights. A
    default of a function holds what the class body made.

    Specifiers say how to construct an object for each instance: `submodule`, `param` and `buffer`. A submodule can be an
    argument of another one. A function that makes the child can do anything else. A tensor may be the default of a config
    field, because it is cloned for each instance.

    Example:

     from qten_gen import Module, submodule
     from torch import nn


     class Net(Module):
         dim: int
         head: nn.Linear = submodule(nn.Linear, "dim", 2)
    -    body: nn.Sequential = submodule(nn.Sequential, nn.Linear(8, 8), submodule(nn.ReLU))
    -                                                   ^^^^^^^^^^^^^^^
    +    body: nn.Sequential = submodule(nn.Sequential, submodule(nn.Linear, "dim", "dim"), submodule(nn.ReLU))
    """
    for field in context.module_fields:
        match field:
            case ConfigDecl(default=default) if default is not None:
                what = kind_of(default.value, context)
                is_cloned = what == "tensor" and not default.factory and not default.value.is_container
                if what is not None and not is_cloned:
                    yield Problem(*_of_default(field, what, default, context))
            case SubmoduleDecl(cls=cls, arguments=arguments):
                yield from _of_child(field.name, cls, arguments, context)


def _of_child(name: str, cls: Value, arguments: tuple[Argument, ...], context: RuleContext) -> Iterator[Problem]:
    """The problem with the class and the arguments of one child, and with the children among its arguments."""
    what = kind_of(cls, context)
    if what is not None:
        message = f"{name} is constructed from a {what}, which exists once for all instances"
        help = "give submodule a class and its arguments, or a function that makes the child"
        yield Problem(message, cls.place, help)
    for argument in arguments:
        match argument.value:
            case Value() as value if value.is_container and language.SUBMODULE in value.contains:
                message = f"an argument of {name} has submodule(...) in a container, where nothing constructs it"
                help = "give submodule a function that makes the whole child: submodule(lambda: nn.ModuleDict({...}))"
                yield Problem(message, value.place, help)
            case Value() as value if (what := kind_of(value, context)) is not None:
                message = f"an argument of {name} contains a {what}, which exists once for all instances"
                yield Problem(message, value.place, _INSTEAD[what])
            case SpecifierCall(arguments=(Argument(value=Value() as inner), *own)):
                yield from _of_child(name, inner, tuple(own), context)
            case _:
                pass


_INSTEAD = {
    "module": "write submodule(...) in its place, or give submodule a function that makes the whole child; for a list, "
    'write submodule(Layer, "dim", repeat="depth")',
    **dict.fromkeys(
        ("parameter", "tensor"),
        "give submodule a function that makes the child with it: submodule(lambda: nn.NLLLoss(...))",
    ),
}


def _of_default(field: ConfigDecl, what: str, default: Default, context: RuleContext) -> tuple[str, NodePath, str]:
    """The message, the place and the help for a default that contains an object."""
    part, place = "default_factory" if default.factory else "default", default.value.place
    message = f"the {part} of {field.name} contains a {what}, which exists once for all instances"
    write = f"{field.name}: {as_specifier(what, default.value, field.type.text, context)}"
    return message, place, f"write {write}, or field(default_factory=...) with a function that makes it"


def as_specifier(what: str, made: Value, annotation: str, context: RuleContext) -> str:
    """The annotation and the specifier that stand for an object: `nn.Linear = submodule(nn.Linear, 3, 4)`.

    Args:
        what: What is made: "module", "parameter" or "tensor".
        made: What makes it: the expression `nn.Linear(3, 4)`, if it was read from text.
        annotation: The annotation of the field, if the expression does not name a class.
    """
    text = made.text if what == "module" and not context.is_running else ""
    if found := _LIST.fullmatch(text):
        cls, arguments, depth = found.groups()
        return f'ModuleList[{cls}] = submodule({_quoted(cls, arguments, context)}, repeat="{depth}")'
    if found := _CONSTRUCTION.fullmatch(text):
        return f"{found[1]} = submodule({_quoted(found[1], found[2], context)})"
    return {
        "module": f"{annotation} = submodule(...), with the class and its arguments",
        "parameter": f"{annotation} = param(...), with sizes and an initializer",
        "tensor": f"{annotation} = buffer(...), with sizes and an initializer",
    }[what]


def _quoted(cls: str, arguments: str, context: RuleContext) -> str:
    """A class and its arguments, with quotes around each expression over fields: they are strings in a specifier."""
    fields = {field.name for field in context.source.fields}
    parts = [cls]
    for argument in filter(None, arguments.split(", ")):
        keyword, equals, value = argument.rpartition("=")
        parts.append(f'{keyword}{equals}"{value}"' if fields & {*_NAME.findall(value)} else argument)
    return ", ".join(parts)


_CONSTRUCTION = re.compile(r"((?:\w+\.)*[A-Z]\w*)\(([^()]*)\)")
"""A call of a class without calls among its arguments, which could be modules themselves."""

_LIST = re.compile(rf"(?:\w+\.)*ModuleList\(\[?{_CONSTRUCTION.pattern} for \w+ in range\(([^()]*)\)\]?\)")

_NAME = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")


def kind_of(value: Value, context: RuleContext) -> str | None:
    """The kind of an object in a value that instances cannot share: "module", "parameter" or "tensor"."""
    return next((kind for name in value.contains if (kind := made_by(name, context)) is not None), None)


def made_by(name: str, context: RuleContext) -> str | None:
    """The kind of the result of calling something of this name: "module", "parameter" or "tensor"; None for anything else."""
    home, _, last = name.rpartition(".")
    if name == "torch.Tensor" or (home == "torch" and last in _FACTORIES):
        return "tensor"
    if home in ("torch.nn", "torch.nn.parameter") and last in _PARAMETERS:
        return "parameter"
    if home.partition(".")[0] == "torch" and ".nn" in home and last[:1].isupper():
        return "module"
    declared = context.facts.declarations.get(name)
    if isinstance(declared, ModuleDecl):
        return "module"
    if isinstance(declared, TensorClassDecl):
        return "tensor"
    return "module" if derives_from_layer(name, context.facts) else None


def derives_from_layer(name: str, facts: Facts) -> bool:
    """True if a class is one of torch.nn, or derives from one as far as the run shows."""
    parts = (each.rpartition(".") for each in facts.lineage(name))
    return any(
        home.startswith("torch.nn") and ".utils" not in home and last[:1].isupper() and last not in _PARAMETERS
        for home, _, last in parts
    )


_TYPES = frozenset(f"builtins.{name}" for name in ("bool", "bytes", "complex", "dict", "float", "int", "list", "str"))


def unannotated_attribute(context: RuleContext) -> Iterator[Problem]:
    """A tensor, a module or a type is assigned to a name without an annotation.

    Only annotated names are fields, so `head = nn.Linear(2, 2)` is a module that exists once for all instances, and that none
    of them registers: it is missing in `parameters()`, and `.to()` does not move it. Objects of a TensorClass cannot even
    assign such an attribute, so `mask = None` cannot stand for a field either. `ClassVar` says that all instances share it.

    Example:

    -from qten_gen import Module
    +from qten_gen import Module, submodule
     from torch import nn


     class Net(Module):
         dim: int
    -    head = nn.Linear(8, 2)
    -           ^^^^^^^^^^^^^^^
    +    head: nn.Linear = submodule(nn.Linear, "dim", 2)
    """
    is_module = isinstance(context.declaration, ModuleDecl)
    inherited = {field.name for field in context.declaration.fields}
    for name, value in context.source.values:
        yield from at(value.place, _problem(name, value, is_module, name in inherited, context))


def _problem(
    name: str, value: Value, is_module: bool, is_inherited: bool, context: RuleContext
) -> tuple[str, str] | None:
    """The problem with an attribute of the class, and how to fix it."""
    if name.startswith("__"):
        return None
    type = value.torch_name or value.name
    if type == "torch.Tensor" or (type in _TYPES and not is_module):
        return f"{name} is the type {value.text} itself, not a field", f"write {name}: {value.text}"
    if value.literal == "None" and not is_module and not is_inherited:
        message = f"{name} is None for all objects: without an annotation it is not a field"
        return message, f"write {name}: Tensor | None = None"
    if value.partial is not None or value.text.startswith(("functools.partial", "partial(")):
        return None
    what = kind_of(value, context)
    if what is None or (not is_module and what == "module"):
        return None
    if not is_module:
        return f"{name} is a tensor of the class, not a field", f"write {name}: Tensor = field(default_factory=...)"
    annotation = {"module": "...", "parameter": "nn.Parameter", "tensor": "Tensor"}[what]
    held = "contains" if value.is_container else "is"
    message = f"{name} {held} a {what} that exists once for all instances, and that none of them registers"
    return message, f"write {name}: {as_specifier(what, value, annotation, context)}"
