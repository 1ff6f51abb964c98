"""What a declared module keeps through moves, casts and loads: tied parameters, and dtypes that no cast changes.

nn.Module keeps a tie as long as nobody makes a new Parameter. `to_empty` and `load_state_dict(assign=True)` do, once for each
name. The functions here give both names the same one. A tie that the user has cut, by assigning another parameter to one of the
names, stays cut. A parameter that has moved stays tied: an adapter in the place of a submodule, a parametrization and pruning
hold it at another path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import NamedTuple, TypeGuard, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .module_base import ModuleBase

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
    held = _held(module)
    for name in held:
        module._parameters[name] = None
    try:
        return change()
    finally:
        for name, place in held.items():
            module._parameters[name] = place.holder._parameters.get(place.leaf)


def disagreements(module: ModuleBase, state_dict: Mapping[str, object], prefix: str) -> Iterator[str]:
    """The ties whose names have different values in a state dict, as where its model had no tie: one of them would be lost."""
    for name, place in _held(module).items():
        one, other = state_dict.get(prefix + name), state_dict.get(prefix + place.path)
        if not _has_values(one) or not _has_values(other) or (one.shape, one.dtype) != (other.shape, other.dtype):
            continue
        # Of a tied module, the state dict has the same memory for both, which spares the comparison.
        if one.data_ptr() != other.data_ptr() and not torch.equal(_bytes(one), _bytes(other).to(one.device)):
            yield (
                f"{prefix}{name} is tied to {prefix}{place.path}, and the state dict has different values for them;"
                " set both to those that count, or declare the one without tie="
            )


def _has_values(value: object) -> TypeGuard[Tensor]:
    # Fake tensors and DTensors are classes of their own.
    if type(value) not in (Tensor, nn.Parameter):
        return False
    tensor = cast(Tensor, value)
    return tensor.layout is torch.strided and not (tensor.is_meta or tensor.is_quantized)


def _bytes(tensor: Tensor) -> Tensor:
    """The compared value: NaN equals NaN, and every dtype has bytes."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous().flatten().view(torch.uint8)


def share_assigned(module: ModuleBase, state_dict: MutableMapping[str, Tensor], prefix: str) -> None:
    """Before the tensors of a state dict take the place of parameters, let both names of a tie find the same Parameter there.

    The name in the submodule wins, as it does where values are copied.
    """
    if torch.__future__.get_swap_module_params_on_conversion():
        return  # swapping keeps every Parameter the object that it is
    for name, place in _held(module).items():
        present = cast(nn.Parameter, module._parameters[name])
        names = (prefix + place.path, prefix + name)
        given = next((state_dict[key] for key in names if key in state_dict), None)
        # nn.Module says what is wrong with it.
        if not isinstance(given, Tensor) or given.shape != present.shape:
            continue
        if place.leaf in getattr(type(place.holder), "_kept", ()) and not isinstance(given, nn.Parameter):
            given = given.detach().to(present.dtype)
        shared = given if isinstance(given, nn.Parameter) else nn.Parameter(given, requires_grad=present.requires_grad)
        place.holder._parameters[place.leaf] = module._parameters[name] = shared
        state_dict.update({key: shared for key in names if key in state_dict})


class _Place(NamedTuple):
    """Where the parameter that a name is tied to is registered."""

    path: str
    holder: nn.Module
    leaf: str


def _held(module: ModuleBase) -> dict[str, _Place]:
    """The names whose ties hold, and where their parameters are."""
    found: dict[str, _Place] = {}
    for name, path in module._tied.items():
        parameter = module._parameters.get(name)
        place = None if parameter is None else _declared(module, path, parameter) or _moved(module, parameter)
        if place is not None:
            found[name] = place
    return found


def _declared(module: nn.Module, path: str, parameter: nn.Parameter) -> _Place | None:
    """The place that the declaration names, if the parameter is there."""
    *steps, leaf = path.split(".")
    holder: nn.Module | None = module
    for step in steps:
        holder = None if holder is None else holder._modules.get(step)
    return _Place(path, holder, leaf) if holder is not None and holder._parameters.get(leaf) is parameter else None


def _moved(module: nn.Module, parameter: nn.Parameter) -> _Place | None:
    """Another place of the parameter within the module, whose name is not tied itself; None where the tie is cut."""
    for prefix, holder in module.named_modules():
        tied = type(holder)._tied if isinstance(holder, ModuleBase) else {}
        for leaf, found in holder._parameters.items():
            if found is parameter and leaf not in tied:
                return _Place(f"{prefix}.{leaf}" if prefix else leaf, holder, leaf)
    return None


def kept_names(root: nn.Module) -> list[str]:
    """See `Module.kept_names`."""
    found: list[str] = []
    for path, module in root.named_modules():
        names = (f"{path}.{name}".lstrip(".") for name, _ in _kept(module))
        found += [name for name in names if not name.startswith(tuple(f"{outer}." for outer in found))]
    return found


def kept_tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The tensors that the class of a module keeps, with their names in the module, kept children's included."""
    for name, held in _kept(module):
        if isinstance(held, Tensor):
            yield name, held
        else:
            for path, tensor in (*held.named_parameters(), *held.named_buffers()):
                yield f"{name}.{path}", tensor


def keeping_dtypes(module: nn.Module, fn: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A function that moves or casts the tensors of a module, changed so that the kept ones move and keep their dtypes."""
    tensors = [tensor for _, tensor in kept_tensors(module)]
    # nn.Module calls the function for gradients too.
    gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
    kept = {id(tensor): tensor for tensor in (*tensors, *gradients)}

    def change(tensor: Tensor) -> Tensor:
        changed = fn(tensor)
        if id(tensor) not in kept or changed.dtype == tensor.dtype:
            return changed
        # Only the dtype would change. Strides do with `memory_format=`.
        if changed.device == tensor.device and changed.stride() == tensor.stride():
            return tensor
        return torch.empty_like(changed, dtype=tensor.dtype).copy_(tensor)

    return change


def cast_assigned(module: nn.Module, state_dict: MutableMapping[str, Tensor], prefix: str) -> None:
    """Before the tensors of a state dict take the place of those of a module, give them the dtypes that are kept."""
    for name, tensor in kept_tensors(module):
        given = state_dict.get(f"{prefix}{name}")
        if isinstance(given, Tensor) and given.dtype != tensor.dtype:
            cast = given.detach().to(tensor.dtype)
            is_parameter = isinstance(given, nn.Parameter)
            state_dict[f"{prefix}{name}"] = nn.Parameter(cast, given.requires_grad) if is_parameter else cast


def _kept(module: nn.Module) -> Iterator[tuple[str, Tensor | nn.Module]]:
    """The tensors and children of a module that its class keeps; a parametrized tensor is the module that computes it."""
    if not isinstance(module, ModuleBase):
        return
    is_parametrized = bool(type(module)._kept) and parametrize.is_parametrized(module)
    for name in type(module)._kept:
        for registry in (module._parameters, module._buffers, module._modules):
            held = registry.get(name)
            if held is not None:
                yield name, held
        if is_parametrized and name in module._modules["parametrizations"]:
            path = f"parametrizations.{name}"
            yield path, module.get_submodule(path)
