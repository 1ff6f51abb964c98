"""Constructing a module on the meta device."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.types import Device as DeviceLike

from ...runtime.module.core.module_base import ModuleBase
from .survey import ORIGINS, survey

R = TypeVar("R")

Arguments = tuple[tuple[object, ...], dict[str, object]]
"""The arguments of a constructor, without the device."""

_arguments: WeakKeyDictionary[nn.Module, Arguments] = WeakKeyDictionary()
"""The constructor arguments of modules with an `__init__` of their own, which they need not keep themselves."""


def construct_on_meta(cls: Callable[..., R], args: tuple[object, ...], keywords: dict[str, object]) -> R:
    """`cls(*args, **keywords)`, in which every tensor that names no device is made on meta.

    What the constructor makes on a device that it names is real, and stays so.

    Raises:
        TypeError: a device is given that is not meta.
    """
    device = cast(DeviceLike, keywords.get("device"))
    if device is not None and torch.device(device).type != "meta":
        name = getattr(cls, "__name__", repr(cls))
        raise TypeError(
            f"{name}.on_meta(): got device={device!r}; it constructs on meta, and materialize({str(device)!r}) comes after it"
        )
    first: dict[int, tuple[nn.Module, str, Tensor]] = {}
    thread = get_ident()

    def note(module: nn.Module, name: str, tensor: Tensor | None) -> None:
        if tensor is not None and get_ident() == thread:
            first.setdefault(id(tensor), (module, name, tensor))

    hooks = (register_module_parameter_registration_hook(note), register_module_buffer_registration_hook(note))
    try:
        with torch.device("meta"):
            made = cls(*args, **keywords)
    except (NotImplementedError, RuntimeError) as error:
        error.add_note(
            "on_meta() constructs without values: guard what reads them by `if not tensor.is_meta`,"
            " or build the module with qten_gen.deferred_init"
        )
        raise
    finally:
        for hook in hooks:
            hook.remove()
    if isinstance(made, nn.Module):
        _keep_origins(made, first)
    if isinstance(made, ModuleBase) and type(made)._writes_init:
        _arguments[made] = args, {name: value for name, value in keywords.items() if name != "device"}
    return made


def constructor_arguments(module: ModuleBase, cls: type[ModuleBase]) -> Arguments | None:
    """The arguments that construct a module of a declared class once more; None where nothing has kept them."""
    if cls._writes_init:
        return _arguments.get(module)
    return (), {cls._aliases.get(name, name): getattr(module, name) for name in cls._config}


def _keep_origins(root: nn.Module, first: dict[int, tuple[nn.Module, str, Tensor]]) -> None:
    """Keep which name of each tie the tensor was made under, where it is not the first one.

    The tie itself does not say so: `embed.weight = head.weight` and `head.weight = embed.weight` leave the same modules behind.
    """
    origins: dict[str, str] = {}
    for held in survey(root):
        made = first.get(id(held.tensor))
        if len(held.homes) < 2 or made is None:
            continue
        origin = next((home for home in held.homes if home.module is made[0] and home.name == made[1]), None)
        if origin is not None and origin is not held.homes[0]:
            origins[held.homes[0].qualified] = origin.qualified
    if origins:
        vars(root)[ORIGINS] = origins
