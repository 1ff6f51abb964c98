"""Random steps: an operation of the table with arguments, and what the oracle makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from .plain import Plain

Result = Plain | Tensor | bool

OTHER = "other"
"""Stands among the arguments for a second object of the same class, with other numbers."""
CLONE = "clone"
"""The same, with the same numbers."""


@dataclass
class Step:
    """An operation on the object. `pick` is which one of several results goes on."""

    name: str
    expected: Callable[[Plain, Plain], Result] = field(repr=False)
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    pick: int | None = None
    on_class: bool = False
    writes: bool = False
    """Whether it changes the object instead of making another."""
    contiguous: bool = False
    """Whether it is asked of an object whose tensors are contiguous."""
    run: Callable[[Any, Any], Any] | None = field(default=None, repr=False)
    """What is done with the object and the second one, where that is no method called `name`."""
    locked: bool | None = None
    """Whether the result is locked; where it is None, it is so if it is the object itself and that is."""

    @property
    def tokens(self) -> list[str]:
        """Which other objects it is about."""
        return [one for one in self.arguments if isinstance(one, str)]


NO_DIMENSION = 9

Builder = Callable[[st.DrawFn, Plain], Step]


def dim(draw: st.DrawFn, plain: Plain) -> int:
    """A batch dimension, counted from either end; none where there is none, although torch takes 0 then."""
    return draw(st.integers(-plain.n, plain.n - 1)) if plain.n else NO_DIMENSION


def several_dims(draw: st.DrawFn, plain: Plain) -> tuple[int, ...]:
    """Some batch dimensions, each once."""
    if not plain.n:
        return (NO_DIMENSION,)
    return tuple(draw(st.lists(st.integers(0, plain.n - 1), min_size=1, max_size=plain.n, unique=True)))


def over_batch(draw: st.DrawFn, plain: Plain, dtype: torch.dtype | None = None) -> Tensor:
    """A tensor that broadcasts over the batch size."""
    return over(draw, plain.batch_size, dtype)


def over(draw: st.DrawFn, whole: tuple[int, ...], dtype: torch.dtype | None = None) -> Tensor:
    """A tensor that broadcasts over a size."""
    size = whole[draw(st.integers(0, len(whole))) :]
    shape = tuple(draw(st.sampled_from([1, length])) for length in size)
    made = torch.arange(max(1, torch.Size(shape).numel())) % 3
    made = made.reshape(shape) if torch.Size(shape).numel() else torch.zeros(shape, dtype=torch.int64)
    return made.to(dtype if dtype is not None else draw(st.sampled_from([torch.int64, torch.float64, torch.bool])))


def operand(draw: st.DrawFn, plain: Plain) -> Any:
    """What operations with operands take."""
    kind = draw(st.sampled_from(["object", "number", "tensor"]))
    if kind == "object":
        return OTHER
    return draw(st.sampled_from([2, 0.5, True])) if kind == "number" else over_batch(draw, plain)


def known(argument: Any, other: Plain) -> Any:
    """The argument, as the oracle takes it."""
    return other if argument is OTHER else argument


def float_or_as_it_is(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """A conversion of floating point tensors."""
    return lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor
