"""Rules about the names of fields."""

from __future__ import annotations

import keyword
import re
from ast import literal_eval
from collections.abc import Iterator
from unicodedata import normalize

from ..common.naming import ALIASES, PRIVATE_NAMES, WRITTEN_BUILTINS, storage
from ..common.operation_names import CLASS_METHODS, METHODS
from ..model import (
    HIDDEN,
    BufferDecl,
    ConfigDecl,
    DerivedDecl,
    ModuleDecl,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
    Value,
    VirtualDecl,
    language,
)
from ..model.field_parts import is_kw_only
from .dynamic_declarations import is_dynamic
from .rule_input import Problem, RuleContext, at

ALWAYS = frozenset({"batch_size", "device", "lock", "names"})
"""Reserved in a TensorClass even with the flag `shadow`: constructor arguments of every class."""

FREE = frozenset({"data"})
"""Public members of `TensorClass` whose place a field may take, because batches often have a field of that name."""

_OPERATIONS = frozenset(name for name in (*METHODS, *CLASS_METHODS) if not name.startswith("__"))

TENSORCLASS = (
    ALWAYS
    | _OPERATIONS
    | frozenset(
        """
    all_gather apply auto_batch_size_ batch_dims broadcast clear_device_ copy copy_ cpu cuda dim dumps exclude
    from_dataclass from_dict from_namedtuple from_numpy from_tensordict get grad is_empty is_locked is_memmap
    is_shared items keys load load_ load_memmap load_memmap_ load_safetensors load_state_dict lock_ memmap memmap_
    memmap_like memmap_refresh_ named_apply ndim numel numpy pack pin_memory pop record_stream recv replace requires_grad
    requires_grad_ save save_safetensors saved_path select send set set_ setdefault shape share_memory_ state_dict
    to to_dict to_tensordict tolist unlock_ update update_ vmap zero_grad
        """.split()
    )
)
"""Public members of `TensorClass`, without the `FREE` ones."""

MODULE = frozenset(
    """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda device double dtype
    dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu
    load_state_dict migrate modules mtia named_buffers named_children named_modules named_parameters on_meta
    parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ reset_parameters set_extra_state set_submodule share_memory
    state_dict to to_empty train training type version xpu zero_grad
    """.split()
)
"""Public members of `Module` whose names a field cannot have: the members of `torch.nn.Module` and its instances, constructor
arguments, and members that generated code or loading a state dict depends on."""


def reserved_name(context: RuleContext) -> Iterator[Problem]:
    """A field has the name of an attribute that every TensorClass or Module has.

    The field would hide the attribute: with a field `keys`, `batch.keys()` would call a tensor, and with a config field
    `train`, both `module.train()` and `module.eval()` would raise TypeError.

    A field of a TensorClass can be called `data`, and takes the place of the attribute. With the flag `shadow`, it can have the
    name of any method when the program runs, but type checkers refuse it: to them, a field overrides no method. The names
    `batch_size`, `device`, `names` and `lock` stay reserved, because they are arguments of every constructor.

    A field of a Module can be called `config`, `export`, `freeze` or another name that Module adds to nn.Module, and takes the
    place of that method. In a Module with a hand-written `__init__`, an annotation is only that, and can have any name.

    A class cannot have the name of a builtin that generated code uses, such as `type` or `property`, nor one of the names that
    generated modules import by, such as `_rt`. `_Batch_` is the class that is generated for `Batch`.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    keys: Tensor
    -    ^^^^
    +    scores: Tensor
    """
    declaration = context.declaration
    if isinstance(declaration, TensorClassDecl):
        kind, reserved = "TensorClass", ALWAYS if "shadow" in declaration.flags else TENSORCLASS
    else:
        kind, reserved = "Module", MODULE
    why = _why_no_class(declaration.name)
    if why:
        yield Problem(f"{why}, so a class cannot have it", context.name_place, "rename the class")
    for field in context.fields:
        place = field.place / ("name" if isinstance(field, VirtualDecl) else "target")
        if field.name == "self":
            message = "'self' is the object itself in the constructor, so a field cannot have this name"
            yield Problem(message, place, "rename the field")
        if field.name in reserved and not context.constructs_itself:
            help = f"rename the field, for example own_{field.name.strip('_')}"
            message = f"every {kind} has an attribute {field.name!r}, so a field cannot have this name"
            yield Problem(message, place, help)


def _why_no_class(name: str) -> str:
    """Why a class cannot have this name; empty if it can."""
    if name in ALIASES or name in WRITTEN_BUILTINS:
        return f"generated code uses the name {name!r}"
    if name.startswith("__"):
        return f"inside a class, Python mangles the name {name!r}"
    if name.startswith("_") and name.endswith("_"):
        return f"{name!r} is a name for generated classes"
    return ""


