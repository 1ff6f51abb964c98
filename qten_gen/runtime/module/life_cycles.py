"""Buffers that no checkpoint holds, made again whatever a trainer does to a module.

`to_empty` gives tensors memory without values, and a load by `assign=True` leaves on meta what the state dict lacks. Parameters
and persistent buffers then come from the checkpoint. The others are made again at once, by the `reset_parameters` of the class,
which computes and fills what the declaration says, and by its `__post_init__`. Both run on a stand-in of the module, whose saved
tensors and children are on meta. So nothing else is written, and nothing unwritten is read. The random generator is in a state of
its own meanwhile, so that random values are the same in every process, and what others draw stays the same too.

A buffer that nothing makes is filled with marks, or stays on meta, and the first `forward` raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from types import CodeType
from typing import Any
from zlib import crc32

import torch
from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling

from .initialisation import Mark, mark, unfilled
from .module_base import ModuleBase

_METHODS = ("reset_parameters", "_reset_parameters", "__post_init__")
_EMPTYING = next((each for each in nn.Module.to_empty.__code__.co_consts if isinstance(each, CodeType)), None)
"""The code of what `to_empty` applies to each tensor."""


def remake_emptied(module: ModuleBase, before: Mapping[str, Tensor | None], fn: Callable[[Tensor], Tensor]) -> None:
    """Make the unsaved buffers of a module that have memory without values, now that `fn` was applied to its tensors.

    These are all after `to_empty`, and otherwise those that were on meta.
    """
    is_emptied = _EMPTYING is not None and getattr(fn, "__code__", None) is _EMPTYING
    names = [name for name, old in before.items() if old is not None and (old.is_meta or is_emptied)]
    _remake(module, [name for name in names if not module._buffers[name].is_meta], None)


def remake_missing(root: nn.Module, device: torch.device) -> bool:
    """Make the unsaved buffers that are on meta, of the declared modules in a module, on a device; False if there are none."""
    found = False
    for module in reversed([*root.modules()]):  # a value may read a child's
        if isinstance(module, ModuleBase):
            names = [name for name in module._non_persistent_buffers_set if _is_meta(module._buffers.get(name))]
            found = _remake(module, names, device) or found
    return found


def _is_meta(buffer: Tensor | None) -> bool:
    return buffer is not None and buffer.is_meta


def _remake(module: ModuleBase, names: list[str], device: torch.device | None) -> bool:
    """Make buffers of a module where they are, or on a device; False if there are none with elements."""
    names = [name for name in names if module._buffers[name].numel() and not _is_fake(module._buffers[name])]
    if not names:
        return False
    with torch.no_grad():
        for name, value in _values(module, names).items():
            held = module._buffers[name]
            if value is None:
                _leave(module, held)
            elif held.is_meta or held.shape != value.shape:
                module._buffers[name] = value.to(device or held.device, held.dtype)
            elif hasattr(held, "device_mesh"):
                from torch.distributed.tensor import distribute_tensor

                whole = value.to(held.device, held.dtype)
                held.copy_(distribute_tensor(whole, held.device_mesh, held.placements, src_data_rank=None))
            else:
                held.copy_(value)
    return True


def _is_fake(tensor: Tensor) -> bool:
    """Return whether a tensor has no values at all: of torch's fake mode, or of ours."""
    return "Fake" in type(tensor).__name__


@torch.inference_mode(False)
def _values(module: ModuleBase, names: list[str]) -> dict[str, Tensor | None]:
    """The values of unsaved buffers, on the CPU; None for one that nothing makes without reading saved tensors."""
    twin = _stand_in(module)
    marks = {name: mark(_empty(module._buffers[name])) for name in names}
    twin._buffers.update({name: each.tensor for name, each in marks.items()})
    # A class that a parametrization or `fully_shard` derives has another name.
    cls = next(each for each in type(module).__mro__ if "_declared_as" in vars(each))
    state = torch.get_rng_state()
    torch.default_generator.manual_seed(crc32(cls.__qualname__.encode()))
    try:
        with torch.device("cpu"):
            for method in _METHODS:
                if hasattr(cls, method):
                    getattr(twin, method)()
    except Exception:  # it reads a saved tensor, which has no values; what it has made before that is made
        pass
    finally:
        torch.set_rng_state(state)
    return {name: _made(twin._buffers.get(name), each) for name, each in marks.items()}


