"""The count of open contexts that emulate CUDA devices, which `large_models/fake/` keeps here."""

from __future__ import annotations

import threading

import torch


class _Thread(threading.local):
    """How many open contexts of a thread asked for CUDA devices that do not exist."""

    contexts = 0


THREAD = _Thread()


def has_emulated_cuda() -> bool:
    """Return whether this thread is in a context with CUDA devices that do not exist."""
    return THREAD.contexts > 0 and not torch.cuda.is_available()