def private_name(context: RuleContext) -> Iterator[Problem]:
    """The name of a field starts with an underscore, and means something else.

    A field of a TensorClass may be called `_tokens`, but not like an attribute of every object, such as `_batch_size`, nor like
    the attribute in which generated code stores another field: a field `tokens` is stored in `_tokens`. A name that starts with
    two underscores is another one outside the class, because Python mangles it.

    In a Module, names with underscores belong to `torch.nn.Module`, and every field is a public argument of the constructor.

    Example:

    +from typing import ClassVar
    +
     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    _tokens: Tensor
    -    ^^^^^^^
    +    _mask: Tensor
    +    _registry: ClassVar[dict[str, int]] = {}
    """
    for field in context.fields:
        if not field.name.startswith("_") or is_kw_only(field.type):
            continue
        problem = _why_private(field.name, context)
        if problem:
            public = field.name.lstrip("_").rpartition("__")[2].strip("_") or "value"
            help = f"rename it to {public}, or annotate it with ClassVar if it belongs to the class"
            if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl):
                help = f"rename it to {public}, here and in checkpoints, or register it in __post_init__"
            yield Problem(f"the field {field.name} {problem}", field.place / "target", help)


def _why_private(name: str, context: RuleContext) -> str:
    """The problem with a name that starts with an underscore; empty if nothing is."""
    declaration = context.declaration
    if isinstance(declaration, ModuleDecl):
        return "starts with an underscore"
    if name.startswith("__") or re.match(rf"_{re.escape(declaration.name.lstrip('_'))}__", name):
        return "starts with two underscores, so Python mangles it"
    if name in PRIVATE_NAMES | ALIASES:
        return "has a name that generated code uses"
    for other in declaration.fields:
        if other.name != name and storage(other.name) in (name, storage(name)):
            return f"has the name of the attribute that stores {other.name}"
    return ""


_NOT_OURS = frozenset({"_abc_impl"})
"""The attributes of every class with abstract methods, also a mixin."""


def colliding_name(context: RuleContext) -> Iterator[Problem]:
    """A method has the name of a field, or a name that generated code uses.

    A class has one attribute for each name, so a method and a field of the same name cannot both be read. If the method is
    inherited, the field would hide it from code written for the base. A constructor argument or derived value cannot take the
    place of an inherited virtual tensor either, which is a property that cannot be set. A parameter, a buffer or a submodule
    can.

    Methods of the declaration override generated ones: a method called `_join` would run in place of the generated method that
    `cat` calls. A method called `_tokens` conflicts with the slot of a field `tokens`, so the class statement would raise
    ValueError.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
    -    lengths: Tensor

         def lengths(self) -> Tensor:
    -        ^^^^^^^
             return self.tokens.sum(-1)
    """
    declaration = context.declaration
    fields = {field.name: field for field in declaration.fields if not isinstance(field, VirtualDecl)}
    for method in declaration.methods:
        if method.name in fields:
            message = f"{method.name} is both a field and a method of {declaration.name}"
            yield Problem(message, method.place / "name", "rename one of them")
    if isinstance(declaration, TensorClassDecl):
        yield from _private(declaration, context)
    own = {field.name: field for field in context.fields}
    for parent in context.facts.ancestors(declaration):
        for method in parent.methods:
            if method.name in own:
                place = own[method.name].place / "target"
                yield Problem(f"{method.name} is a method of the base {parent.name}", place, "rename the field")
    yield from _virtual(context)


def _virtual(context: RuleContext) -> Iterator[Problem]:
    """Plain values in the place of an inherited virtual tensor."""
    for field in context.fields:
        inherited = [
            parent.name
            for parent in context.facts.parents(context.declaration)
            for other in parent.fields
            if other.name == field.name and isinstance(other, VirtualDecl)
        ]
        if inherited and isinstance(field, ConfigDecl | DerivedDecl):
            message = f"{field.name} is a virtual tensor of the base {inherited[0]}, which takes no plain value"
            help = "rename the field, or write param(...), buffer(...) or @virtual"
            yield Problem(message, field.place / "target", help)


def _private(declaration: TensorClassDecl, context: RuleContext) -> Iterator[Problem]:
    """Names of a TensorClass and of its mixins that generated code uses, and fields that a mixin would hide."""
    names = {field.name for field in declaration.fields}
    private = (PRIVATE_NAMES | {storage(name) for name in names}) - _NOT_OURS
    for method in declaration.methods:
        if method.name in private or method.name == "batch_size":
            message = f"generated code uses the name {method.name}"
            yield Problem(message, method.place / "name", "rename the method")
    for name in context.source.attributes:
        if name in private:
            message = f"generated code uses the name {name}"
            yield Problem(message, context.name_place, "rename the attribute")
    for mixin in context.mixins:
        for name in sorted(mixin.names & private):
            message = f"{mixin.name} defines {name}, a name that generated code uses for {declaration.name}"
            yield Problem(message, context.name_place, f"rename it in {mixin.name}")
        for name in sorted(mixin.names & names - mixin.abstract) if mixin.is_first else ():
            message = f"{name} is both a field of {declaration.name} and an attribute of {mixin.name}, which would hide the field"
            help = f"rename one of them, or write {mixin.name} behind TensorClass, so that the field replaces the attribute"
            yield Problem(message, context.name_place, help)


