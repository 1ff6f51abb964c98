"""`load_state_dict` where nothing is unusual: every key has its tensor, every tensor its key, and all shapes agree.

The tree is walked first, without changing anything. Whatever is met that nn.Module treats in a way of its own (a hook, an
override, a key too few or too many, a tensor of another kind, a meta tensor) leaves the whole of it to nn.Module, whose result
and whose errors are then what the caller gets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch._C import _len_torch_dispatch_stack, _len_torch_function_stack
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.module import _IncompatibleKeys

from .nn_module_layout import KNOWN

OnlyCopies = Callable[[type[nn.Module]], bool]

_Module = nn.Module
_load = nn.Module.load_state_dict
_load_own = nn.Module._load_from_state_dict
_set_extra_state = nn.Module.set_extra_state
_load_norm = _NormBase._load_from_state_dict

_foreach_copy: Callable[[list[Tensor], list[Tensor]], None] = vars(torch)["_foreach_copy_"]

_TENSORS = frozenset({Tensor, nn.Parameter, nn.Buffer})


def load_plainly(module: nn.Module, state_dict: Mapping[str, Any], only_copies: OnlyCopies) -> _IncompatibleKeys | None:
    """Load `state_dict` where copying is all that is to do, and return the result. Otherwise change nothing and return None.

    Args:
        module: The root of the tree.
        state_dict: Tensors of the shapes that the module has, of any dtype and device; they are cast as `copy_` does.
        only_copies: Whether `_load_from_state_dict` of a class does no more than nn.Module's.
    """
    if (
        not KNOWN
        or type(state_dict) not in (dict, OrderedDict)
        or _Module.load_state_dict is not _load
        or _Module._load_from_state_dict is not _load_own
        or torch.__future__.get_swap_module_params_on_conversion()
        or _len_torch_function_stack()
        or _len_torch_dispatch_stack()
        or _assigns(state_dict)
    ):
        return None
    targets: dict[str, Tensor] = {}
    sources: list[Tensor] = []
    once: Callable[..., bool] = cache(only_copies)  # a tree has many modules of few classes
    matches = _match(module, "", state_dict, targets, sources, once)
    if not matches or not len(targets) == len(sources) == len(state_dict):
        return None
    try:
        with torch.no_grad():
            _copy(list(targets.values()), sources)
    except Exception:  # whatever a copy may raise: nn.Module repeats it and says which key it was
        return None
    return _IncompatibleKeys([], [])


def _assigns(state_dict: Mapping[str, Any]) -> bool:
    """Whether an earlier load with `assign=True` has left its mark in the metadata, which nn.Module then follows again."""
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return False
    return type(metadata) not in (dict, OrderedDict) or any(
        type(entry) is not dict or "assign_to_params_buffers" in entry for entry in metadata.values()
    )


def _match(
    module: nn.Module,
    prefix: str,
    state_dict: Mapping[str, Any],
    targets: dict[str, Tensor],
    sources: list[Tensor],
    only_copies: OnlyCopies,
) -> bool:
    """Add the tensors of a module and its children with those of the state dict; False where something is unusual."""
    state = module.__dict__
    if "_parameters" not in state or not _loads_plainly(module, state, only_copies):
        return False
    buffers, transient = state["_buffers"], state["_non_persistent_buffers_set"]
    if transient:
        buffers = {name: buffer for name, buffer in buffers.items() if name not in transient}
    for name, target in {**state["_parameters"], **buffers}.items():
        if target is None:
            continue
        key = prefix + name
        source: Any = state_dict.get(key)
        if (
            type(source) not in _TENSORS
            or type(target) not in _TENSORS
            or source.shape != target.shape
            or source.is_meta
            or target.is_meta
        ):
            return False
        targets[key] = target
        sources.append(source)
    for name, child in state["_modules"].items():
        if child is not None and not _match(child, f"{prefix}{name}.", state_dict, targets, sources, only_copies):
            return False
    return True


def _loads_plainly(module: nn.Module, state: Mapping[str, Any], only_copies: OnlyCopies) -> bool:
    """Whether nn.Module would do no more with this module than to copy its tensors."""
    cls = type(module)
    if (
        state["_load_state_dict_pre_hooks"]
        or state["_load_state_dict_post_hooks"]
        or "_load_from_state_dict" in state
        or cls.set_extra_state is not _set_extra_state
    ):
        return False
    loader = cls._load_from_state_dict
    if loader is _load_own or only_copies(cls):
        return True
    # Batch normalisation adds its counter where a state dict of an old version lacks it. A buffer's key is never lacking here.
    return loader is _load_norm and (
        not getattr(module, "track_running_stats", True) or state["_buffers"].get("num_batches_tracked") is not None
    )


def _copy(targets: list[Tensor], sources: list[Tensor]) -> None:
    """Copy one after the other, in case that some share their memory."""
    if all(target.is_cpu for target in targets):
        if targets:
            _foreach_copy(targets, sources)
        return
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)
