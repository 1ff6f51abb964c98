"""`module.materialize`: give the tensors of a module on meta their values, in place.

Modules are initialised whole and one after the other, on the CPU, so that the values are the same in every process and on every
device; of each tensor the process keeps its part. A tensor stays the object that it is, and gets the content of the new one. So
every reference to it holds: ties, optimizers that were made before, lists of parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn
from torch._guards import active_fake_mode
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.types import Device as DeviceLike
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves, tree_map_only

from ...runtime.declaring.fields import Buffer, Parameter
from ...runtime.module.module_base import ModuleBase
from ...runtime.module.ties_and_dtypes import kept_tensors
from ..deferred.deferred_init import value_of
from ..sharding.agreement import agreed_seed, check_agreement, values_of_tensors
from ..sharding.placements import is_distributed, write_part
from .checkpoint_sources import Sources, StateDict, sources
from .constructing import constructed
from .initialising import Initialised, initialised, units, writes_below
from .report import MaterializedTensor, MaterializeReport, Source
from .surroundings import is_floating, poisoned
from .survey import HeldTensor, Home, Registry, Tree, class_name, method_of, storage_of, survey, without_wrappers

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from ..sharding.placements import Placements

M = TypeVar("M", bound=nn.Module)

_SHOWN = 10
_INSTEAD = "give its values in state_dict=, or build the module with qten_gen.deferred_init"
_KINDS = {Registry.PARAMETERS: "parameter", Registry.BUFFERS: "buffer", Registry.ATTRIBUTE: "plain attribute"}


def materialize(
    module: M,
    device: DeviceLike,
    *,
    seed: int | None = None,
    dtype: torch.dtype | None = None,
    mesh: DeviceMesh | None = None,
    placements: Placements | None = None,
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
    wanted = sources(tree, mesh, placements, state_dict, prefix)
    if wanted.meshes:
        check_agreement([f"dtype=: {dtype}", *wanted.described(tree)], wanted.meshes)
    work = None
    if any(held.tensor.is_meta for held in tree.held):
        _check_kinds(tree)
        seed = agreed_seed(_drawn() if seed is None else seed, wanted.meshes, drawn=seed is None)
        work = _Work(tree, target, dtype, wanted, seed, prefix)
        work.check()
        work.do()
        if wanted.meshes and wanted.matches:
            loaded = [(held.origin.qualified, tensor) for held, tensor in work.made.items() if held in wanted.matches]
            check_agreement(values_of_tensors(loaded), wanted.meshes)
    for each, extra in wanted.extra:
        each.set_extra_state(extra)
    if report is not None:
        report(work.report() if work else MaterializeReport(()))
    return module


class _Work:
    """Gives the tensors of a tree their values, one unit after the other."""

    def __init__(
        self, tree: Tree, device: torch.device, dtype: torch.dtype | None, wanted: Sources, seed: int, prefix: str
    ) -> None:
        self.tree, self.device, self.dtype, self.wanted, self.seed = tree, device, dtype, wanted, seed
        self.made: dict[HeldTensor, Tensor] = {}
        """What each tensor that was on meta is now."""
        self._bytes_read = 0
        self._on_meta = [held for held in tree.held if held.tensor.is_meta]
        self._missing = {held for held in self._on_meta if held not in wanted.matches}
        self._names = {key: (prefix + without_wrappers(path)).removesuffix(".") for key, path in tree.paths.items()}
        self._constructed = constructed(tree, seed, self._names, self._missing)
        self._ids = {id(held.tensor) for held in tree.held}
        self._kept = {id(tensor) for each in tree.root.modules() for _, tensor in kept_tensors(each)}

    def check(self) -> None:
        """Refuse what can be seen not to work before anything changes.

        Raises:
            RuntimeError: nothing initialises a tensor, or its library does it in a way of its own.
        """
        run = {id(module) for unit in units(self.tree.root) if any(map(method_of, unit)) for module in unit}
        problems: list[str] = []
        for held in self._on_meta:
            module = held.origin.module
            why = self._constructed.problems.get(id(module))
            if held not in self._missing or held in self._constructed.values:
                continue
            if id(module) in self._constructed.refused:
                if not any(str(why) in problem for problem in problems):
                    problems.append(f"{_named(held.origin)} has unknown initial values: {why}; {_INSTEAD}")
            elif id(module) not in run and held.tensor.numel():
                problems.append(self._problem(held, None))
        _raise(problems)
        for held in filter(self._is_initialised_by_methods, self._on_meta):
            makers = {id(home.module) for home in held.homes if not home.is_declared_tie and method_of(home.module)}
            if len(makers) > 1 and not held.origin.is_birthplace_of(held.tensor):
                names = " and ".join(home.qualified for home in held.homes)
                taken = f"it is initialised as {held.origin.qualified}; only on_meta() notes which of them made it"
                warnings.warn(f"materialize(): {names} are one tensor, and {taken}", stacklevel=5)
        for why in dict.fromkeys(self._constructed.lost):
            lost = "what the author's code in it writes on meta is lost, unless reset_parameters writes it too"
            warnings.warn(f"materialize(): {why}; {lost}", stacklevel=5)

    def do(self) -> None:
        """Make every tensor and place it.

        Raises:
            RuntimeError: a unit does not write all of its tensors. Those before it have their values then, which another call
                with the seed would give them too; the others are still on meta.
        """
        for held, fake in self._constructed.values.items():
            self._place({held: _as(held.tensor, value_of(fake))})
        for unit in units(self.tree.root):
            # A method may also change what is below its module, which has no tensors itself.
            modules = unit[-1].modules() if writes_below(unit[-1]) else unit
            if any(self._is_initialised_by_methods(held) for module in modules for _, held in self.tree.of(module)):
                self._initialise(initialised(self.tree, unit, self.seed, self._names, self._constructed.modules))
        for held in self._on_meta:
            if held in self.wanted.matches:
                value = self.wanted.allocated(held, held.tensor, self.device, self._dtype_of(held))
                self._bytes_read += self.wanted.load(held, value)
                self._put(held, value)
        for module in self.tree.root.modules():
            if type(module)._apply is not nn.Module._apply:
                # Cached virtual tensors, the lists of an LSTM and FSDP notice here that tensors have changed.
                module._apply(lambda tensor: tensor, recurse=False)  # type: ignore[no-untyped-call] # torch gives it no types

    def _is_initialised_by_methods(self, held: HeldTensor) -> bool:
        return held in self._missing and held not in self._constructed.values

    def _initialise(self, found: Initialised) -> None:
        """Give a unit what its methods made."""
        assigned = {(id(each.module), each.name) for each in found.assigned if each.registry is Registry.ATTRIBUTE}
        values = {
            held: value
            for held, value in found.values.items()
            if self._is_initialised_by_methods(held)
            and (held.is_registered or any((id(home.module), home.name) not in assigned for home in held.homes))
        }
        _raise(self._problem(held, found.gaps[held]) for held in values if held in found.gaps)
        for each in found.assigned:
            beside = [
                leaf for leaf in tree_leaves(each.value) if isinstance(leaf, Tensor) and id(leaf) not in self._ids
            ]
            if any(is_floating(leaf) and bool(poisoned(leaf, 0).any()) for leaf in beside):
                raise RuntimeError(
                    f"materialize(): {class_name(each.module)}.{method_of(each.module)} assigns {each.name} with nan, or with"
                    " memory that nothing has written; fill it"
                )
        found.values.clear()
        self._place(values)
        for each in found.assigned:
            value = tree_map_only(Tensor, partial(self._beside, each.registry), each.value)
            if each.registry is Registry.PARAMETERS:
                value = nn.Parameter(value, isinstance(each.value, Tensor) and each.value.requires_grad)
            Home(each.module, each.registry, each.name, "").holder[each.name] = value

    def _beside(self, registry: Registry, tensor: Tensor) -> Tensor:
        """A tensor that an initialiser assigned beside those of the module, on the device. Plain attributes keep their dtype."""
        if tensor.is_meta or id(tensor) in self._ids:
            return tensor
        dtype = self.dtype if registry is not Registry.ATTRIBUTE and tensor.is_floating_point() else None
        return tensor.detach().to(self.device, dtype)

    def _place(self, values: dict[HeldTensor, Tensor]) -> None:
        """Give tensors whole values from the CPU."""
        for held in list(values):
            value = values.pop(held).detach()
            dtype = self._dtype_of(held) or value.dtype
            if is_distributed(held.tensor) or self.wanted.placed.get(held) is not None:
                new = self.wanted.allocated(held, value, self.device, dtype)
                write_part(new, value)
            elif (self.device.type, dtype) == ("cpu", value.dtype):
                new = value
            else:
                new = torch.empty_strided(value.size(), value.stride(), dtype=dtype, device=self.device).copy_(value)
            self._put(held, new)

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
            self._ids.add(id(new))
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
        module, cls, method = home.module, class_name(home.module), method_of(home.module)
        why = self._constructed.problems.get(id(module))
        if home.is_declared_tie and isinstance(module, ModuleBase):
            other = module._tied[home.name]
            return (
                f"{_named(home)} is not initialised: the declaration ties it to {other}, but somebody assigned another"
                f" tensor to one of the two; assign the tensor of {other} to self.{home.name} too, or give the values of both"
                " in state_dict="
            )
        if gap is not None and not bool(gap.all()):
            by = f"let {cls}.{method} fill" if method else f"give {cls} a reset_parameters that fills"
            at = gap.nonzero()[0].tolist()
            problem = (
                f"is initialised in part: nothing fills the element {at}, or by memory that nothing has written;"
                f" {by} all of self.{home.name}"
            )
        elif method is None:
            problem = (
                f"is initialised by nothing: {cls} has no reset_parameters; give it one that fills self.{home.name}"
            )
        else:
            problem = (
                f"is not initialised: {cls}.{method} does not write to it, or copies memory that nothing has written;"
                f" let it fill self.{home.name}"
            )
        if isinstance(module, ModuleBase) and hasattr(module, "__post_init__"):
            problem += " (what __post_init__ writes on meta is lost)"
        return f"{_named(home)} {problem}, or {_INSTEAD}" + (f" ({why})" if why else "")

    def report(self) -> MaterializeReport:
        """The source of each tensor's values."""
        entries = [entry for held in self._on_meta if held in self.made for entry in self._entries(held)]
        is_drawn = any(entry.source == "initialiser" for entry in entries)
        return MaterializeReport(tuple(entries), self.seed if is_drawn else None, self._bytes_read)

    def _entries(self, held: HeldTensor) -> Iterator[MaterializedTensor]:
        """The lines of the report about a tensor: one for its first name, and one for each name that is tied to it."""
        value = self.made[held]
        # A name that the declaration ties to another comes after that one.
        homes = sorted(held.homes, key=lambda home: (home.is_declared_tie, home is not held.origin))
        name, *others = dict.fromkeys(home.qualified for home in homes)
        match = self.wanted.matches.get(held)
        if match is not None:
            detail = match.stored.origin if match.name == name else f"{match.stored.origin}: {match.name}"
        elif held in self._constructed.by:
            detail = self._constructed.by[held]
        else:
            module = held.origin.module
            detail = f"{class_name(module)}.{method_of(module)}" if method_of(module) else "a module above it"
        local = tuple((value.to_local() if is_distributed(value) else value).shape)
        source: Source = "checkpoint" if match else "initialiser"
        yield MaterializedTensor(name, tuple(value.shape), local, value.dtype, source, detail)
        for other in others:
            yield MaterializedTensor(other, tuple(value.shape), local, value.dtype, "tie", name)