def _empty(tensor: Tensor) -> Tensor:
    """Memory for a buffer on the CPU, in the dtype that a constructor fills: a later cast of the module rounds."""
    is_floating = tensor.is_floating_point()
    dtype = torch.promote_types(tensor.dtype, torch.get_default_dtype()) if is_floating else tensor.dtype
    return torch.empty(tensor.shape, dtype=dtype, device="cpu")


def _made(value: Tensor | None, before: Mark) -> Tensor | None:
    # A fake tensor has no values to look at.
    is_same = value is before.tensor and type(value) is Tensor
    is_left = value is None or value.is_meta or (is_same and unfilled(value, before.version) > 0)
    return None if is_left else value


def _stand_in(module: nn.Module) -> Any:
    """A module of the same class and attributes, with its parameters, persistent buffers and children on meta."""
    twin: Any = object.__new__(type(module))
    unsaved = module._non_persistent_buffers_set
    # Containers are copied, because a method may register hooks.
    vars(twin).update(
        {key: copy(value) if isinstance(value, dict | list | set) else value for key, value in vars(module).items()}
    )
    twin._parameters = {name: _on_meta(each) for name, each in module._parameters.items()}
    twin._buffers = {name: each if name in unsaved else _on_meta(each) for name, each in module._buffers.items()}
    twin._modules = _Children(module._modules)
    return twin


def _on_meta(tensor: Tensor | None) -> Tensor | None:
    if tensor is None:
        return None
    made = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else made


class _Children(MutableMapping[str, Any]):
    """The children of a stand-in, which are made when they are read."""

    def __init__(self, children: Mapping[str, nn.Module | None]) -> None:
        self._children: dict[str, Any] = dict(children)

    def __getitem__(self, name: str) -> Any:
        child = self._children[name]
        if isinstance(child, nn.Module) and not isinstance(child._modules, _Children):
            self._children[name] = child = _stand_in(child)
        return child

    def __setitem__(self, name: str, child: Any) -> None:
        self._children[name] = child

    def __delitem__(self, name: str) -> None:
        del self._children[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._children)

    def __len__(self) -> int:
        return len(self._children)


def _leave(module: ModuleBase, buffer: Tensor) -> None:
    """Let the first `forward` raise where nothing writes a buffer until then."""
    if type(buffer) is Tensor and not buffer.is_meta:
        mark(buffer)
    if _refuse_unmade not in module._forward_pre_hooks.values():
        module.register_forward_pre_hook(_refuse_unmade)


def _refuse_unmade(module: ModuleBase, args: tuple[object, ...]) -> None:
    """A hook that is called once: raise where an unsaved buffer was never written.

    Raises:
        RuntimeError: one was not.
    """
    if is_dynamo_compiling():
        return
    for key in [key for key, hook in module._forward_pre_hooks.items() if hook is _refuse_unmade]:
        del module._forward_pre_hooks[key]
    for name in module._non_persistent_buffers_set:
        buffer = module._buffers.get(name)
        if type(buffer) is Tensor and not buffer.is_inference() and (buffer.is_meta or unfilled(buffer, 0)):
            cls = type(module).__name__
            raise RuntimeError(
                f"{cls}.{name} was never written: it is in no state dict, and nothing in {cls} makes it again from what is no"
                f" saved tensor; declare it by buffer(..., value=...) or initializer=, or let {cls}.reset_parameters fill it"
            )
