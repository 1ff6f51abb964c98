"""Fake tensors in place of the tensors of a module, so that its initialisation can be recorded and the module is not changed.

Each tensor gets a stand-in on the device where it is to be, of the same shape, strides and dtype; tensors that share memory get
stand-ins that share memory. A tensor that is real gets one that holds a copy: initialisation may read it, and what it
writes there is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from ..deferred.overloads import fake_like
from ..deferred.recording import Recorder
from .survey import HeldTensor, Home, Registry, attributes


@dataclass(frozen=True, slots=True)
class Assigned:
    """An attribute, parameter or buffer that the initialisation of a module made or replaced, with fake tensors in the value."""

    module: nn.Module
    registry: Registry
    name: str
    value: object


@dataclass(slots=True)
class StandIns:
    """The stand-ins of a module's tensors, while they are in their places."""

    held: Sequence[HeldTensor]
    of: dict[int, Tensor]
    """By the id of the tensor that each stands for."""
    shared: dict[int, Tensor]
    """Of tensors that share memory, a stand-in of one dimension for all of it, by the id of each tensor."""
    unparametrized: list[tuple[nn.Module, str, Tensor]] = field(default_factory=list)
    """The initial values of modules with parametrizations in place of the computed tensors: module, name, fake."""
    containers: dict[tuple[int, str], object] = field(default_factory=dict)
    """The replacements of attributes that hold tensors, by the id of their module and their name."""
    assigned: list[Assigned] = field(default_factory=list)
    """The other assignments of the initialisation, once the stand-ins are taken away."""

    def at(self, held: HeldTensor) -> Tensor:
        """The stand-in of a tensor."""
        return self.of[id(held.tensor)]

    def memory_of(self, held: HeldTensor) -> Tensor | None:
        """The stand-in for the memory that a tensor shares with others; None where it has its own."""
        base = self.shared.get(id(held.tensor))
        is_part = base is not None and base.untyped_storage()._cdata == self.at(held).untyped_storage()._cdata
        return base if is_part else None

    def put(self, home: Home, tensor: Tensor) -> None:
        """Let a place hold a tensor. Containers in attributes keep what they hold."""
        if home.registry is not Registry.ATTRIBUTE:
            vars(home.module)[home.registry.value][home.name] = tensor

    def replaced(self, held: HeldTensor, tensor: Tensor) -> None:
        """Let a tensor that an initialisation assigned stand for another, under all its names."""
        self.of[id(held.tensor)] = tensor
        for home in held.homes:
            self.put(home, tensor)


def made_for(held: Sequence[HeldTensor], device: torch.device, recorder: Recorder) -> StandIns:
    """New stand-ins: inputs of a recording, and what it makes of them where tensors share memory or have values."""
    count = Counter(storage_of(each.tensor) for each in held if each.tensor.is_meta)
    bases: dict[int, Tensor] = {}
    made: dict[int, Tensor] = {}
    shared: dict[int, Tensor] = {}
    for each in held:
        tensor, storage = each.tensor, storage_of(each.tensor)
        target = device if tensor.is_meta else tensor.device
        if count[storage] > 1:
            if storage not in bases:
                elements = tensor.untyped_storage().nbytes() // tensor.element_size()
                bases[storage] = _input(recorder, torch.empty(elements, dtype=tensor.dtype, device="meta"), target)
            shared[id(tensor)] = bases[storage]
            with recorder:
                fake = bases[storage].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        else:
            fake = _input(recorder, tensor, target)
        if not tensor.is_meta:
            with recorder, torch.no_grad():
                fake.copy_(tensor)
        made[id(tensor)] = _parameter(fake, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else fake
    return StandIns(held, made, shared)


def _input(recorder: Recorder, like: Tensor, device: torch.device) -> Tensor:
    made = fake_like(recorder.mode, like, device)
    recorder.add_input(made)
    return made


def _parameter(fake: Tensor, requires_grad: bool) -> Tensor:
    """Let a fake tensor be a parameter, as `nn.Parameter` does, which would make another tensor of it."""
    fake.requires_grad_(requires_grad)
    fake._is_param = True  # how torch marks parameters that are subclasses of Tensor
    return fake


@contextmanager
def in_place(root: nn.Module, stand_ins: StandIns) -> Iterator[None]:
    """Put stand-ins into all places in the block. Afterwards every module has the attributes that it had before.

    What the block assigned is then in `stand_ins.assigned`, without what stands for a registered tensor.
    """
    before = [
        (module, dict(vars(module)), {key: dict(vars(module)[key]) for key in ("_parameters", "_buffers")})
        for module in root.modules()
    ]
    try:
        for each in stand_ins.held:
            for home in each.homes:
                stand_ins.put(home, stand_ins.at(each))
        for module, _, _ in before:
            for name, value in attributes(module).items():
                if any(isinstance(leaf, Tensor) and id(leaf) in stand_ins.of for leaf in tree_leaves(value)):
                    mapped = tree_map_only(Tensor, lambda tensor: stand_ins.of.get(id(tensor), tensor), value)
                    vars(module)[name] = stand_ins.containers[id(module), name] = mapped
        yield
        for module, state, registries in before:
            stand_ins.assigned += _assigned(module, state, registries, stand_ins)
    finally:
        for module, state, registries in before:
            vars(module).clear()
            vars(module).update(state)
            for key, content in registries.items():
                state[key].clear()
                state[key].update(content)


def _assigned(
    module: nn.Module, state: Mapping[str, object], registries: Mapping[str, Mapping[str, object]], stand_ins: StandIns
) -> Iterator[Assigned]:
    """The assignments of a block to a module: attributes, and tensors in its registries."""
    for name, value in attributes(module).items():
        if name not in state or (
            value is not state[name] and value is not stand_ins.containers.get((id(module), name))
        ):
            yield Assigned(module, Registry.ATTRIBUTE, name, value)
    for registry in (Registry.PARAMETERS, Registry.BUFFERS):
        for name, value in vars(module)[registry.value].items():
            if value is not None and registries[registry.value].get(name) is None:
                yield Assigned(module, registry, name, value)


def storage_of(tensor: Tensor) -> int:
    """The memory of a tensor; that of a tensor subclass is its own affair, and shared with nobody."""
    if type(tensor) not in (Tensor, nn.Parameter) or tensor.layout is not torch.strided:
        return -id(tensor)
    return tensor.untyped_storage()._cdata  # type: ignore[no-any-return] # an address
