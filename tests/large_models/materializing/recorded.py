"""Recording an initialiser on a fake tensor, and evaluating it whole and in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from qten_gen.large_models.deferred.recording import Recorder
from qten_gen.large_models.deferred.replay import operations_reaching
from qten_gen.large_models.deferred.tape import Tape
from qten_gen.large_models.materializing.evaluation import draw_keys, evaluate, runs_of
from qten_gen.large_models.materializing.initialisers import recorded_whole
from qten_gen.large_models.materializing.keyed_draws import Key
from qten_gen.large_models.sharding.placements import Part, size_of


@dataclass(frozen=True)
class Recorded:
    """An initialiser that was recorded on one tensor, `name`."""

    tape: Tape
    slot: int
    keys: dict[int, Key]

    def whole(self) -> Tensor:
        known = self.tape.slots[self.slot]
        return self.into(torch.empty(known.size, dtype=known.dtype))

    def part(self, part: Part) -> Tensor:
        return self.into(torch.empty(size_of(part), dtype=self.tape.slots[self.slot].dtype), part)

    def into(self, tensor: Tensor, part: Part | None = None) -> Tensor:
        evaluate(self.tape, self.slot, self.keys, tensor, part)
        return tensor

    @property
    def needs_whole(self) -> bool:
        return runs_of(self.tape, operations_reaching(self.tape, [self.slot]), self.slot, self.keys) is None

    @property
    def operations(self) -> list[str]:
        return [str(operation.overload) for operation in operations_reaching(self.tape, [self.slot])]


def record(
    initialiser: Callable[[Tensor], object],
    size: Sequence[int],
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    name: str = "weight",
) -> Recorded:
    """Record what an initialiser does to a tensor."""
    mode = FakeTensorMode()
    with mode:
        fake = torch.empty(size, dtype=dtype)
    recorder = Recorder(mode)
    recorder.add_input(fake)
    with recorded_whole(), recorder, torch.no_grad():
        initialiser(fake)
    recorder.streams.put_back()
    slot = recorder.slot(fake)
    return Recorded(recorder.tape, slot, draw_keys(recorder.tape, {name: slot}, seed))
