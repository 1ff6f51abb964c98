"""Running the initialisers of a module on real memory, a few modules at a time, and proving that they wrote all of it.

Modules are initialised by their `reset_parameters`, children before their parents, as their constructors do it. A layer of torch
may call it `_reset_parameters`. Each method runs with a random generator whose state depends on the seed and on the name of the
module alone, so the values do not depend on what runs before, nor on the number of processes.

A *unit* is what has to be in memory at once: one module, or a module that may write to the layers below it, together with these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

from ...runtime.module.module_base import ModuleBase
from ...runtime.module.stand_in import seeded
from ..fake.arguments import Args, Function, Options, Types
from ..fake.fake_tensor import attribute
from .survey import METHODS, HeldTensor, Home, Registry, Tree, attributes, class_name, method_of

_INTEGER_POISONS = (0xA5, 0x5A)


def poison(tensor: Tensor, attempt: int) -> Tensor:
    """Fill a tensor with what an initialiser is unlikely to write: nan, bytes that no truth value has, unlikely integers."""
    with torch.no_grad():
        if is_floating(tensor):
            return tensor.fill_(torch.nan)
        memory = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
        memory.fill_(2 if tensor.dtype is torch.bool else _INTEGER_POISONS[attempt])
    return tensor


def poisoned(tensor: Tensor, attempt: int) -> Tensor:
    """Where a tensor still has the poison, as truth values."""
    tensor = tensor.detach()
    if is_floating(tensor):
        return torch.isnan(tensor.float() if tensor.dtype.itemsize == 1 else tensor)
    if tensor.dtype is torch.bool:
        return tensor.view(torch.uint8) > 1
    byte = _INTEGER_POISONS[attempt]
    number = int.from_bytes([byte] * tensor.dtype.itemsize, "little", signed=tensor.dtype.is_signed)
    return tensor == number


class Watch(TorchFunctionMode):
    """What an initialiser must not do: draw from a generator of its own, or use the tensors of modules outside of its unit.

    New memory is poisoned, so that a copy of `torch.empty(3)` counts as nothing.
    """

    def __init__(self, guarded: Mapping[int, str], attempt: int) -> None:
        super().__init__()
        self.where = ""
        """The method that runs, for errors."""
        self._guarded, self._attempt = guarded, attempt

    def __torch_function__(self, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        kwargs = kwargs or {}
        generator = kwargs.get("generator")
        if isinstance(generator, torch.Generator) and generator is not torch.default_generator:
            raise ValueError(
                f"materialize(): {self.where} draws from a generator of its own; the numbers depend on the seed and the name of"
                " the module, so leave generator= out (or use qten_gen.deferred_init, which keeps generators)"
            )
        if self._guarded and func not in _HARMLESS:
            for value in tree_leaves((args, kwargs)):
                if isinstance(value, Tensor) and id(value) in self._guarded:
                    raise RuntimeError(
                        f"materialize(): {self.where} uses {self._guarded[id(value)]}, which another declared module owns; each"
                        " process may hold a part of it: say it there, by initializer= or in its reset_parameters"
                    )
        found = func(*args, **kwargs)
        if func in _EMPTY and isinstance(found, Tensor) and not found.is_meta:
            poison(found, self._attempt)
        return found


_EMPTY = {
    torch.empty,
    torch.empty_like,
    torch.empty_strided,
    torch.empty_permuted,
    Tensor.new_empty,
    Tensor.new_empty_strided,
}
_HARMLESS = {
    Tensor.size,
    Tensor.dim,
    Tensor.numel,
    Tensor.is_floating_point,
    Tensor.__len__,
    Tensor.__hash__,
    *map(attribute, ("shape", "dtype", "device", "ndim", "is_meta", "requires_grad", "layout")),
}
"""Functions that ask a tensor for what it is on meta too."""


def is_floating(tensor: Tensor) -> bool:
    """Return whether a tensor can hold nan."""
    return tensor.is_floating_point() or tensor.is_complex()


Unit: TypeAlias = tuple[nn.Module, ...]
"""Modules that are initialised together, each after its children."""


def units(root: nn.Module) -> Iterator[Unit]:
    """All modules of a tree in units, each after those below it."""
    seen: set[int] = set()

    def below(children: Iterable[nn.Module]) -> Iterator[nn.Module]:
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                yield from below(foreign_children(child))
                yield child

    def walk(module: nn.Module) -> Iterator[Unit]:
        seen.add(id(module))
        # Fields that repeat are a part of the module's own tensors.
        repeated = [each for each in module.children() if isinstance(each, nn.ParameterList | nn.ParameterDict)]
        inside = list(below(foreign_children(module) if writes_below(module) else repeated))
        for parent in (*inside, module):
            for child in parent.children():
                if id(child) not in seen:
                    yield from walk(child)
        yield (*inside, module)

    return walk(root)


def foreign_children(module: nn.Module) -> list[nn.Module]:
    """The children of a module that are not declared, and containers."""
    return [child for child in module.children() if not isinstance(child, ModuleBase)]


def writes_below(module: nn.Module) -> bool:
    """Return whether a method of a module may write to layers below it; a generated one writes to the module's own fields."""
    if method_of(module) is None or not any(True for _ in module.children()):
        return False
    written = [cls for cls in type(module).__mro__ if not set(METHODS).isdisjoint(vars(cls))]
    return any("_fingerprint" not in vars(cls) for cls in written)