def _as(tensor: Tensor, value: Tensor) -> Tensor:
    """A value with the dtype and the strides of a tensor."""
    if (value.dtype, value.stride()) == (tensor.dtype, tensor.stride()):
        return value
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    return made.copy_(value.detach())


def _named(home: Home) -> str:
    return f"{home.qualified}, a {_KINDS[home.registry]} of {class_name(home.module)},"


def _raise(problems: Iterable[str]) -> None:
    found = list(problems)
    if found:
        more = [f"and {len(found) - _SHOWN} others"] if len(found) > _SHOWN else []
        raise RuntimeError("materialize(): " + "\n  ".join([*found[:_SHOWN], *more]))


def _drawn() -> int:
    """A seed from torch's default generator, which `torch.manual_seed` sets."""
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_())


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
        if is_lazy(tensor):
            raise ValueError(
                f"materialize(): {home.qualified} has no shape, because {class_name(home.module)} is lazy;"
                " give its sizes in the declaration"
            )
        if tensor.layout is not torch.strided:
            raise TypeError(
                f"materialize(): {home.qualified} is {tensor.layout}; only strided tensors can be materialised"
            )
        if is_traceable_wrapper_subclass(tensor) and not is_distributed(tensor):
            raise TypeError(
                f"materialize(): {home.qualified} is a {type(tensor).__name__};"
                " only plain tensors and DTensors can be materialised"
            )
        other = memories.setdefault(storage_of(tensor), home.qualified)
        if other != home.qualified:
            raise ValueError(
                f"materialize(): {home.qualified} shares memory with {other}; let it be a copy, or give both names to one tensor"
            )


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
