"""Tied parameters: one parameter under two names, `head` and `embed.weight`.

nn.Module keeps such a tie as long as nobody makes a new Parameter. `to_empty` and `load_state_dict(assign=True)` do, once for
each name. The functions here give both names the same one. A tie that the user has cut, by assigning another parameter to one of
the names, stays cut.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from .core.module_base import ModuleBase

R = TypeVar("R")


def tied_parameter(module: nn.Module, path: str, shape: tuple[int, ...] | None = None) -> nn.Parameter:
    """`module.get_parameter(path)`, for a name that is tied to it; with `shape`, a check that it has that shape.

    Raises:
        AttributeError: there is no parameter at `path`.
        ValueError: it has another shape than the declared one.
    """
    parameter = module.get_parameter(path)
    if shape is not None and tuple(parameter.shape) != shape:
        raise ValueError(f"{type(module).__name__}: {path} has shape {tuple(parameter.shape)}, and is tied to {shape}")
    return parameter


def keeping_ties(module: ModuleBase, change: Callable[[], R]) -> R:
    """Run a change of all parameters, and keep the ties. During the change the tied names hold None, so it happens once each."""
    names = _held(module)
    for name in names:
        module._parameters[name] = None
    try:
        return change()
    finally:
        for name in names:
            module._parameters[name] = _target(module, module._tied[name])


def share_assigned(module: ModuleBase, state_dict: MutableMapping[str, Tensor], prefix: str) -> None:
    """Before the tensors of a state dict take the place of parameters, let both names of a tie find the same Parameter there.

    The name in the submodule wins, as it does where values are copied.
    """
    if torch.__future__.get_swap_module_params_on_conversion():
        return  # swapping keeps every Parameter the object that it is
    for name in _held(module):
        holder, leaf = _holder(module, module._tied[name])
        present: nn.Parameter | None = module._parameters[name]
        names = (prefix + module._tied[name], prefix + name)
        given = next((state_dict[key] for key in names if key in state_dict), None)
        if holder is None or present is None or not isinstance(given, Tensor) or given.shape != present.shape:
            continue
        shared = given if isinstance(given, nn.Parameter) else nn.Parameter(given, requires_grad=present.requires_grad)
        holder._parameters[leaf] = module._parameters[name] = shared
        state_dict.update({key: shared for key in names if key in state_dict})


def _held(module: ModuleBase) -> tuple[str, ...]:
    """The names whose ties hold."""
    own = module._parameters
    return tuple(
        name for name, path in module._tied.items() if own.get(name) is not None and own[name] is _target(module, path)
    )


def _target(module: nn.Module, path: str) -> nn.Parameter | None:
    holder, leaf = _holder(module, path)
    return None if holder is None else holder._parameters.get(leaf)


def _holder(module: nn.Module, path: str) -> tuple[nn.Module | None, str]:
    """The module whose parameter a path names, None where a part of it is missing, and the parameter's name in it."""
    *steps, leaf = path.split(".")
    found: nn.Module | None = module
    for step in steps:
        found = None if found is None else found._modules.get(step)
    return found, leaf
