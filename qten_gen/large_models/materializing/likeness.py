"""Which modules are initialised alike: by the same operations, on tensors of the same kind.

Two modules are alike where nothing that an initialisation may look at tells them apart, and where the code of the initialisation
is torch's or generated: a function of the user's may count its calls. Whatever is not certain is like nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

from ...runtime.module.core.module_base import ModuleBase
from ..deferred.recording import Recorder
from .initialisers import trunc_normal_as_one_operation
from .stand_ins import StandIns
from .survey import Registry, attributes

_LAYERS = str(Path(nn.modules.__file__).parent)
_FILLED_BY_USER = "fill"
"""What generated code calls an initialiser with that is not torch's."""
_METHODS_OF_TENSORS = ("uniform_", "normal_", "fill_", "zero_", "copy_", "clamp_", "mul_", "add_", "erfinv_")
_REGISTRIES = (Registry.PARAMETERS, Registry.BUFFERS)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What modules have in common that are initialised alike, and the tensors that this one has in their places."""

    key: Hashable
    tensors: tuple[Tensor, ...]
    """The stand-ins."""
    slots: tuple[int, ...]
    """What the recorder knows them as."""


class Likenesses:
    """The likeness of each module of a tree, asked for children first."""

    def __init__(self, stand_ins: StandIns, recorder: Recorder) -> None:
        self._stand_ins = stand_ins
        self._recorder = recorder
        self._held = {id(stand_ins.at(held)): held for held in stand_ins.held}
        self._trees: dict[int, Likeness | None] = {}

    def of(self, module: nn.Module, method: str | None) -> Likeness | None:
        """The likeness of a module whose children have been asked for; None where nothing is certain."""
        with torch._C.DisableTorchFunction():
            own = self._own(module)
        tree = self._trees[id(module)] = None if own is None else self._with_children(module, own)
        if method is None or own is None or not _is_of_torch():
            return None
        code = _generated(module, method)
        found = own
        if code is None:
            code = _of_layer(module, method)
            if code is None or tree is None:
                return None
            found = tree
        state = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        return replace(found, key=(found.key, tuple(code), state))

    def _own(self, module: nn.Module) -> Likeness | None:
        """What a module is without its children."""
        plain = _plain(attributes(module))
        if plain is None or parametrize.is_parametrized(module):
            return None
        tensors: list[Tensor] = []
        slots: list[int] = []
        kinds: list[Hashable] = []
        for registry in _REGISTRIES:
            for name, fake in vars(module)[registry.value].items():
                slot = None if fake is None or not self._is_alone(module, fake) else self._recorder.find(fake)
                if fake is None:
                    kinds.append((registry, name))
                elif slot is None:
                    return None
                else:
                    kinds.append((registry, name, type(self._held[id(fake)].tensor), self._kind(fake, slot)))
                    tensors.append(fake)
                    slots.append(slot)
        names = tuple(sorted(vars(module)["_non_persistent_buffers_set"]))
        key = (type(module), module.training, plain, names, tuple(kinds))
        return Likeness(key, tuple(tensors), tuple(slots))

    def _with_children(self, module: nn.Module, own: Likeness) -> Likeness | None:
        """What a module is with its children; None if one of them is like nothing else."""
        keys: list[Hashable] = []
        tensors, slots = list(own.tensors), list(own.slots)
        for name, child in module._modules.items():
            if child is None:
                keys.append(name)
                continue
            below = self._trees.get(id(child))
            if below is None:
                return None
            keys.append((name, below.key))
            tensors += below.tensors
            slots += below.slots
        return Likeness((own.key, tuple(keys)), tuple(tensors), tuple(slots))

    def _is_alone(self, module: nn.Module, fake: Tensor) -> bool:
        """Whether only this module holds the tensor that a stand-in is for, and it has memory of its own, on meta."""
        held = self._held.get(id(fake))
        if held is None or len(held.homes) != 1 or held.homes[0].module is not module:
            return False
        return held.tensor.is_meta and id(held.tensor) not in self._stand_ins.shared

    def _kind(self, fake: Tensor, slot: int) -> Hashable:
        known = self._recorder.tape.slots[slot]
        return known.size, known.stride, known.offset, known.dtype, known.device, fake.requires_grad


def is_watched() -> bool:
    """Whether modes of the caller's see what torch does. One for the default device changes nothing here."""
    modes: list[object] = _get_current_function_mode_stack()  # type: ignore[no-untyped-call] # torch gives it no types
    return torch._C._len_torch_dispatch_stack() > 0 or any(not isinstance(mode, DeviceContext) for mode in modes)


def _plain(values: Mapping[str, object]) -> Hashable | None:
    """Attributes as something that is equal where they are, of the same types; None if one may be more than a value."""
    found = [_as_value(value) for value in values.values()]
    return None if None in found else tuple(zip(values, found, strict=True))


def _as_value(value: object) -> Hashable | None:
    if value is None or type(value) in (bool, int, str, torch.dtype, torch.device):
        return type(value), value
    if type(value) is float:
        return float, value.hex()
    if type(value) in (tuple, list):
        assert isinstance(value, (tuple, list))
        parts = [_as_value(part) for part in value]
        return None if None in parts else (type(value), *parts)
    return None


def _generated(module: nn.Module, method: str) -> Sequence[object] | None:
    """The generated `reset_parameters` of a declared class, if it calls initialisers of torch alone."""
    if not isinstance(module, ModuleBase):
        return None
    cls = type(module)
    owner, found = _found(cls, method)
    if found is not cls._declared_reset or not isinstance(found, FunctionType) or "_fingerprint" not in vars(owner):
        return None
    names = found.__code__.co_names
    if _FILLED_BY_USER in names or cls.__getattribute__ is not object.__getattribute__:
        return None
    owners = [_found(cls, name)[0] for name in names]
    return [found] if all(each is object or "_fingerprint" in vars(each) for each in owners) else None


def _of_layer(module: nn.Module, method: str) -> Sequence[object] | None:
    """The method of a layer of torch with those that it calls, if all of them are torch's."""
    cls = type(module)
    if not cls.__module__.startswith("torch.nn.modules."):
        return None
    found: dict[str, object] = {}
    waiting = [method]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        function = found[name] = _found(cls, name)[1]
        if function is None or _as_value(function) is not None:
            continue
        if not isinstance(function, FunctionType) or not function.__code__.co_filename.startswith(_LAYERS):
            return None
        waiting += function.__code__.co_names
    return list(found.values())


def _found(cls: type, name: str) -> tuple[type, object]:
    """The class that gives an attribute to instances, and the attribute; None if there is not one."""
    return next(((base, vars(base)[name]) for base in cls.__mro__ if name in vars(base)), (object, None))


def _is_of_torch() -> bool:
    """Whether nobody has put functions of their own into `torch.nn.init` or `torch.Tensor`."""
    return not any(_foreign()) and vars(torch.Tensor).keys().isdisjoint(_METHODS_OF_TENSORS)


def _foreign() -> Iterator[bool]:
    for function in vars(nn.init).values():
        if isinstance(function, FunctionType) and function is not trunc_normal_as_one_operation:
            yield function.__code__.co_filename != nn.init.__file__