@dataclass(slots=True)
class Initialised:
    """The results of a unit, on the CPU."""

    values: dict[HeldTensor, Tensor] = field(default_factory=dict)
    """The value of each tensor that is on meta."""
    gaps: dict[HeldTensor, Tensor] = field(default_factory=dict)
    """Which elements nothing wrote, of each tensor that has some."""
    attributes: list[tuple[nn.Module, str, object]] = field(default_factory=list)
    """The attributes without tensors that an initialiser made or replaced."""


def initialised(tree: Tree, unit: Unit, seed: int, names: Mapping[int, str], without: Container[int]) -> Initialised:
    """Run the methods of a unit. Afterwards its modules are as they were.

    Args:
        tree: The module that the unit is a part of.
        unit: Its modules.
        seed: What random numbers depend on.
        names: The name of each module that they depend on too, by its id.
        without: The ids of modules that are not initialised by their methods.
    """
    found = _attempt(tree, unit, seed, names, without, 0)
    doubtful = [key for key in found.gaps if not is_floating(found.values[key])]
    if doubtful:
        # An integer that was written may be the poison by chance: then it is no poison in a second run.
        first, found = found, _attempt(tree, unit, seed, names, without, 1)
        for key in doubtful:
            found.gaps[key] = first.gaps[key] & found.gaps.get(key, torch.zeros((), dtype=torch.bool))
    found.gaps = {key: gap for key, gap in found.gaps.items() if bool(gap.any())}
    return found


def _attempt(
    tree: Tree, unit: Unit, seed: int, names: Mapping[int, str], without: Container[int], attempt: int
) -> Initialised:
    """Run the methods of a unit on memory with one poison or the other; `attempt` says which."""
    found = Initialised()
    stand_ins = _stand_ins(tree, unit, attempt)
    watch = Watch(_guarded(tree, unit), attempt)
    with _in_place(unit, stand_ins) as before, torch.device("cpu"), torch.inference_mode(False), watch:
        for module in unit:
            method, path = method_of(module), tree.paths[id(module)]
            if method is None or id(module) in without:
                continue
            watch.where = f"{class_name(module)}.{method}()" + (f" of {path}" if path else "")
            lost = _put_others(tree, module, attempt)
            with seeded(seed, names[id(module)]):
                try:
                    getattr(module, method)()
                except Exception as error:
                    error.add_note(f"in {watch.where}, which materialize() runs")
                    raise
            for home, tensor in lost:
                home.holder[home.name] = tensor
            for changed in unit if writes_below(module) else (module,):
                _follow(tree, changed, stand_ins)
        found.attributes = list(_assigned(before, set(map(id, stand_ins.values()))))
    for held, value in stand_ins.items():
        if held.tensor.is_meta:
            found.values[held] = value
            gap = poisoned(value, attempt)
            if bool(gap.any()):
                found.gaps[held] = gap
    return found


def _stand_ins(tree: Tree, unit: Unit, attempt: int) -> dict[HeldTensor, Tensor]:
    """Poisoned whole tensors on the CPU for a unit's own tensors on meta, and copies of its real ones."""
    modules = set(map(id, unit))
    made: dict[HeldTensor, Tensor] = {}
    for module in unit:
        for _, held in tree.of(module):
            tensor = held.tensor
            if not tensor.is_meta:
                made.setdefault(held, _like(tensor.detach().clone(), tensor))
            elif held not in made and id(held.origin.module) in modules:
                whole = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
                made[held] = _like(poison(whole, attempt), tensor)
    return made


