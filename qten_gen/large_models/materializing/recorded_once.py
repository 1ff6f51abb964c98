"""One recording for all modules that are initialised alike: the blocks of a model differ in their names alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from torch import nn

from ..deferred.recording import Recorder
from ..deferred.repeating import Passage, passage
from .likeness import Likeness, Likenesses
from .read_values import KnownValues
from .stand_ins import StandIns


class RecordedOnce:
    """What the first of some modules that are alike was recorded to do, for the others."""

    def __init__(self, stand_ins: StandIns, recorder: Recorder) -> None:
        self._recorder = recorder
        self._likenesses = Likenesses(stand_ins, recorder)
        self._passages: dict[Hashable, Passage | None] = {}

    def likeness(self, module: nn.Module, method: str | None) -> Likeness | None:
        """What makes a module like others; it has to be asked of every module, children first."""
        return self._likenesses.of(module, method)

    def repeat(self, found: Likeness | None) -> bool:
        """Initialise a module as one like it was, if there was one."""
        recorded = None if found is None else self._passages.get(found.key)
        if found is None or recorded is None:
            return False
        self._recorder.repeat(recorded, found.slots)
        return True

    @contextmanager
    def watched(self, module: nn.Module, found: Likeness | None) -> Iterator[None]:
        """Keep what is recorded in the block, if it may be done to tensors of other modules."""
        if found is None or found.key in self._passages:
            yield
            return
        tape = self._recorder.tape
        before = _state(module), self._reads()
        start = len(tape.operations), len(tape.slots)
        yield
        is_same = before == (_state(module), self._reads()) and self._slots(found) == found.slots
        self._passages[found.key] = passage(tape, *start, found.slots) if is_same else None

    def _slots(self, found: Likeness) -> tuple[int | None, ...]:
        """What the recorder knows the tensors as now: something else than an operation may have changed one."""
        return tuple(self._recorder.find(tensor) for tensor in found.tensors)

    def _reads(self) -> int:
        evaluation = self._recorder.evaluation
        return evaluation.reads if isinstance(evaluation, KnownValues) else 0


def _state(module: nn.Module) -> list[object]:
    """What an initialisation has assigned, if two of these differ: names and the identities of what they are bound to."""
    found: list[object] = []
    for each in module.modules():
        for namespace in (vars(each), each._parameters, each._buffers, each._modules):
            found += [(name, id(value)) for name, value in namespace.items()]
    return found
