"""The functions that a generated class calls so that no declared parameter or buffer is left uninitialised in silence.

Initialisers of torch fill what they are given. User code may forget to: a function returns a new tensor or fills a part, a
`reset_parameters` leaves a field out. The constructor marks the tensors that depend on such code, and looks for the mark
afterwards.

The constructor computes a value, such as for `buffer(value="causal_mask")`, where the field stands, as a hand-written one
would. `reset_parameters`, which `materialize` and the user call too, computes it again. Within the constructor it leaves fresh
values alone, so that random ones are drawn once. What a `__post_init__` registers is put where the constructor was asked to put
the module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling

from .marks import Mark, mark, unfilled
from .module_base import ModuleBase

if TYPE_CHECKING:
    from torch.types import Device


_PLAIN_TENSORS = (Tensor, nn.Parameter)
_INITIALISERS = {
    name: function for name, function in vars(nn.init).items() if name.endswith("_") and callable(function)
}

_FEW = 64
"""Up to so many numbers are looked through faster as a list of Python's."""


def fill(tensor: Tensor, initializer: Callable[[Tensor], object], field: str) -> None:
    """Call an initialiser. `field` names what it fills, `Attention.scale`.

    Raises:
        TypeError: it returned a new tensor of that shape, as `torch.zeros_like` does.
    """
    with at_least(tensor.dtype):
        result = initializer(tensor)
    if result is None or result is tensor or not isinstance(result, Tensor) or is_dynamo_compiling():
        return
    if result.shape != tensor.shape:
        return  # a statistic, say; whether the tensor is filled is checked too
    if type(result) in _PLAIN_TENSORS and type(tensor) in _PLAIN_TENSORS and not _same_memory(result, tensor):
        name = getattr(initializer, "__name__", None) or repr(initializer)
        raise TypeError(
            f"{field}: the initializer {name} returned a new tensor, which is not used;"
            " expected that it fills the tensor it is given: lambda tensor: tensor.normal_().mul_(0.02)"
        )


def at_least(dtype: torch.dtype | None) -> AbstractContextManager[object]:
    """Compute in a dtype where torch's default is narrower, as in a trainer that constructs in bfloat16.

    Otherwise `1 / torch.arange(1, 9)` would be rounded before it is stored as float32.
    """
    default = torch.get_default_dtype()
    if dtype is None or dtype is default or not (real := dtype.to_real()).is_floating_point or real.itemsize == 1:
        return _NOTHING  # float8 is promoted to nothing
    wide, left = torch.promote_types(real, default), ExitStack()
    torch.set_default_dtype(wide)
    left.callback(torch.set_default_dtype, default)
    return left


_NOTHING = nullcontext()


def _same_memory(result: Tensor, tensor: Tensor) -> bool:
    if result.layout is not torch.strided or tensor.layout is not torch.strided:
        return False
    return result.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()


def mark_unfilled(module: nn.Module, *names: str) -> dict[str, Mark]:
    """Mark the memory of new parameters and buffers, before the class's own code is to fill it.

    Tensors without memory of their own are left out: on meta, fake ones, and others that a hook or a mode made.
    """
    if is_dynamo_compiling():
        return {}
    found = ((name, _registered(module, name)) for name in names)
    return {name: mark(tensor) for name, tensor in found if tensor is not None and _has_memory(tensor)}


def check_filled(module: nn.Module, marks: dict[str, Mark]) -> None:
    """Look for tensors that still have their mark.

    Raises:
        RuntimeError: one has. It is not raised where something skips initialisation on purpose, by patches of `torch.nn.init`
            or of the class's `reset_parameters`, or by a mode for torch functions.
    """
    for name, each in marks.items():
        tensor = each.tensor
        # The class's code has registered another tensor in its place.
        if _registered(module, name) is not tensor or not _may_be_unfilled(each):
            continue
        count = unfilled(tensor, each.version)
        if count:
            if _initialisation_is_skipped(type(module)):
                return
            raise RuntimeError(_message(type(module).__name__, name, count, tensor.numel()))


def _message(cls: str, name: str, unfilled: int, elements: int) -> str:
    if unfilled == elements:
        return (
            f"{cls}.{name} is not initialised: no initializer, {cls}.reset_parameters or __post_init__ writes to it;"
            f" a reset_parameters of your own has to call super().reset_parameters() or to fill self.{name}"
        )
    return (
        f"{cls}.{name} is initialised in part: nothing writes to {unfilled} of its {elements} elements, or they are computed"
        " from such; fill all of it first, as with tensor.zero_()"
    )


