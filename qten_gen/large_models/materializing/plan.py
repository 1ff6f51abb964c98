"""The plan of a materialisation: what each tensor of a module is computed by, found out before anything is changed.

Its record is taken apart into parts that share no memory, so that a tensor is looked for among the operations that may make it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import get_ident
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import keystr, tree_flatten_with_path

from ..deferred.python_functions import PythonFunctions
from ..deferred.recording import Recorder
from ..deferred.replay import joined
from ..deferred.tape import Operation, Tape
from ..fake.mode import FakeMode
from .evaluation import draw_keys
from .initialisation import class_name, description, initialise, method_of, program_of
from .initialisers import recorded_whole
from .keyed_draws import Key
from .matching import without_wrappers
from .recorded_constructors import Constructed, constructed
from .stand_ins import Assigned, StandIns, in_place, made_for
from .survey import ORIGINS, HeldTensor, Home, Registry, origin
from .written import Gap, KnownValues, gap_in

if TYPE_CHECKING:
    from ..deferred.recording import Recorder


class WatchingMode(FakeMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """The mode of fake tensors that refuses, while it watches for a recorder, what the recorder does not hand to it."""

    def __init__(self) -> None:
        super().__init__()
        self.watching_for: Recorder | None = None
        self._thread = get_ident()

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        recorder = self.watching_for
        if recorder is not None and recorder.working_thread != self._thread == get_ident():
            error = recorder.hidden(func, (*args, *(kwargs or {}).values()))
            if error is not None:
                raise error
        return super().__torch_dispatch__(func, types, args, kwargs or {})


class Components:
    """A tape, taken apart into tapes whose operations share no memory.

    Slots, and the indices of operations, are those of the whole tape. The tape must not grow any more.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._groups = joined(map(tape.storages_of, tape.operations))
        operations: dict[int, list[Operation]] = {}
        for operation in tape.operations:
            for storage in tape.storages_of(operation)[:1]:
                operations.setdefault(self._groups.root(storage), []).append(operation)
        self._parts = {root: replace(tape, operations=found) for root, found in operations.items()}
        self._nothing = replace(tape, operations=[])

    def of(self, slot: int) -> Tape:
        """The operations that share memory with a slot, directly or through others."""
        return self._parts.get(self._groups.root(self._tape.storage_of(slot)), self._nothing)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the tensors of a module get their values."""

    held: Sequence[HeldTensor]
    """All of them, real ones included."""
    names: Mapping[int, str]
    """The qualified names that their values depend on, by the id of the tensor: of a tie, the name that it was made under."""
    origins: Mapping[int, Home]
    paths: Mapping[int, str]
    """The prefix of each module's tensors, `layers.0.`, by the id of the module."""
    stand_ins: StandIns
    slots: Mapping[int, int]
    """The slot of each fake tensor that is to have values, by its id."""
    children: Constructed
    components: Components

    def recorded(self, fake: Tensor) -> tuple[Tape, int]:
        """The operations that a fake tensor is made by, perhaps with others, and its slot."""
        slot = self.slots[id(fake)]
        return self.components.of(slot), slot

    @property
    def missing(self) -> list[HeldTensor]:
        """The tensors on meta. One that the initialisation replaces in a plain attribute is not among them."""
        assigned = {(id(each.module), each.name) for each in self.stand_ins.assigned}
        return [
            held
            for held in self.held
            if held.tensor.is_meta
            and not all(h.registry is Registry.ATTRIBUTE and (id(h.module), h.name) in assigned for h in held.homes)
        ]

    def origin_first(self, held: HeldTensor) -> HeldTensor:
        """A tensor with the name that it was made under before the others."""
        origin = self.origins[id(held.tensor)]
        return HeldTensor(held.tensor, (origin, *(home for home in held.homes if home is not origin)))

    def initialiser(self, held: HeldTensor) -> str:
        """The initialiser of a tensor, for the report: `Embedding.reset_parameters`."""
        if (by := self.children.by.get(id(held.tensor))) is not None:
            return by
        module = self.origins[id(held.tensor)].module
        child = self.children.children.get(id(module))
        return description(module) if child is None else f"{class_name(child)}.__init__"

    def gap_in(self, held: HeldTensor) -> Gap | None:
        """The part of a tensor that nothing initialises; None if all of it is initialised."""
        return gap_in(*self.recorded(self.stand_ins.at(held)))

    def keys(self, seed: int, prefix: str) -> dict[int, Key]:
        """The key of each draw, by the index of the operation."""
        parts: dict[int, tuple[Tape, dict[str, int]]] = {}
        for name, fake in self._targets(prefix).items():
            tape, slot = self.recorded(fake)
            parts.setdefault(id(tape), (tape, {}))[1][name] = slot
        return {index: key for tape, names in parts.values() for index, key in draw_keys(tape, names, seed).items()}

    def _targets(self, prefix: str) -> dict[str, Tensor]:
        """Everything that is to have values, by the name that random numbers are keyed by."""
        found = {
            f"{prefix}{self.paths[id(module)]}{name}": fake for module, name, fake in self.stand_ins.unparametrized
        }
        found |= {prefix + self.names[id(held.tensor)]: self.stand_ins.at(held) for held in self.held}
        for each in self.stand_ins.assigned:
            for name, fake in _fakes_in(each):
                found.setdefault(f"{prefix}{self.paths[id(each.module)]}{name}", fake)
        return found


