"""Parameters and buffers whose value is computed: `buffer(value="causal_mask")`, and lists and dicts of parameters.

The constructor computes a value where the field stands, as a hand-written one would. `reset_parameters`, which `materialize` and
the user call too, computes it again. Within the constructor it leaves fresh values alone, so that random ones are drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from torch.types import Device

Computed = Callable[[nn.Module], Tensor] | str
"""A function of the module, or the name of a method."""

Size = tuple[int, ...]

_FRESH = "_fresh_values"
"""The key in a module's instance dict of the values that its constructor has computed, while it runs."""


def register_value(
    module: nn.Module,
    name: str,
    function: Computed,
    device: Device,
    dtype: torch.dtype | None,
    shape: Size | None = None,
    *,
    persistent: bool = True,
    own_dtype: torch.dtype | None = None,
) -> None:
    """Register what `function` computes as a buffer, on `device`; floating point numbers in `dtype`, all in `own_dtype`."""
    value = _computed(module, name, function, device, shape)
    module.register_buffer(name, _cast(value, device, dtype, own_dtype), persistent)
    vars(module).setdefault(_FRESH, set()).add(name)


def register_parameter_value(
    module: nn.Module,
    name: str,
    function: Computed,
    device: Device,
    dtype: torch.dtype | None,
    shape: Size | None = None,
    *,
    requires_grad: bool = True,
    own_dtype: torch.dtype | None = None,
) -> None:
    """Register what `function` computes as a parameter, in memory of its own; otherwise as `register_value`."""
    value = _computed(module, name, function, device, shape)
    data = _cast(value, device, dtype, own_dtype)
    module.register_parameter(name, nn.Parameter(data.clone() if data is value else data, requires_grad))
    vars(module).setdefault(_FRESH, set()).add(name)


def recompute(module: nn.Module, name: str, function: Computed) -> None:
    """Compute a registered value again, in place; not for one that the constructor has just computed."""
    fresh = vars(module).get(_FRESH)
    if fresh and name in fresh:
        fresh.discard(name)
        return
    held = module._buffers.get(name)
    held = module._parameters.get(name) if held is None else held
    if held is not None:
        held.copy_(_computed(module, name, function, held.device, tuple(held.shape)))


def forget_fresh(module: nn.Module) -> None:
    """End the construction: from now on, `reset_parameters` computes values."""
    vars(module).pop(_FRESH, None)


def _computed(module: nn.Module, name: str, function: Computed, device: Device, shape: Size | None) -> Tensor:
    """The result of the function, which makes tensors on `device` unless it says otherwise.

    Raises:
        TypeError: it returns something other than a tensor.
        ValueError: the tensor has another shape than `shape`.
    """
    made_by = f"{type(module).__name__}.{name}: value={getattr(function, '__name__', function)}"
    with torch.no_grad(), nullcontext() if device is None else torch.device(device):
        try:
            value: object = getattr(module, function)() if isinstance(function, str) else function(module)
        except Exception as error:
            error.add_note(f"in {made_by}, which computes the first value")
            raise
    if not isinstance(value, Tensor):
        raise TypeError(f"{made_by} returned {type(value).__name__}, expected a tensor")
    if shape is not None and tuple(value.shape) != shape:
        raise ValueError(
            f"{type(module).__name__}.{name}: the computed value has shape {tuple(value.shape)}, expected {shape}"
        )
    return value.detach()


def _cast(value: Tensor, device: Device, dtype: torch.dtype | None, own_dtype: torch.dtype | None) -> Tensor:
    wanted = dtype if own_dtype is None and value.is_floating_point() else own_dtype
    return value if device is None and wanted is None else value.to(device=device, dtype=wanted)


def register_parameters(
    module: nn.Module,
    name: str,
    shapes: Sequence[Size] | Mapping[str, Size] | None,
    device: Device,
    dtype: torch.dtype | None,
    requires_grad: bool = True,
) -> None:
    """Register a ParameterList with a parameter of each shape, or a ParameterDict; None without shapes.

    `reset_parameters` fills the memory.
    """

    def made(shape: Size) -> nn.Parameter:
        return nn.Parameter(torch.empty(shape, device=device, dtype=dtype), requires_grad)

    found: nn.Module | None
    if shapes is None:
        found = None
    elif isinstance(shapes, Mapping):
        found = nn.ParameterDict({key: made(shape) for key, shape in shapes.items()})
    else:
        found = nn.ParameterList([made(shape) for shape in shapes])
    module.register_module(name, found)
