"""One call of `deferred_init`: what it recorded, and which of its tensors have been made.

Deferred tensors can be computed with only while the program that makes them is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from threading import RLock, get_ident, local
from types import TracebackType
from typing import cast
from weakref import WeakValueDictionary

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from ..fake.emulated_devices import is_emulated
from ..fake.errors import has_no_memory
from ..fake.mode import FakeMode
from ..fake.tensor_arguments import fakes_in
from .errors import after_the_context, caller, materialized, out_of_sight
from .python_functions import PythonFunctions, gradient_of, with_attributes_of
from .recording import Recorder
from .replay import joined

_TO_GET_MEMORY = "it was made by deferred_init: call materialize_tensor or materialize_module first"


class DeferredMode(FakeMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """The fake mode of one recording. Outside of it every operation is an error: nothing would carry it out later."""

    def __init__(self, owner: object) -> None:
        super().__init__()
        self.owner = owner
        """The owner of the tensors of this mode."""
        self.recorder = Recorder(self)
        self.is_recording = False

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if self.recorder.working_thread != get_ident():
            if self.is_recording:
                raise out_of_sight(func, caller()[0])
            mine = next((fake for fake in fakes_in(args, kwargs or {}) if fake.fake_mode is self), None)
            raise after_the_context(func, caller()[0], None if mine is None else self.recorder.made_at(mine))
        device = (kwargs or {}).get("device")
        if isinstance(device, torch.device) and is_emulated(device):
            torch.empty(0, device=device)  # raises what the constructor would raise
        return super().__torch_dispatch__(func, types, args, kwargs)

    @property
    def draws_for_nobody(self) -> bool:
        """Initialisers have to do what they do: either that is recorded, or it is an error."""
        return False

    def check_use(self, tensor: Tensor, what: str, is_kept: bool) -> None:
        """Raise if the tensor has its values already, in another object, or if nothing would carry over what is changed."""
        if vars(tensor).get("real") is not None:
            raise materialized(what, caller()[0])
        if not is_kept and not self.is_recording:
            raise after_the_context(what, caller()[0], self.recorder.made_at(tensor))

    def without_memory(self, what: str, instead: str) -> RuntimeError:
        """The error about memory, which the tensor gets when it is materialized."""
        return super().without_memory(what, instead) if self.is_recording else has_no_memory(what, _TO_GET_MEMORY)


class _Thread(local):
    def __init__(self) -> None:
        self.deferral: Deferral | None = None


_THREAD = _Thread()


def active() -> Deferral | None:
    """The deferral that records this thread."""
    return _THREAD.deferral


class Deferral:
    """A recording, and the deferred tensors that came out of it."""

    def __init__(self) -> None:
        self.mode = DeferredMode(self)
        self.recorder = self.mode.recorder
        self._functions = PythonFunctions(self.recorder)
        self._lock = RLock()
        self._succeeded = False
        self._open = ExitStack()
        self._pending: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
        """The deferred tensors that the program returned, by slot, until they are made."""

    def __enter__(self) -> None:
        # Modes of the caller, such as fake_mode, are for what is computed now.
        self._open.enter_context(_disable_current_modes())
        self._open.callback(self._close)
        _THREAD.deferral, self.mode.is_recording = self, True
        self._open.enter_context(self.recorder)
        self._open.enter_context(self._functions)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._succeeded = error is None
        self._open.__exit__(kind, error, traceback)

    def _close(self) -> None:
        _THREAD.deferral, self.mode.is_recording = None, False
        if self._succeeded:
            self.recorder.streams.move_on(self.recorder.evaluation.numbers)
        else:
            self.recorder.streams.put_back()

    def keep_track_of(self, tensors: Iterable[Tensor]) -> None:
        """Note which deferred tensors the program returned."""
        for tensor in tensors:
            for own in (tensor, gradient_of(tensor)):
                if own is not None and deferral_of(own) is self:
                    self._pending[self.recorder.slot(own)] = own
        if not self._pending:
            self.recorder.streams.arrive()

    def materialize_in_parts(self, fakes: Iterable[Tensor], kept: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Make the values of deferred tensors one after the other, and keep what a function of tensor and values returns."""
        for fake in sorted(fakes, key=self.recorder.slot):
            self.materialize([fake], kept)

    def materialize(self, fakes: Iterable[Tensor], kept: Callable[[Tensor, Tensor], Tensor] | None = None) -> None:
        """Make the values of deferred tensors; each fake has its real tensor as `real` afterwards."""
        if active() is self:
            return
        with self._lock, _disable_current_modes(), torch._C.DisableTorchFunction():
            wanted = {self.recorder.slot(fake): fake for fake in fakes if real_of(fake) is None}
            wanted.update(self._bound_to(wanted))
            wanted.update(self._gradients_of(wanted.values()))
            values = self.recorder.evaluation.values(wanted)
            for slot, fake in wanted.items():
                value = values.pop(slot)
                vars(fake)["real"] = with_attributes_of(fake, value if kept is None else kept(fake, value))
                self._pending.pop(slot, None)
            for fake in wanted.values():
                gradient = gradient_of(fake)
                if gradient is not None:
                    vars(fake)["real"].grad = gradient if deferral_of(gradient) is None else real_of(gradient)
            if wanted and not self._pending:
                self.recorder.streams.arrive()

    def _gradients_of(self, fakes: Iterable[Tensor]) -> dict[int, Tensor]:
        """The gradients of tensors that have some which are still to be made."""
        gradients = [gradient for fake in fakes if (gradient := gradient_of(fake)) is not None]
        return {
            self.recorder.slot(gradient): gradient
            for gradient in gradients
            if deferral_of(gradient) is self and real_of(gradient) is None
        }

    def _bound_to(self, wanted: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """The other pending tensors that have to be made at once: parts of the same storages, and of one autograd graph."""
        tape = self.recorder.tape
        groups = joined(tape.storages_of(each) for each in tape.operations if each.differentiable)
        roots = {groups.root(tape.storage_of(slot)) for slot in wanted}
        return {
            slot: fake
            for slot, fake in self._pending.items()
            if slot not in wanted and groups.root(tape.storage_of(slot)) in roots
        }


def deferral_of(tensor: Tensor) -> Deferral | None:
    """The deferral that a tensor comes from; None for a tensor that is not deferred."""
    mode = getattr(tensor, "fake_mode", None)
    return cast("Deferral", mode.owner) if isinstance(mode, DeferredMode) else None


def real_of(fake: Tensor) -> Tensor | None:
    """The tensor that a deferred tensor has become."""
    return cast("Tensor | None", vars(fake).get("real"))
