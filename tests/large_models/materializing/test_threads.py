"""Threads that materialise at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from torch import Tensor, nn

from qten_gen import Module, param

from .declared import assert_same

MEET = Barrier(2)


class Overlapping(Module):
    """Its initialisation waits for that of another thread, and draws while the other one runs or after it."""

    waits: bool
    weight: nn.Parameter = param(4, 4, initializer="wait_and_draw")

    def wait_and_draw(self, tensor: Tensor) -> None:
        if self.waits:
            MEET.wait(10)
            MEET.wait(10)
        nn.init.trunc_normal_(tensor)


def test_trunc_normal_stays_recordable_while_another_thread_finishes_and_is_put_back_after_both() -> None:
    before = nn.init._no_grad_trunc_normal_
    with ThreadPoolExecutor(1) as pool:
        waiting = Overlapping.on_meta(False)
        waiting.waits = True
        late = pool.submit(lambda: waiting.materialize("cpu", seed=0))
        MEET.wait(10)
        early = Overlapping.on_meta(False).materialize("cpu", seed=0)
        MEET.wait(10)
        assert_same(late.result(), early)
    assert nn.init._no_grad_trunc_normal_ is before
