"""Rules about classes that derive from torch.nn.Module and declare nothing, for `qten-gen check`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from ..common.suggestions import did_you_mean
from .field_names import MODULE
from .plain_classes import Finding, PlainClass, attribute_of, nodes_of, of_kinds, own_nodes, owner_of


def missing_super_init(cls: PlainClass) -> Iterator[Finding]:
    """The constructor of an nn.Module does not call the one of its base.

    `nn.Module.__init__` makes the tables that parameters, buffers and children are registered in. Without it, the first
    assignment of a layer fails, and a module without layers fails at its first call or `.to()`.

    `qten-gen check` reports this for plain classes. It does not look into methods that the constructor calls,
    and leaves out mixins. A layer that is assigned before the call raises torch's own error, which says so.

    Example:

     from torch import nn


     class Net(nn.Module):
         def __init__(self, dim: int) -> None:
    -        ^^^^^^^^
    +        super().__init__()
             self.up = nn.Linear(dim, dim)
    """
    init = next((method for method in cls.methods if method.name == "__init__"), None)
    if init is None or init.decorator_list or cls.node.decorator_list or isinstance(init.body[-1], ast.Raise):
        return
    # Nearly all constructors begin with the call, so that the rest of the class need not be looked at.
    if any(_constructs(node) for statement in init.body for node in ast.walk(statement)):
        return
    is_mixin = "mixin" in cls.node.name.lower() or any(len(each.node.bases) > 1 for each in cls.descendants)
    # Another base of a subclass may call the constructor.
    if not is_mixin and not any(_constructs(node) for node in of_kinds(cls.node, ast.Attribute)):
        help = "begin the constructor with super().__init__()"
        yield Finding(init, f"__init__ of {cls.node.name} does not call the constructor of its base", help)


def _constructs(node: ast.AST) -> bool:
    """True if a node is `super().__init__`, or takes the tables of another module."""
    return isinstance(node, ast.Attribute) and node.attr in ("__init__", "__setstate__", "__dict__")


def lost_buffer(cls: PlainClass) -> Iterator[Finding]:
    """A module registers a buffer that is in no state dict, and no method can make it again.

    A trainer makes the model on meta, calls `to_empty` and loads a checkpoint: then the buffer holds what was in the memory
    before, and nothing reports it. `qten-gen check` reports a buffer that only the constructor writes, in a project that has
    the word `to_empty`. In a declared Module, `buffer(..., persistent=False, value=...)` is made again whatever a trainer does.

    Example:

     import torch
     from torch import nn


     class Positions(nn.Module):  # made on meta, then to_empty()
         def __init__(self, length: int) -> None:
             super().__init__()
    -        self.register_buffer("table", torch.arange(length), persistent=False)
    -                             ^^^^^^^
    +        self.register_buffer("table", torch.empty(length, dtype=torch.long), persistent=False)
    +        self.reset_parameters()
    +
    +    def reset_parameters(self) -> None:
    +        torch.arange(len(self.table), out=self.table)
    """
    init = next((method for method in cls.methods if method.name == "__init__"), None)
    if init is None or not cls.is_whole or not cls.is_known_word("to_empty"):
        return
    owner = owner_of(init)
    unsaved = [found for node in own_nodes(init, owner) for found in _unsaved_buffer(node, cls, owner)]
    family = [cls, *cls.ancestors, *cls.descendants]
    if not unsaved or any(_sets_any(each.node) for each in family):
        return
    rest = [method for each in family for method in each.methods if method.name not in ("__init__", "forward")]
    made = {name for method in rest for node in nodes_of(method) for name in _made(node, owner_of(method))}
    for name, node in unsaved:
        if name not in made and not cls.is_written(name):
            message = f"{name} is in no state dict, and only the constructor makes it: after to_empty() it is garbage"
            yield Finding(node, message, "fill it in reset_parameters(), which the constructor calls")


def _unsaved_buffer(node: ast.AST, cls: PlainClass, owner: str) -> Iterator[tuple[str, ast.expr]]:
    """The name that a node gives a buffer outside the state dict, and where; none for one without elements."""
    match node:
        case ast.Call(func=ast.Attribute(attr="register_buffer") as method) if attribute_of(method, owner):
            given = _arguments(node, "name", "tensor", "persistent")
            at = given.get("name")
            name = at.value if isinstance(at, ast.Constant) else None
        case (
            ast.Assign(targets=[ast.Attribute() as at], value=ast.Call() as made)
            | ast.AnnAssign(target=ast.Attribute() as at, value=ast.Call() as made)
        ) if cls.meaning(made.func) in _BUFFERS:
            given, name = _arguments(made, "tensor"), attribute_of(at, owner)
        case _:
            return
    match given.get("tensor"):
        case None | ast.Constant(value=None):
            return
        case ast.Call(func=ast.Attribute(attr="empty" | "new_empty"), args=[ast.Constant(0), *_]):
            return
    kept = given.get("persistent")
    if at is not None and isinstance(name, str) and isinstance(kept, ast.Constant) and kept.value is False:
        yield name, at


_BUFFERS = ("torch.nn.Buffer", "torch.nn.parameter.Buffer")


def _arguments(call: ast.Call, *names: str) -> dict[str, ast.expr]:
    """The arguments of a call by the names of its parameters, as far as they are written out."""
    return {**dict(zip(names, call.args, strict=False)), **{each.arg: each.value for each in call.keywords if each.arg}}


def _made(node: ast.AST, owner: str) -> Iterator[str | None]:
    """The attributes that a node may give other values: by an assignment, a method in place, or a call that gets them."""
    match node:
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            yield attribute_of(node.value if isinstance(node, ast.Subscript) else node, owner)
        case ast.Call(func=ast.Attribute(value=held, attr=name), args=args, keywords=keywords):
            yield attribute_of(held, owner) if name.endswith("_") else None
            yield from (attribute_of(each, owner) for each in (*args, *(each.value for each in keywords)))
            yield from (each.value for each in args if isinstance(each, ast.Constant) and isinstance(each.value, str))
        case ast.Attribute(attr="data"):
            yield attribute_of(node.value, owner)


PRIVATE = frozenset(
    """
    _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks
    _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs
    _get_backward_hooks _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict
    _load_state_dict_post_hooks _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules _named_members
    _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook _register_state_dict_hook
    _replicate_for_data_parallel _save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks _version
    _wrapped_call_impl
    """.split()
)
"""Other attributes of nn.Module and its instances."""

_OF_LIBRARIES = frozenset(
    """
    _ddp_params_and_buffers_to_ignore _fsdp_wrapped_module _hf_hook _hf_peft_config_loaded _is_fsdp_managed_module
    _is_hf_initialized _old_forward _orig_mod ds_id
    """.split()
)
"""Attributes that accelerate, DeepSpeed, peft, transformers and torch set on modules of others."""

_OF_ANY = frozenset({*MODULE, *PRIVATE, *_OF_LIBRARIES})

_OPEN_ENDED = ("__getattr__", "__getattribute__", "__setattr__")

_SETS_ANY = ("setattr", "vars", "locals", "exec")
_REGISTERS = ("register_buffer", "register_parameter", "add_module", "register_module")

_IS_A_BASE = r"base|mixin|abstract|interface|template"
"""In the name of a class whose subclasses, in other projects, define what it uses."""


def undefined_attribute(cls: PlainClass) -> Iterator[Finding]:
    """A method of an nn.Module reads an attribute of its object that nothing defines.

    The line raises AttributeError when it runs, which may be in the branch for a rare option. Type checkers cannot find it,
    because `nn.Module.__getattr__` lets every name pass.

    `qten-gen check` reports this for plain classes if it knows all their bases, and if no class, no assignment and no string in
    the project mentions the name. A class that sets attributes by names which its text does not show is left out.

    Example:

     from torch import Tensor, nn


     class Net(nn.Module):
         def __init__(self, dim: int) -> None:
             super().__init__()
             self.up = nn.Linear(dim, dim)

         def forward(self, x: Tensor) -> Tensor:
    -        return self.upp(x)
    -               ^^^^^^^^
    +        return self.up(x)
    """
    family = [cls, *cls.ancestors, *cls.descendants]
    if not cls.is_whole or not all(each.is_whole for each in cls.descendants):
        return
    if any(_sets_any(each.node) for each in family) or _is_meant_as_base(cls):
        return
    known = _OF_ANY.union(*(_defined(each.node) for each in family))
    # Of nearly all classes, the names alone show that there is nothing to find.
    if known.issuperset(_read_of_objects(cls)):
        return
    seen: set[str] = set()
    for method in cls.methods:
        owner = owner_of(method)
        attributes = [node for node in own_nodes(method, owner) if isinstance(node, ast.Attribute)] if owner else []
        reads = [node for node in attributes if isinstance(node.ctx, ast.Load) and attribute_of(node, owner)]
        for node in sorted(reads, key=lambda node: (node.lineno, node.col_offset)):
            if node.attr in known or node.attr in seen or node.attr.startswith("__") or cls.is_mentioned(node.attr):
                continue
            seen.add(node.attr)
            own = sorted(known - _OF_ANY)
            help = did_you_mean(node.attr, own, "define it, or remove the line")
            yield Finding(node, f"{cls.node.name} has no attribute {node.attr}", help)


@cache
def _defined(cls: ast.ClassDef) -> frozenset[str]:
    """The attributes that a class statement gives its objects, as far as it spells them out."""
    found: set[str] = set()
    names = of_kinds(cls, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Attribute, ast.Name)
    for node in (*names, *of_kinds(cls, ast.Constant, ast.alias)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)) if name.isidentifier():
                found.add(name)  # register_buffer("mask", ...), hasattr(self, "mask")
            case ast.alias(name=name, asname=other):
                found.add(other or name)
    return frozenset(found)


def _read_of_objects(cls: PlainClass) -> set[str]:
    """The attributes of what the first parameter of a method is called in a class, whatever it is where they are read."""
    owners = {owner_of(method) for method in cls.methods}
    found = (attribute_of(node, owner) for node in of_kinds(cls.node, ast.Attribute) for owner in owners)
    return {name for name in found if name is not None and not name.startswith("__")}


@cache
def _sets_any(cls: ast.ClassDef) -> bool:
    """True if objects may have attributes whose names the text does not show."""
    if cls.decorator_list or cls.keywords:
        return True
    for node in of_kinds(cls, ast.FunctionDef, ast.Attribute, ast.Call):
        match node:
            case ast.FunctionDef(name=name) if name in _OPEN_ENDED:
                return True
            case ast.Attribute(attr="__dict__"):
                return True
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(), *_]):
                continue
            case ast.Call(func=ast.Name(id=name)) if name in _SETS_ANY:
                return True
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in _REGISTERS:
                if not isinstance(first, ast.Constant):
                    return True
    return False


def _is_meant_as_base(cls: PlainClass) -> bool:
    return re.search(_IS_A_BASE, cls.node.name, re.IGNORECASE) is not None or any(
        "NotImplemented" in ast.unparse(node) for node in of_kinds(cls.node, ast.Raise)
    )
