"""`module.materialize`: give the tensors of a module on meta their values, in place.

Modules are initialised whole and one after the other, on the CPU, so that the values are the same in every process and on every
device; of each tensor the process keeps its part. A tensor stays the object that it is, and gets the content of the new one. So
every reference to it holds: ties, optimizers that were made before, lists of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch._guards import active_fake_mode
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.types import Device as DeviceLike
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ...runtime.declaring.fields import Buffer, Parameter
from ...runtime.module.kept_dtypes import kept_tensors
from ...runtime.module.module_base import ModuleBase
from ...runtime.module.unsaved_buffers import unwatch
from ..deferred.deferred_init import value_of
from .checkpoints import Matched, StateDict, beginning, load, matched
from .constructing import INSTEAD, constructed
from .initialising import Initialised, initialised, units, writes_below
from .placements import check_agreement, description, is_distributed, meshes_of, write_part
from .survey import HeldTensor, Registry, Tree, class_name, method_of, survey, without_wrappers


@dataclass(frozen=True, slots=True)
class MaterializeReport:
    """The report of `materialize`: the source of each tensor's values. Its text has a line for each.

    `module.materialize(device, report=function)` calls the function with it.

    >>> reports: list[MaterializeReport] = []
    >>> linear = Linear.on_meta(2, 3).materialize("cpu", seed=7, report=reports.append)
    >>> print(reports[0])
    1 tensor with seed 7
    weight: Linear.reset_parameters
    >>> reports[0].sources
    {'weight': 'Linear.reset_parameters'}
    """

    sources: Mapping[str, str]
    """By the name of each tensor that was on meta: `checkpoint`, the method that initialised it, or `tied to embed.weight`."""
    seed: int | None = None
    """The seed of what was initialised; None if nothing was drawn."""

    def __str__(self) -> str:
        tensors = "1 tensor" if len(self.sources) == 1 else f"{len(self.sources)} tensors"
        seed = f" with seed {self.seed}" if self.seed is not None else ""
        return "\n".join([f"{tensors}{seed}", *(f"{name}: {source}" for name, source in self.sources.items())])


M = TypeVar("M", bound=nn.Module)

_SHOWN = 10
_KINDS = {Registry.PARAMETERS: "parameter", Registry.BUFFERS: "buffer", Registry.ATTRIBUTE: "plain attribute"}


def materialize(
    module: M,
    device: DeviceLike,
    *,
    seed: int | None = None,
    dtype: torch.dtype | None = None,
    state_dict: StateDict | None = None,
    report: Callable[[MaterializeReport], object] | None = None,
    prefix: str = "",
) -> M:
    """The work of `DeclaredModule.materialize`."""
    target = usable(device)
    _check_arguments(seed, dtype)
    prefix = f"{prefix}." if prefix else ""
    tree = survey(module)
    _check_not_fake(tree)
    loaded = Matched({}, {}) if state_dict is None else matched(tree, state_dict, prefix)
    is_on_meta = any(held.tensor.is_meta for held in tree.held)
    draws = seed is None and is_on_meta
    drawn = int(torch.empty((), dtype=torch.int64, device="cpu").random_()) if draws else 0
    if meshes := meshes_of(held.tensor for held in tree.held):
        tensors = {held.homes[0].qualified: held.tensor for held in tree.held}
        values = [f"{held.homes[0].qualified}: {beginning(value)}" for held, value in loaded.tensors.items()]
        drawn = check_agreement([f"{seed}, {dtype}", *description(tensors), *values], meshes, drawn)
    made = MaterializeReport({})
    if is_on_meta:
        _check_kinds(tree)
        work = _Work(tree, target, dtype, loaded, drawn if seed is None else seed, prefix)
        work.check()
        work.do()
        made = work.report()
    if report is not None:
        report(made)
    return module


class _Work:
    """Gives the tensors of a tree their values, one unit after the other."""

    def __init__(
        self, tree: Tree, device: torch.device, dtype: torch.dtype | None, loaded: Matched, seed: int, prefix: str
    ) -> None:
        self.tree, self.device, self.dtype, self.seed = tree, device, dtype, seed
        self.loaded, self._extra_states = loaded
        self.made: dict[HeldTensor, Tensor] = {}
        """What each tensor that was on meta is now."""
        self._on_meta = [held for held in tree.held if held.tensor.is_meta]
        self._missing = {held for held in self._on_meta if held not in self.loaded}
        self._names = {key: (prefix + without_wrappers(path)).removesuffix(".") for key, path in tree.paths.items()}
        self._constructed = constructed(tree, seed, self._names, self._missing)
        self._kept = {id(tensor) for each in tree.root.modules() for _, tensor in kept_tensors(each)}

    def check(self) -> None:
        """Refuse what can be seen not to work before anything changes.

        Raises:
            RuntimeError: nothing initialises a tensor.
        """
        run = {id(module) for unit in units(self.tree.root) if any(map(method_of, unit)) for module in unit}
        by_methods = [held for held in self._on_meta if self._is_initialised_by_methods(held)]
        _raise(
            self._problem(held, None)
            for held in by_methods
            if id(held.origin.module) not in run and held.tensor.numel()
        )
        for held in by_methods:
            makers = {id(home.module) for home in held.homes if not home.is_declared_tie and method_of(home.module)}
            if len(makers) > 1 and not held.origin.is_birthplace_of(held.tensor):
                names = " and ".join(home.qualified for home in held.homes)
                raise RuntimeError(
                    f"materialize(): {names} are one tensor, and only on_meta() notes which of them made it; {INSTEAD}"
                )

    def do(self) -> None:
        """Make every tensor and place it.

        Raises:
            RuntimeError: a unit does not write all of its tensors. Those before it have their values then, which another call
                with the seed would give them too; the others are still on meta.
        """
        for module in self.tree.root.modules():
            unwatch(module)
        for held, fake in self._constructed.values.items():
            self._place({held: _as(held.tensor, value_of(fake))})
        for unit in units(self.tree.root):
            # A method may also change what is below its module, which has no tensors itself.
            modules = unit[-1].modules() if writes_below(unit[-1]) else unit
            if any(self._is_initialised_by_methods(held) for module in modules for _, held in self.tree.of(module)):
                self._initialise(initialised(self.tree, unit, self.seed, self._names, self._constructed.modules))
        for held in self._on_meta:
            if held in self.loaded:
                value = self._allocated(held, held.tensor, self._dtype_of(held))
                load(self.loaded[held], value)
                self._put(held, value)
        for module in self.tree.root.modules():
            if type(module)._apply is not nn.Module._apply:
                # Cached virtual tensors, the lists of an LSTM and FSDP notice here that tensors have changed.
                module._apply(lambda tensor: tensor, recurse=False)  # type: ignore[no-untyped-call] # torch gives it no types
        for module, state in self._extra_states.items():
            if all(held in self.made for _, held in self.tree.of(module)):  # others keep all that they have
                module.set_extra_state(state)

    def _is_initialised_by_methods(self, held: HeldTensor) -> bool:
        return held in self._missing and held not in self._constructed.values

    def _initialise(self, found: Initialised) -> None:
        """Give a unit what its methods made."""
        assigned = {(id(module), name) for module, name, _ in found.attributes}
        values = {
            held: value
            for held, value in found.values.items()
            if self._is_initialised_by_methods(held)
            and (held.is_registered or any((id(home.module), home.name) not in assigned for home in held.homes))
        }
        _raise(self._problem(held, found.gaps[held]) for held in values if held in found.gaps)
        found.values.clear()
        self._place(values)
        for module, name, value in found.attributes:
            vars(module)[name] = value

    def _place(self, values: dict[HeldTensor, Tensor]) -> None:
        """Give tensors whole values from the CPU."""
        for held in list(values):
            value = values.pop(held).detach()
            dtype = self._dtype_of(held) or value.dtype
            new = value
            if is_distributed(held.tensor) or (self.device.type, dtype) != ("cpu", value.dtype):
                new = self._allocated(held, value, dtype)
                write_part(new, value)
            self._put(held, new)

    def _allocated(self, held: HeldTensor, like: Tensor, dtype: torch.dtype | None) -> Tensor:
        """Memory for the values of a tensor, or for the part of them that this process holds, of another dtype if one is given.

        `like` has the shape, the strides and the dtype that it is to have. It is on the device also where a mesh has another.
        """
        with torch.no_grad():
            if type(held.tensor) in (Tensor, nn.Parameter):
                return torch.empty_strided(like.shape, like.stride(), dtype=dtype or like.dtype, device=self.device)
            return torch.empty_like(held.tensor, device=self.device, dtype=dtype or like.dtype, requires_grad=False)

    def _put(self, held: HeldTensor, value: Tensor) -> None:
        """Let a tensor have a value, of any shape, dtype, device and layout.

        Where torch cannot exchange the content, because something refers to the tensor weakly or a graph holds it, the new
        tensor takes its place under all its names, as after `to_empty`.
        """
        old, new = held.tensor, value
        if isinstance(old, nn.Parameter) and type(old) is not nn.Parameter and type(value) is Tensor:
            new = Tensor._make_subclass(type(old), value, old.requires_grad)
        elif isinstance(old, nn.Parameter):
            new = nn.Parameter(value, old.requires_grad)
        elif old.requires_grad:
            new = value.requires_grad_()
        vars(new).update(vars(old))
        try:
            torch.utils.swap_tensors(old, new)  # type: ignore[no-untyped-call] # torch gives it no types
            new = old
        except RuntimeError:
            for home in held.homes:
                if home.holder.get(home.name) is old:
                    home.holder[home.name] = new
            held.tensor = new
        self.made[held] = new

    def _dtype_of(self, held: HeldTensor) -> torch.dtype | None:
        """The dtype that a tensor is rounded to; None where it keeps the one that it has."""
        if not held.tensor.is_floating_point() or id(held.tensor) in self._kept:
            return None
        for home in held.homes:
            specifier = home.module._specifiers.get(home.name) if isinstance(home.module, ModuleBase) else None
            if isinstance(specifier, Parameter | Buffer) and specifier.dtype is not None:
                return None
        return self.dtype

    def _problem(self, held: HeldTensor, gap: Tensor | None) -> str:
        """The message about a tensor that nothing initialises, or that has a gap, and how to mend it."""
        home = held.origin
        cls, method = class_name(home.module), method_of(home.module)
        by = f"let {cls}.{method} fill" if method else f"give {cls} a reset_parameters that fills"
        problem = f"is not initialised: {cls}.{method} does not write to it, or copies memory that nothing has written"
        if method is None:
            problem = f"is initialised by nothing: {cls} has no reset_parameters"
        if gap is not None and not bool(gap.all()):
            at = gap.nonzero()[0].tolist()
            problem = f"is initialised in part: nothing fills the element {at}, or by memory that nothing has written"
        problem += f"; {by} all of self.{home.name}"
        return f"{home.qualified}, a {_KINDS[home.registry]} of {cls}, {problem}, or {INSTEAD}"

    def report(self) -> MaterializeReport:
        """The source of each tensor's values."""
        sources: dict[str, str] = {}
        for held in (held for held in self._on_meta if held in self.made):
            # A name that the declaration ties to another comes after that one.
            homes = sorted(held.homes, key=lambda home: (home.is_declared_tie, home is not held.origin))
            first, *others = dict.fromkeys(home.qualified for home in homes)
            module = held.origin.module
            by = f"{class_name(module)}.{method_of(module)}" if method_of(module) else "a module above it"
            sources[first] = "checkpoint" if held in self.loaded else self._constructed.by.get(held, by)
            sources |= dict.fromkeys(others, f"tied to {first}")
        return MaterializeReport(sources, self.seed if self._missing else None)