def planned(root: nn.Module, held: Sequence[HeldTensor], device: torch.device) -> Plan:
    """Record the initialisation of every module in a tree, whose tensors are `held`, on fake tensors on the device."""
    kept: dict[str, str] = vars(root).get(ORIGINS, {})
    mode = WatchingMode()
    recorder = Recorder(mode)
    recorder.evaluation = KnownValues(recorder.tape)
    # The default generator is also put back where a `reset_parameters` seeds it.
    with torch.random.fork_rng(devices=()):
        try:
            stand_ins = made_for(held, device, recorder)
            with recorder, PythonFunctions(recorder), recorded_whole():
                mode.watching_for = recorder
                children = constructed(root, held, recorder)
                initialised = frozenset(id(m) for m in root.modules() if id(m) in children.children or method_of(m))
                origins = {id(each.tensor): origin(each, kept, initialised) for each in held}
                recorder.names = {id(stand_ins.at(each)): origins[id(each.tensor)].qualified for each in held}
                with in_place(root, stand_ins):
                    children.put(stand_ins, origins)
                    initialise(root, stand_ins, origins, recorder, children.children)
                    children.finish(stand_ins, recorder)
        finally:
            mode.watching_for = None
            recorder.streams.put_back()
    names = {key: without_wrappers(home.qualified) for key, home in origins.items()}
    paths = {id(module): without_wrappers(f"{path}.") if path else "" for path, module in root.named_modules()}
    # What was changed without an operation gets its slot here, by an operation more: before the tape is taken apart.
    slots: dict[int, int] = {}
    for module, name, fake in _wanted(stand_ins, origins):
        recorder.program = program_of(paths.get(id(module), "") + name)
        slots[id(fake)] = recorder.slot(fake)
    return Plan(held, names, origins, paths, stand_ins, slots, children, Components(recorder.tape))


def _wanted(stand_ins: StandIns, origins: Mapping[int, Home]) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """The fake tensors that values may be asked of, each with its module and its name there."""
    for held in stand_ins.held:
        home = origins[id(held.tensor)]
        yield home.module, home.name, stand_ins.at(held)
        if (memory := stand_ins.shared.get(id(held.tensor))) is not None:
            yield home.module, home.name, memory
    yield from stand_ins.unparametrized
    for each in stand_ins.assigned:
        yield from ((each.module, name, fake) for name, fake in _fakes_in(each))


def _fakes_in(assigned: Assigned) -> list[tuple[str, Tensor]]:
    """The fake tensors in what an initialisation assigned, with the names that they would have in the module."""
    found = tree_flatten_with_path(assigned.value)[0]
    return [(assigned.name + keystr(at), leaf) for at, leaf in found if isinstance(leaf, FakeTensor)]