def _like(value: Tensor, tensor: Tensor) -> Tensor:
    return nn.Parameter(value, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else value


def _guarded(tree: Tree, unit: Unit) -> dict[int, str]:
    """The names of tensors below a unit that are not its own, where a method may write to what is below it."""
    if not writes_below(unit[-1]):
        return {}
    own = set(map(id, unit))
    below = [module for module in unit[-1].modules() if id(module) not in own]
    held = [held for module in below for _, held in tree.of(module)]
    return {id(each.tensor): each.homes[0].qualified for each in held if id(each.origin.module) not in own}


def _put_others(tree: Tree, module: nn.Module, attempt: int) -> list[tuple[Home, object]]:
    """Put other tensors in the place of tensors that another module initialises, as before they were tied."""
    before = []
    for home, held in tree.of(module):
        is_made_here = held.origin.module is module or home.is_declared_tie or home.registry is Registry.ATTRIBUTE
        if held.tensor.is_meta and not is_made_here:
            before.append((home, home.holder[home.name]))
            other = poison(torch.empty(held.tensor.shape, dtype=held.tensor.dtype), attempt)
            home.holder[home.name] = _like(other, held.tensor)
    return before


def _follow(tree: Tree, module: nn.Module, stand_ins: dict[HeldTensor, Tensor]) -> None:
    """If a method replaced tensors, use the new ones under every name."""
    for home, held in tree.of(module):
        if home is not held.origin or home.is_in_container or held not in stand_ins:
            continue
        new = home.holder.get(home.name)
        if isinstance(new, Tensor) and new is not stand_ins[held]:
            for other in held.homes:
                if not other.is_in_container and other.holder.get(other.name) is stand_ins[held]:
                    other.holder[other.name] = new
            stand_ins[held] = new


@dataclass(frozen=True, slots=True)
class _Before:
    """The attributes of a module before its initialisation."""

    module: nn.Module
    state: Mapping[str, object]
    registries: Mapping[Registry, Mapping[str, object]]
    containers: dict[str, object] = field(default_factory=dict)
    """The replacements of attributes that hold stand-ins now."""

    def put_back(self) -> None:
        vars(self.module).clear()
        vars(self.module).update(self.state)
        for registry, content in self.registries.items():
            held = vars(self.module)[registry.value]
            held.clear()
            held.update(content)


@contextmanager
def _in_place(unit: Unit, stand_ins: Mapping[HeldTensor, Tensor]) -> Iterator[list[_Before]]:
    """Put stand-ins into all places of a unit in the block. Afterwards every module has the attributes that it had before."""
    others = {id(held.tensor): stand_in for held, stand_in in stand_ins.items()}
    registries = (Registry.PARAMETERS, Registry.BUFFERS)
    before = [
        _Before(module, dict(vars(module)), {registry: dict(vars(module)[registry.value]) for registry in registries})
        for module in unit
    ]
    try:
        for each in before:
            for registry, content in each.registries.items():
                vars(each.module)[registry.value].update(
                    {name: others[id(tensor)] for name, tensor in content.items() if id(tensor) in others}
                )
            for name, value in attributes(each.module).items():
                if any(isinstance(leaf, Tensor) and id(leaf) in others for leaf in tree_leaves(value)):
                    vars(each.module)[name] = each.containers[name] = tree_map_only(
                        Tensor, lambda tensor: others.get(id(tensor), tensor), value
                    )
        yield before
    finally:
        for each in before:
            each.put_back()


def _assigned(before: Sequence[_Before], known: Container[int]) -> Iterator[tuple[nn.Module, str, object]]:
    """The attributes that an initialisation assigned, beside tensors that the module had: `known` has the ids of these.

    Raises:
        RuntimeError: one is a tensor or holds some, so what it would be on another device or in a part is not known.
    """
    for each in before:
        own = f"{class_name(each.module)}.{method_of(each.module)}"
        for name, value in attributes(each.module).items():
            is_new = name not in each.state or value is not each.state[name]
            if not is_new or value is each.containers.get(name) or id(value) in known:
                continue
            if any(isinstance(leaf, Tensor) for leaf in tree_leaves(value)):
                raise RuntimeError(
                    f"materialize(): {own} assigns {name}, which holds tensors; register each as a buffer"
                )
            yield each.module, name, value
        for registry, content in each.registries.items():
            for name, value in vars(each.module)[registry.value].items():
                if value is not None and content.get(name) is None:
                    raise RuntimeError(f"materialize(): {own} registers {name}; let the constructor do it")
