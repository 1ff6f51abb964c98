"""The values that a class gives its unsaved buffers: what its own methods make on a stand-in of a module.

`reset_parameters` computes and fills what the declaration says, and `__post_init__` may register more. Both run on a module of
the same class and attributes, whose saved tensors and children are on meta. So they write nothing else, and read nothing that has
no value yet. The random generators are in a state of their own meanwhile, so that random values are the same in every process,
and what others draw stays the same too.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections import OrderedDict, UserDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .initialisation import at_least
from .marks import mark, unfilled, version_of
from .module_base import INITIALIZING, REMAKING, WATCHED, ModuleBase


@contextmanager
def seeded(seed: int, name: str) -> Iterator[None]:
    """The generators of torch, Python and NumPy seeded by a seed and a name alone; afterwards they are as before."""
    numpy = sys.modules.get("numpy")
    before, of_numpy, of_torch = random.getstate(), numpy and numpy.random.get_state(), torch.get_rng_state()
    number = int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=4).digest(), "little")
    try:
        torch.default_generator.manual_seed(number)  # and none of an accelerator
        random.seed(number)
        if numpy:
            numpy.random.seed(number)
        yield
    finally:
        torch.set_rng_state(of_torch)
        random.setstate(before)
        if numpy:
            numpy.random.set_state(of_numpy)


@torch.inference_mode(False)
def made_values(
    module: nn.Module, names: list[str], seed: int = 0
) -> tuple[dict[str, Tensor | None], Exception | None]:
    """The values of unsaved buffers, on the CPU, with the error that ended it.

    A value is None where nothing makes it without reading saved tensors.
    """
    values = dict[str, Tensor | None].fromkeys(names)
    cls = declared_class(module)
    try:
        with (
            seeded(seed, cls.__qualname__),
            torch.autocast("cpu", enabled=False),  # a trainer may have it, or a narrow default dtype, when it asks
            at_least(torch.float32),
            _OnCpu("cpu"),
            _NothingElseIsWritten(),
        ):
            twin = _stand_in(module, {})
            marks = {name: mark(_empty(module._buffers[name])) for name in names}
            twin._buffers.update({name: each.tensor for name, each in marks.items()})
            for method in REMAKING:
                if hasattr(cls, method):
                    getattr(twin, method)()
    except Exception as error:  # it reads a saved tensor, or writes to another's: what it has made may be half
        return values, error
    for name, each in marks.items():
        made = twin._buffers.get(name)
        # A tensor of another class, such as a fake one, has no values to look at.
        is_same = made is each.tensor and type(made) is Tensor
        values[name] = None if made is None or made.is_meta or (is_same and unfilled(made, each.version) > 0) else made
    return values, None


def declared_class(module: nn.Module) -> type[nn.Module]:
    """The class that was declared: one that a parametrization or `fully_shard` derives has another name."""
    return next((each for each in type(module).__mro__ if "_declared_as" in vars(each)), type(module))


def fixed_values(module: nn.Module, names: list[str]) -> dict[str, Tensor]:
    """The values of unsaved buffers that can be made and are not random: the same with another seed."""
    (values, _), (others, _) = made_values(module, names), made_values(module, names, seed=1)
    pairs = [(name, each, others[name]) for name, each in values.items()]
    return {name: one for name, one, other in pairs if one is not None and other is not None and is_close(one, other)}


def is_close(found: Tensor, value: Tensor) -> bool:
    """Return whether two tensors are equal but for the rounding of another device."""
    if found.shape != value.shape or not (value.is_floating_point() or value.is_complex()):
        return torch.equal(found, value)
    if value.dtype.itemsize == 1:  # torch compares no float8
        found, value = found.float(), value.float()
    finite = value[value.isfinite()].abs()
    noise = 1e-6 * finite.max().item() if finite.numel() else 0.0  # where values cancel, as in sin(pi)
    return torch.allclose(found, value, rtol=0.02, atol=noise, equal_nan=True)


def _empty(tensor: Tensor | None) -> Tensor:
    """Memory for a buffer on the CPU, in the dtype that a constructor fills: a later cast of the module rounds."""
    assert tensor is not None  # it is one that has elements
    dtype = tensor.dtype
    if tensor.is_floating_point() and dtype.itemsize > 1:  # float8 is promoted to nothing
        dtype = torch.promote_types(dtype, torch.get_default_dtype())
    return torch.empty(tensor.shape, dtype=dtype, device="cpu")


class _OnCpu(DeviceContext):
    """Makes tensors on the CPU, and not on the device of a stand-in's saved tensors."""

    def __torch_function__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.new_tensor or str((kwargs or {}).get("device")) == "meta":
            kwargs = {**(kwargs or {}), "device": self.device}
        return super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call] # torch gives it no types


