"""Initialisers of torch that read their own numbers, as operations that are recorded whole.

`torch.nn.init.trunc_normal_` draws again until no element lies outside its bounds. Each element depends on its own draws
alone, but a recording of its steps would have to know the numbers. So while a recording runs, `trunc_normal_` is one operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import torch
from torch import Tensor, nn
from torch._ops import OpOverload

_INNER = "_no_grad_trunc_normal_"
"""The function that `nn.init.trunc_normal_` calls, under the name by which others import it."""


@cache
def trunc_normal() -> OpOverload:
    """`qten_gen::trunc_normal_(self, mean, std, a, b, *, generator=None)`, which fills `self` as `nn.init.trunc_normal_` does."""
    if not hasattr(torch.ops.qten_gen, "trunc_normal_"):
        _LIBRARY.define(  # type: ignore[no-untyped-call] # torch gives it no types
            "trunc_normal_(Tensor(a!) self, float mean, float std, float a, float b, *, Generator? generator=None)"
            " -> Tensor(a!)",
            tags=(torch.Tag.nondeterministic_seeded,),
        )
        _LIBRARY.impl("trunc_normal_", _fill, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call] # the same
        _LIBRARY.impl("trunc_normal_", _fill_nothing, "Meta")  # type: ignore[no-untyped-call] # the same
    found: OpOverload = torch.ops.qten_gen.trunc_normal_.default
    return found


_LIBRARY = torch.library.Library("qten_gen", "FRAGMENT")  # type: ignore[no-untyped-call] # torch gives it no types
_torch_trunc_normal = getattr(nn.init, _INNER, None)


@contextmanager
def recorded_whole() -> Iterator[None]:
    """Let these initialisers reach a recording as one operation each, in the block. Blocks of several threads may overlap."""
    if _torch_trunc_normal is None:
        yield
        return
    trunc_normal()
    _change_blocks(+1)
    try:
        yield
    finally:
        _change_blocks(-1)


_LOCK = Lock()
_blocks = 0
"""How many blocks are running."""


def _change_blocks(by: int) -> None:
    """Count the blocks; `torch.nn.init` is changed while there are any."""
    global _blocks
    with _LOCK:
        _blocks += by
        setattr(nn.init, _INNER, trunc_normal_as_one_operation if _blocks else _torch_trunc_normal)


def trunc_normal_as_one_operation(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: torch.Generator | None = None
) -> Tensor:
    with torch.no_grad():
        trunc_normal()(tensor, mean, std, a, b, generator=generator)
    return tensor


def _fill(
    tensor: Tensor, mean: float, std: float, a: float, b: float, *, generator: torch.Generator | None = None
) -> Tensor:
    assert _torch_trunc_normal is not None
    _torch_trunc_normal(tensor, mean, std, a, b, generator=generator)
    return tensor


def _fill_nothing(
    tensor: Tensor, mean: float, std: float, a: float, b: float, *, generator: torch.Generator | None = None
) -> Tensor:
    return tensor
