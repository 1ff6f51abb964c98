"""The mode of deferred tensors: they can be computed with only while the program that makes them is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import TYPE_CHECKING

import torch
from torch._ops import OpOverload

from ..fake.emulated_devices import is_emulated
from ..fake.mode import FakeMode
from .errors import after_the_context
from .places import caller

if TYPE_CHECKING:
    from .deferral import Deferral

class DeferredMode(FakeMode):
    """The fake mode of one recording. Outside of it every operation is an error: nothing would carry it out later."""

    def __init__(self, deferral: Deferral) -> None:
        super().__init__()
        self.deferral = deferral

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if self.deferral.recorder.working_thread != get_ident():
            raise after_the_context(func, caller()[0])
        device = (kwargs or {}).get("device")
        if isinstance(device, torch.device) and is_emulated(device):
            torch.empty(0, device=device)  # raises what the constructor would raise
        return super().__torch_dispatch__(func, types, args, kwargs)
