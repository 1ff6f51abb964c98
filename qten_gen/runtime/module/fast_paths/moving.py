"""`nn.Module._apply`, which moves and casts the tensors of a module, in fewer steps where nothing is unusual.

A parameter that does not change is left alone, and gradients are switched off once a module instead of once a parameter. A module
with gradients, with tensors of other classes or with an `_apply` of its own is left to nn.Module; the modules beside it are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling
from torch.nn import Parameter

from ..core.module_base import VIRTUAL_CACHE
from .nn_module_layout import KNOWN

Convert = Callable[[Tensor], Tensor]

_Module = nn.Module
_apply: Callable[..., nn.Module] = nn.Module._apply
_children = nn.Module.children
_named_children = nn.Module.named_children
_set_grad_enabled = torch._C._set_grad_enabled
_is_compatible: Callable[[Tensor, Tensor], bool] = vars(torch)["_has_compatible_shallow_copy_type"]


def is_usual() -> bool:
    """Whether modules are converted as they are by default."""
    return (
        KNOWN
        and not is_dynamo_compiling()
        and _Module._apply is _apply
        and not torch.__future__.get_overwrite_module_params_on_conversion()
        and not torch.__future__.get_swap_module_params_on_conversion()
    )


def convert(module: nn.Module, fn: Convert, recurse: bool, plain_apply: object) -> None:
    """`nn.Module._apply(module, fn, recurse)`, for a module that `is_usual` holds for.

    `plain_apply` is the `_apply` of declared modules. For a child that has it, whose class `_extends_torch` and has no ties, it
    does no more than nn.Module's and forget the cached virtual tensors.
    """
    state = module.__dict__
    if recurse and state["_modules"]:
        for child in _children_of(module):
            cls: Any = type(child)  # a Module, where it has `plain_apply`
            kept = child.__dict__
            if "_apply" in kept:
                child._apply(fn)
            elif cls._apply is _apply:
                convert(child, fn, True, plain_apply)
            elif cls._apply is plain_apply and cls._extends_torch and not cls._tied:
                if VIRTUAL_CACHE in kept:
                    del kept[VIRTUAL_CACHE]
                convert(child, fn, True, plain_apply)
            else:
                child._apply(fn)
    parameters = state["_parameters"]
    if parameters and not _convert_parameters(module, parameters, fn):
        return
    buffers = state["_buffers"]
    for name, buffer in buffers.items():
        if buffer is not None:
            buffers[name] = fn(buffer)


def _children_of(module: nn.Module) -> Iterable[Any]:
    cls = type(module)
    if cls.children is not _children or cls.named_children is not _named_children:
        return module.children()
    return dict.fromkeys(child for child in module.__dict__["_modules"].values() if child is not None)


def _convert_parameters(module: nn.Module, parameters: dict[str, Parameter | None], fn: Convert) -> bool:
    """Convert a module's own parameters. False where one was unusual: nn.Module has then done the rest, and the buffers."""
    grad_was_enabled = torch.is_grad_enabled()
    _set_grad_enabled(False)
    try:
        for name, parameter in parameters.items():
            if parameter is None:
                continue
            converted = None
            if type(parameter) is not Parameter or parameter.grad is not None:
                break
            converted = fn(parameter)
            if converted is parameter:
                continue
            if type(converted) is not Tensor:
                break
            try:
                parameter.data = converted
            except RuntimeError:  # the two are of incompatible types: one is on the meta device, for instance
                if _is_compatible(parameter, converted) or not parameter.is_leaf:
                    break
                parameters[name] = Parameter(converted, parameter.requires_grad)
        else:
            return True
    finally:
        _set_grad_enabled(grad_was_enabled)
    earlier = list(parameters.values())[: list(parameters).index(name)]
    known = iter([kept for kept in (*earlier, converted) if kept is not None])

    def convert_the_rest(tensor: Tensor) -> Tensor:
        """`fn`, once what has been converted already was asked for."""
        found = next(known, None)
        return fn(tensor) if found is None else found

    _apply(module, convert_the_rest, recurse=False)
    return False
