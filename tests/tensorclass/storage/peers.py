"""The classes of `declared`, of tensordict."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor

from .declared import Outer

tensordict: Any = pytest.importorskip("tensordict", reason="both libraries read what the other writes")


class PeerInner(tensordict.TensorClass):  # type: ignore[misc] # a class that checkers do not see
    """`Inner`, of tensordict."""

    q: Tensor
    label: str = "inner"


class Peer(tensordict.TensorClass):  # type: ignore[misc] # as above
    """`Outer`, of tensordict."""

    x: Tensor
    inner: PeerInner
    mask: Tensor | None = None
    other: PeerInner | None = None
    source: str = "train"
    tags: Any = None


def peer(value: Outer) -> Any:
    """The same in tensordict's class."""
    inner = PeerInner(q=value.inner.q, label=value.inner.label, batch_size=value.batch_size)
    return Peer(x=value.x, inner=inner, mask=value.mask, source=value.source, batch_size=value.batch_size)