def _as(tensor: Tensor, value: Tensor) -> Tensor:
    """A value with the dtype and the strides of a tensor."""
    if (value.dtype, value.stride()) == (tensor.dtype, tensor.stride()):
        return value
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    return made.copy_(value.detach())


def _raise(problems: Iterable[str]) -> None:
    if found := list(problems):
        raise RuntimeError("materialize(): " + "\n  ".join([*found[:_SHOWN], *(["..."] if found[_SHOWN:] else [])]))


def _check_arguments(seed: int | None, dtype: torch.dtype | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise TypeError(f"materialize(): seed must be an integer, got {seed!r}")
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"materialize(): dtype must be a floating point dtype, got {dtype!r}")


def _check_not_fake(tree: Tree) -> None:
    """Refuse fake tensors, and to run where all tensors are fake: nothing would get a value."""
    if active_fake_mode() is not None:
        raise RuntimeError("materialize(): tensors have no values in fake_mode; leave the context first")
    fake = [held.homes[0].qualified for held in tree.held if isinstance(held.tensor, FakeTensor)]
    if fake:
        raise RuntimeError(
            f"materialize(): {fake[0]} is a fake tensor, not one on meta; if deferred_init made it, call"
            " qten_gen.materialize_module(module); what was made in fake_mode stays fake"
        )


