"""What a generated `__init__` calls beside registration: values that only the declaration has, and children constructed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor, nn

from ..declaring.fields import Const, Submodule
from .core.module_base import ModuleBase

if TYPE_CHECKING:
    import torch
    from torch.types import Device

M = TypeVar("M", bound=nn.Module)


def from_declaration(owner: type[ModuleBase], path: str) -> Any:  # an initialiser, a class, a dtype or an argument
    """The object that `owner`'s declaration gives to a specifier, where generated code cannot spell it out.

        _rt.from_declaration(Attention, "scale.initializer")    # of scale = buffer(..., initializer=uniform_)
        _rt.from_declaration(Attention, "norm.kwargs.eps")      # of norm = submodule(..., eps=EPSILON)

    Other paths are `"norm.cls"`, `"norm.args.0"` and `"scale.dtype"`. A module or a tensor among a submodule's arguments is
    copied, so that no two instances share it.
    """
    name, attribute, *rest = path.split(".")
    specifier = owner._specifiers[name]
    if not isinstance(specifier, Submodule) or attribute == "cls":
        return getattr(specifier, attribute)
    value = specifier.args[int(rest[0])] if attribute == "args" else specifier.kwargs[rest[0]]
    if isinstance(value, Const):
        value = value.value
    return deepcopy(value) if isinstance(value, nn.Module | Tensor) else value


def construct(
    cls: Callable[..., M], *args: Any, device: Device = None, dtype: torch.dtype | None = None, **keywords: Any
) -> M:
    """`cls(*args, device=device, dtype=dtype, **keywords)`, for a class that may take neither `device` nor `dtype`.

    What its constructor takes of the two is passed on. A module that does not take both is moved afterwards.
    """
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
