"""A method of an nn.Module reads an attribute of its object that nothing defines.

The line raises AttributeError when it runs, which may be in the branch for a rare option. Type checkers cannot find it, because
`nn.Module.__getattr__` lets every name pass.

`qten-gen check` reports this for plain classes if it knows all their bases, and if no class, no assignment and no string in the
project mentions the name. A class that sets attributes by names which its text does not show is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model.diagnostics import Kind
from .plain_classes import Finding, PlainClass, attribute_of, own_nodes, owner_of
from .reserved import MODULE

KIND = Kind("QG502", "undefined-attribute", "warning")

EXAMPLE = """
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

_PRIVATE = frozenset(
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

_OPEN_ENDED = ("__getattr__", "__getattribute__", "__setattr__")
_SETS_ANY = ("setattr", "vars", "locals", "exec")
_IS_A_BASE = r"base|mixin|abstract|interface|template"
"""In the name of a class whose subclasses, in other projects, define what it uses."""


def check_plain(cls: PlainClass) -> Iterator[Finding]:
    """The first use of each name that neither the class nor its ancestors, its descendants or the project know."""
    family = [cls, *cls.ancestors, *cls.descendants]
    if not cls.is_whole or not all(each.is_whole for each in cls.descendants):
        return
    if any(_sets_any(each) for each in family) or _is_meant_as_base(cls):
        return
    known = {*MODULE, *_PRIVATE, *_OF_LIBRARIES, *(name for each in family for name in _defined(each))}
    seen: set[str] = set()
    for method in cls.methods:
        owner = owner_of(method)
        if not owner:
            continue
        for node in sorted(_reads(method, owner), key=lambda node: (node.lineno, node.col_offset)):
            if node.attr in known or node.attr in seen or node.attr.startswith("__") or cls.is_mentioned(node.attr):
                continue
            seen.add(node.attr)
            help = did_you_mean(
                node.attr, sorted(known - MODULE - _PRIVATE - _OF_LIBRARIES), "define it, or remove the line"
            )
            yield Finding(node, f"{cls.node.name} has no attribute {node.attr}", help)


def _reads(method: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[ast.Attribute]:
    for node in own_nodes(method, owner):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and attribute_of(node, owner) is not None:
            yield node


def _defined(cls: PlainClass) -> Iterator[str]:
    """The attributes that a class statement gives its objects, as far as it spells them out."""
    for node in ast.walk(cls.node):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Constant(value=str(name)) if name.isidentifier():
                yield name  # register_buffer("mask", ...), hasattr(self, "mask")
            case ast.alias(name=name, asname=other):
                yield other or name


def _sets_any(cls: PlainClass) -> bool:
    """Whether objects may have attributes whose names the text does not show."""
    if cls.node.decorator_list or cls.node.keywords:
        return True
    for node in ast.walk(cls.node):
        match node:
            case ast.FunctionDef(name=name) if name in _OPEN_ENDED:
                return True
            case ast.Attribute(attr="__dict__"):
                return True
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(), *_]):
                continue
            case ast.Call(func=ast.Name(id=name)) if name in _SETS_ANY:
                return True
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name.startswith(
                ("register_", "add_module")
            ):
                if not isinstance(first, ast.Constant) and name in (
                    "register_buffer",
                    "register_parameter",
                    "add_module",
                    "register_module",
                ):
                    return True
    return False


def _is_meant_as_base(cls: PlainClass) -> bool:
    return re.search(_IS_A_BASE, cls.node.name, re.IGNORECASE) is not None or any(
        isinstance(node, ast.Raise) and "NotImplemented" in ast.unparse(node) for node in ast.walk(cls.node)
    )