def _check_kinds(tree: Tree) -> None:
    """Refuse tensors on meta of which there is no telling what the real ones would be."""
    memories: dict[int, str] = {}
    for held in tree.held:
        home, tensor = held.homes[0], held.tensor
        if not tensor.is_meta:
            continue
        is_plain = tensor.layout is torch.strided and not is_traceable_wrapper_subclass(tensor)
        memory = tensor.untyped_storage()._cdata if type(tensor) in (Tensor, nn.Parameter) and is_plain else -id(tensor)
        if is_lazy(tensor):
            problem = f"has no shape, because {class_name(home.module)} is lazy; give its sizes in the declaration"
        elif not is_plain and not is_distributed(tensor):
            problem = (
                f"is a {tensor.layout} {type(tensor).__name__}; only dense tensors and DTensors can be materialised"
            )
        elif (other := memories.setdefault(memory, home.qualified)) != home.qualified:
            problem = f"shares memory with {other}; let it be a copy, or give both names to one tensor"
        else:
            continue
        raise ValueError(f"materialize(): {home.qualified} {problem}")


def usable(device: DeviceLike) -> torch.device:
    """The device with its index, on this machine.

    Raises:
        ValueError: it is meta, where tensors have no values.
        RuntimeError: this machine does not have it, or this torch is built without it.
    """
    found = torch.get_default_device() if device is None else torch.device(device)
    if found.type == "meta":
        raise ValueError("materialize(): tensors on meta have no values; give the device that they are to be on")
    try:
        return torch.empty(0, device=found).device
    except (RuntimeError, AssertionError) as error:
        raise RuntimeError(f"materialize(): there is no {found} device here: {error}") from error