def hidden_type(context: RuleContext) -> Iterator[Problem]:
    """An annotation names what the class body has bound to a value, in place of the type of that name.

    Python evaluates an annotation where it stands, in the class body. `Tensor: int = 3` binds the name `Tensor` there, so
    `mask: Tensor` further down means 3. The value of a field counts for its own annotation too: `date: date = ...` says nothing
    about the class `date`. A method hides a type likewise. From Python 3.14 on, fields further down also count. Type checkers
    report the name as well.

    With `from __future__ import annotations`, and in quotes, a name means what the file binds to it.

    Example:

    +import torch
     from qten_gen import TensorClass
    -from torch import Tensor


     class Batch(TensorClass):
         Tensor: str = "dense"
    -    masks: dict[str, Tensor] | None = None
    -                     ^^^^^^
    +    masks: dict[str, torch.Tensor] | None = None
    """
    for field in context.fields:
        parts = () if context.constructs_itself else field.type.parts
        for hidden in (part for part in parts if part.name == HIDDEN):
            shown = f"{hidden.text} in the annotation" if hidden.text else "the annotation"
            message = f"{shown} of {field.name} means what the class body binds to that name, not the type"
            help = "use another name in the class body, or write the type in another way, such as torch.Tensor"
            yield Problem(message, hidden.place, help)


_OF_DATACLASSES = ("dataclasses.field(...) takes no alias", "use field(...) of qten_gen")

_OF_EVERY_CONSTRUCTOR = ("self", "device", "dtype")


def invalid_alias(context: RuleContext) -> Iterator[Problem]:
    """The name that `field(alias=...)` gives a constructor argument cannot be used.

    With `alias`, the constructor takes an argument under another name than the field, so that a child can have the name
    of the argument: `norm_class: type[nn.Module] = field(alias="norm")`. No two arguments can have the same name, and it must
    be a public name that the constructor leaves free. An alias that is the name of another argument's field is refused too,
    because nobody would know which of the two is meant.

    The fields of a TensorClass have one name, which the constructor, `update`, `replace`, `from_dict` and saved files use.

    Example:

     from qten_gen import Module, choice, field, submodule
     from torch import nn


     class Block(Module):
         dim: int
    -    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="dim")
    -                                                                    ^^^^^
    +    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
         norm: nn.Module = submodule(choice("norm_class"), "dim")
    """
    is_text = not context.is_running
    for source in context.source.fields:
        given = None if source.specifier is None else source.specifier.get(language.ALIAS)
        if given is None or source.specifier is None or source.specifier.name != language.FIELD:
            continue
        if is_text and is_dynamic(given.value):
            continue  # see `dynamic_declaration`
        is_ours = not source.specifier.of_dataclasses
        yield from at(given.place, _alias_problem(source.name, given.value, context) if is_ours else _OF_DATACLASSES)
    if isinstance(context.declaration, ModuleDecl) and not context.constructs_itself:
        yield from _taken_by_alias(context.declaration, context)


def _alias_problem(name: str, given: object, context: RuleContext) -> tuple[str, str] | None:
    """The problem with the alias of a field, and how to fix it."""
    declaration = context.declaration
    literal = given.literal if isinstance(given, Value) else None
    alias: object = None if literal is None else literal_eval(literal)
    if isinstance(declaration, TensorClassDecl):
        meant = alias if isinstance(alias, str) and alias.isidentifier() else "the alias"
        message = f"{declaration.name} is a TensorClass, whose fields have one name everywhere, so {name} has no alias"
        return message, f"remove alias, or rename the field to {meant}"
    if context.constructs_itself:
        message = f"no constructor is generated for {declaration.name}, so the alias of {name} has no effect"
        return message, "remove alias"
    is_name = isinstance(alias, str) and alias.isidentifier() and not keyword.iskeyword(alias) and alias[0] != "_"
    if not is_name or alias != normalize("NFKC", str(alias)) or alias in (name, *_OF_EVERY_CONSTRUCTOR):
        shown = given.text if isinstance(given, Value) else given
        return f"{shown} cannot be the alias of {name}", 'write another public name, such as alias="norm"'
    for other in declaration.fields:
        if isinstance(other, ConfigDecl) and other.name != name and alias in (other.name, other.argument):
            what = "is an argument" if alias == other.name else f"is the alias of {other.name}"
            return f"{alias} {what} too, so it cannot be the alias of {name}", "choose another alias"
    return None


def _taken_by_alias(declaration: ModuleDecl, context: RuleContext) -> Iterator[Problem]:
    """Arguments that a class adds under the name that an inherited argument has by its alias."""
    own = {field.name for field in context.fields}
    aliases = {
        field.alias: field.name
        for field in declaration.fields
        if isinstance(field, ConfigDecl) and field.alias is not None and field.name not in own
    }
    for field in context.module_fields:
        if isinstance(field, ConfigDecl) and field.name in aliases:
            message = f"{field.name} is the alias of the inherited field {aliases[field.name]}, so it cannot be another argument"
            yield Problem(message, field.place / "target", "rename the field")
