"""The mode of deferred tensors: they can be computed with only while the program that makes them is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import get_ident

import torch
from torch import Tensor
from torch._ops import OpOverload

from ..fake.emulated_devices import is_emulated
from ..fake.errors import has_no_memory
from ..fake.mode import FakeMode
from ..fake.tensor_arguments import fakes_in
from .errors import after_the_context, materialized, out_of_sight
from .places import caller
from .recording import Recorder

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