def _registered(module: nn.Module, name: str) -> Tensor | None:
    found = module._parameters.get(name)
    return module._buffers.get(name) if found is None else found


def _has_memory(tensor: Tensor) -> bool:
    return type(tensor) in _PLAIN_TENSORS and not tensor.is_meta and tensor.numel() > 0 and not tensor.is_inference()


def _may_be_unfilled(mark: Mark) -> bool:
    """Return whether the mark is anywhere in a tensor. To count it takes several times as long."""
    tensor, _, bits, number = mark
    if bits.data_ptr() != tensor.data_ptr() or bits.device != tensor.device:  # other memory, by `tensor.data = ...`
        return True
    if bits.numel() <= _FEW:
        return number in bits.flatten().tolist()
    return bool((bits == number).any())


def _initialisation_is_skipped(cls: type) -> bool:
    """Return whether somebody replaced `reset_parameters` or the functions of `torch.nn.init`, or a mode may do so.

    A mode for the default device does not.
    """
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext

    declared = [base for base in cls.__mro__ if "_declared_reset" in vars(base)]
    if any(getattr(base, "reset_parameters", None) is not vars(base)["_declared_reset"] for base in declared):
        return True
    if any(vars(nn.init).get(name) is not function for name, function in _INITIALISERS.items()):
        return True
    modes: list[object] = _get_current_function_mode_stack()  # type: ignore[no-untyped-call] # torch gives it no types
    return any(not isinstance(mode, DeviceContext) for mode in modes)


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
    value = _computed(module, name, function, device, own_dtype or dtype, shape)
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
    value = _computed(module, name, function, device, own_dtype or dtype, shape)
    data = _cast(value, device, dtype, own_dtype)
    module.register_parameter(name, nn.Parameter(data.clone() if data is value else data, requires_grad))
    vars(module).setdefault(_FRESH, set()).add(name)


def recompute(module: nn.Module, name: str, function: Computed) -> None:
    """Compute a registered value again, in place; not for one that the constructor has just computed."""
    fresh = vars(module).get(_FRESH)
    if fresh and name in fresh:
        fresh.discard(name)
        return
    held = _registered(module, name)
    if held is not None:
        held.copy_(_computed(module, name, function, held.device, held.dtype, tuple(held.shape)))


def forget_fresh(module: nn.Module) -> None:
    """End the construction: from now on, `reset_parameters` computes values."""
    vars(module).pop(_FRESH, None)


def _computed(
    module: nn.Module, name: str, function: Computed, device: Device, dtype: torch.dtype | None, shape: Size | None
) -> Tensor:
    """The result of the function, which makes tensors on `device`, and computes in `dtype` at least, unless it says otherwise.

    Raises:
        TypeError: it returns something other than a tensor.
        ValueError: the tensor has another shape than `shape`.
    """
    made_by = f"{type(module).__name__}.{name}: value={getattr(function, '__name__', function)}"
    with torch.no_grad(), at_least(dtype), nullcontext() if device is None else torch.device(device):
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


@contextmanager
def placed(module: ModuleBase, device: torch.device | str | int | None, dtype: torch.dtype | None) -> Iterator[None]:
    """Move and cast the tensors that a block registers, as `module.to(device, dtype)` would; earlier ones stay as they are.

    Earlier tensors were made in their place, and may have a dtype of their own: `param(..., dtype=torch.float32)`.
    """
    if device is None and dtype is None:
        yield
        return
    # The tensors themselves, and not their ids alone: the memory of one that the block lets go may be that of a new one.
    earlier = {id(tensor): tensor for tensor in chain(module.parameters(), module.buffers())}
    with at_least(dtype):
        yield

    def place(tensor: Tensor) -> Tensor:
        if id(tensor) in earlier:
            return tensor
        casts = dtype is not None and (tensor.is_floating_point() or tensor.is_complex())
        return tensor.to(device=device, dtype=dtype if casts else None)

    # A move to meta makes a new parameter for each of the places where a shared one is.
    places: dict[int, list[tuple[dict[str, nn.Parameter | None], str]]] = {}
    for holder in module.modules():
        for name, parameter in holder._parameters.items():
            places.setdefault(id(parameter), []).append((holder._parameters, name))
    module._apply(place)  # type: ignore[no-untyped-call] # torch gives none
    for (registry, name), *others in places.values():
        for other, alias in others:
            other[alias] = registry[name]
