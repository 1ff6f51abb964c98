"""Fields of a Module as generated code handles them: registered ones read as properties, children constructed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor, nn

from ..declaring.fields import Const, Submodule

if TYPE_CHECKING:
    import torch
    from torch.types import Device

    from .module import Module

M = TypeVar("M", bound=nn.Module)


def bound(owner: type[Module], path: str) -> Any:  # an initialiser, a class, a dtype or an argument of a submodule
    """What `owner`'s declaration gives to a specifier: `"scale.initializer"`, `"norm.cls"`, `"norm.args.0"`, `"norm.kwargs.eps"`.

    A module or a tensor among a submodule's arguments is copied, so that no two instances share it.
    """
    name, attribute, *rest = path.split(".")
    specifier = owner._specifiers[name]
    if not isinstance(specifier, Submodule) or attribute == "cls":
        return getattr(specifier, attribute)
    value = specifier.args[int(rest[0])] if attribute == "args" else specifier.kwargs[rest[0]]
    if isinstance(value, Const):
        value = value.value
    return deepcopy(value) if isinstance(value, nn.Module | Tensor) else value


def submodule(
    cls: Callable[..., M], *args: Any, device: Device = None, dtype: torch.dtype | None = None, **keywords: Any
) -> M:
    """Construct a child. What its class takes of `device` and `dtype` is passed on; otherwise the child is moved."""
    if device is None and dtype is None:
        return cls(*args, **keywords)
    takes = _takes(cls)
    given = {"device": device, "dtype": dtype}
    module = cls(*args, **keywords, **{name: given[name] for name in takes})
    return module if len(takes) == 2 else module.to(device=device, dtype=dtype)


@lru_cache(maxsize=256)
def _takes(cls: Callable[..., nn.Module]) -> tuple[str, ...]:
    """Which of `device` and `dtype` the constructor names."""
    try:
        parameters = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in ("device", "dtype") if name in parameters)
