"""Fake tensors that notice where an initialisation works on them out of sight of the recorder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import TYPE_CHECKING

from torch._ops import OpOverload

from ..fake.mode import FakeMode

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
