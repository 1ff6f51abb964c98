"""Whether CUDA devices that do not exist are emulated, which the contexts of `large_models/fake/` count here."""

from __future__ import annotations

import threading

import torch


class _Thread(threading.local):
    """How many open contexts of a thread asked for CUDA devices that do not exist."""

    contexts = 0


THREAD = _Thread()


def has_emulated_cuda() -> bool:
    """Whether this thread is in a context with CUDA devices that do not exist."""
    return THREAD.contexts > 0 and not torch.cuda.is_available()