class _NothingElseIsWritten(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch gives it no types
    """Lets operations write only to memory that was allocated since the mode began, and to meta tensors."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # it would import the compiler

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._own: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        given = [*zip((each.name for each in func._schema.arguments), args, strict=False), *(kwargs or {}).items()]
        written = {each.name for each in func._schema.arguments if each.alias_info and each.alias_info.is_write}
        tensors = [(name, each) for name, value in given for each in tree_leaves(value) if isinstance(each, Tensor)]
        is_left = any(each.is_meta for _, each in tensors)  # torch then writes nothing, and says nothing
        for argument, each in tensors:
            if argument in written and not each.is_meta and (is_left or each.untyped_storage()._cdata not in self._own):
                raise RuntimeError(f"{func} writes what has no value, or to a tensor that is not the stand-in's own")
        name = func._schema.name
        if name.endswith("_like") or name.startswith("aten::new_") or (name == "aten::_to_copy" and not is_left):
            kwargs = {**(kwargs or {}), "device": torch.device("cpu")}  # these read no values of a meta tensor
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.lift_fresh.default or all(each.alias_info is None for each in func._schema.returns):
            self._own.update(each.untyped_storage()._cdata for each in tree_leaves(made) if isinstance(each, Tensor))
        return made


_Made = dict[int, nn.Module]
"""The stand-ins so far, by the ids of their modules."""


def _copied(value: object, made: _Made) -> object:
    """An attribute for a stand-in: with new containers in place of those in it, and stand-ins of modules."""
    if isinstance(value, nn.Module):
        return _stand_in(value, made)
    if isinstance(value, dict) and type(value) in (dict, OrderedDict):  # the hooks are in one of these
        return type(value)((key, _copied(held, made)) for key, held in value.items())
    if isinstance(value, list | set | tuple) and type(value) in (list, set, tuple):
        return type(value)(_copied(held, made) for held in value)
    return value


def _stand_in(module: nn.Module, made: _Made) -> nn.Module:
    """A module of the same class and attributes, with its parameters, persistent buffers and children on meta.

    What a method changes in it changes nothing else.
    """
    if id(module) in made or isinstance(module._modules, _Children):
        return made.get(id(module), module)
    made[id(module)] = twin = object.__new__(type(module))
    state = vars(twin)
    state["_parameters"] = {name: _on_meta(each) for name, each in module._parameters.items()}
    state["_buffers"] = {}
    for name, each in module._buffers.items():
        # In a plain module, `to_empty` leaves no sign where it wrote nothing, but that nobody else has.
        is_made = name in module._non_persistent_buffers_set and (
            isinstance(module, ModuleBase) or version_of(each) > 0
        )
        state["_buffers"][name] = each.clone() if is_made and each is not None else _on_meta(each)
    state["_modules"] = _Children(module._modules)
    state["_modules"].made = made
    for key, value in vars(module).items():
        if key in (*state, WATCHED, *INITIALIZING):  # the last may be bound to the module itself
            continue
        # FSDP1 lets a plain tensor take the place of a parameter.
        is_declared = isinstance(value, Tensor) and key in getattr(type(module), "_specifiers", ())
        state[key] = _on_meta(value) if is_declared else _copied(value, made)
    return twin


def _on_meta(tensor: Tensor | None) -> Tensor | None:
    if tensor is None:
        return None
    with torch._C.DisableTorchFunction():  # the mode would make it on the CPU
        made = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else made


class _Children(UserDict[str, nn.Module | None]):
    """The children of a stand-in, which are made when they are read."""

    made: _Made

    def __getitem__(self, name: str) -> nn.Module | None:
        child = self.data[name]
        return None if child is None else _stand_in(child, self.made)
