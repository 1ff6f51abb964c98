"""Steps that work on the batch dimensions: reductions, arrangements, items, objects put together and taken apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.entries import Operation

from .plain import Names, Path, Plain, arranged, carried, joined, names_moved, reduced
from .steps import CLONE, OTHER, Builder, Step, dim, several_dims

# Reductions


def reduction(operation: Operation) -> Builder:
    """`sum`, `std`, `amax`, ..."""
    name = operation.name

    def function(tensor: Tensor, dims: tuple[int, ...] | None, keepdim: bool) -> Tensor:
        made = getattr(torch, name)
        over = {} if dims is None else {"dim": dims[0] if len(dims) == 1 else dims, "keepdim": keepdim}
        result: Tensor = made(tensor, **over)
        return result

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        kind = draw(st.sampled_from(["one", "one", "several", "all"]))
        if kind == "all":
            return Step(name, lambda before, other: reduced(before, function, None, False))
        dims: int | tuple[int, ...] = dim(draw, plain) if kind == "one" else several_dims(draw, plain)
        keepdim = draw(st.booleans())
        options = {"dim": dims, "keepdim": keepdim}
        return Step(name, lambda before, other: reduced(before, function, dims, keepdim), (), options)

    return build


def truth(operation: Operation) -> Builder:
    """`all` and `any`."""
    name = operation.name
    function = getattr(torch, name)

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        if draw(st.booleans()):
            return Step(name, lambda before, other: _truth(before, name))
        at = dim(draw, plain)
        return Step(name, lambda before, other: reduced(before, function, at, False), (at,))

    return build


def _truth(plain: Plain, name: str) -> bool:
    ragged = [rows for items in plain.ragged.values() for rows in items.rows]
    found = [bool(getattr(tensor, name)()) for tensor in [*plain.tensors.values(), *plain.unbatched.values(), *ragged]]
    return all(found) if name == "all" else any(found)


def extremum(operation: Operation) -> Builder:
    """`min` and `max`: the values. Where there are ties, torch is free to say either place."""
    name = operation.name
    function = getattr(torch, f"a{name}")

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        if draw(st.booleans()):
            return Step(name, lambda before, other: reduced(before, function, None, False))
        at = dim(draw, plain)
        return Step(name, lambda before, other: reduced(before, function, at, False), (at,), pick=0)

    return build


def running(operation: Operation) -> Builder:
    """`cumsum`, `softmax`, `cummax`, ..."""
    name, pair = operation.name, operation.form == "running pair"

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        at = dim(draw, plain)

        def apply(tensor: Tensor) -> Tensor:
            if not plain.n:
                raise IndexError
            result: Any = getattr(torch, name)(tensor, at % plain.n)
            found: Tensor = result[0] if pair else result
            return found

        return Step(name, lambda before, other: carried(before, apply), (at,), pick=0 if pair else None)

    return build


# Arrangements: the oracle does with the positions of the items what torch does with a tensor


def _size(draw: st.DrawFn, plain: Plain) -> tuple[int, ...]:
    count = torch.Size(plain.batch_size).numel()
    return draw(st.sampled_from([(count,), (1, count), (count, 1), plain.batch_size[::-1], plain.batch_size]))


def _twos(draw: st.DrawFn, plain: Plain) -> tuple[int, ...]:
    return tuple(draw(st.sampled_from([1, 1, 2])) for _ in range(plain.n + draw(st.integers(0, 1))))


def _gathered(draw: st.DrawFn, plain: Plain) -> tuple[int, Tensor]:
    at = dim(draw, plain)
    if not plain.n:
        return at, torch.tensor(0)
    at %= plain.n
    size = [2 if place == at else length for place, length in enumerate(plain.batch_size)]
    whole = plain.batch_size[at]
    return at, torch.arange(torch.Size(size).numel()).reshape(size) % max(whole, 1)


def _expanded(draw: st.DrawFn, plain: Plain) -> tuple[int, ...]:
    return (*draw(st.sampled_from([(), (2,)])), *(3 if length == 1 else length for length in plain.batch_size))


def _one_dim(draw: st.DrawFn, plain: Plain) -> tuple[Any, ...]:
    return (dim(draw, plain),)


ARRANGEMENTS: dict[str, Callable[[st.DrawFn, Plain], tuple[Any, ...]]] = {
    "reshape": lambda draw, plain: (_size(draw, plain),),
    "view": lambda draw, plain: (_size(draw, plain),),
    "flatten": lambda draw, plain: (),
    "unflatten": lambda draw, plain: (dim(draw, plain), (1, -1)),
    "permute": lambda draw, plain: (draw(st.permutations(range(plain.n))),),
    "transpose": lambda draw, plain: (dim(draw, plain), dim(draw, plain)),
    "movedim": lambda draw, plain: (dim(draw, plain), dim(draw, plain)),
    "squeeze": lambda draw, plain: draw(st.sampled_from([(), _one_dim(draw, plain)])),
    "unsqueeze": lambda draw, plain: (draw(st.integers(-plain.n - 1, plain.n)),),
    "expand": lambda draw, plain: (_expanded(draw, plain),),
    "repeat": lambda draw, plain: (_twos(draw, plain),),
    "repeat_interleave": lambda draw, plain: draw(st.sampled_from([(2,), (2, dim(draw, plain))])),
    "roll": lambda draw, plain: draw(st.sampled_from([(1,), (-1, dim(draw, plain))])),
    "flip": lambda draw, plain: (several_dims(draw, plain),),
    "gather": _gathered,
}
PIECES: dict[str, Callable[[st.DrawFn, Plain], tuple[Any, ...]]] = {
    "split": lambda draw, plain: (draw(st.integers(1, 2)), dim(draw, plain)),
    "chunk": lambda draw, plain: (draw(st.integers(1, 3)), dim(draw, plain)),
    "unbind": _one_dim,
}


def arrangement(name: str) -> Builder:
    """A step of `ARRANGEMENTS`."""

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        arguments = ARRANGEMENTS[name](draw, plain)
        function: Any = getattr(torch.Tensor, name, None) or getattr(torch, name)

        def expected(before: Plain, other: Plain) -> Plain:
            out = arranged(before, lambda places: function(places, *arguments))
            out.names = _names(before, name, lambda dims: function(dims, *arguments), len(out.batch_size))
            return out

        return Step(name, expected, tuple(arguments), contiguous=name == "view")

    return build


MOVING = "permute transpose movedim unsqueeze roll flip unbind".split()
KEEPING = "gather split chunk".split()
ADDING = "expand repeat".split()
"""What becomes of names: they move with their dimensions, stay, or have new dimensions without a name in front."""


def _names(plain: Plain, name: str, function: Callable[[Tensor], Tensor], n: int) -> dict[Path, Names] | None:
    """The names afterwards, where the oracle knows them; objects that are held have none."""
    if plain.names is None or name not in (*MOVING, *KEEPING, *ADDING):
        return {} if name in ("reshape", "view") else None
    kept = plain.names.get((), (None,) * plain.n)
    if name in MOVING:
        kept = names_moved(plain, function)
    return {(): (None,) * (n - len(kept)) + kept if name in ADDING else kept}


def pieces(name: str) -> Builder:
    """A step of `PIECES`: the first one goes on."""

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        arguments = PIECES[name](draw, plain)
        function: Any = getattr(torch, name)

        def first(places: Tensor) -> Tensor:
            found: Tensor = function(places, *arguments)[0]
            return found

        def expected(before: Plain, other: Plain) -> Plain:
            out = arranged(before, first)
            out.names = _names(before, name, first, len(out.batch_size))
            return out

        return Step(name, expected, arguments, pick=0)

    return build


def pad(draw: st.DrawFn, plain: Plain) -> Step:
    pairs = [draw(st.integers(0, 2)) for _ in range(2 * plain.n)]

    def apply(tensor: Tensor) -> Tensor:
        backwards = [number for at in reversed(range(plain.n)) for number in pairs[2 * at : 2 * at + 2]]
        return torch.nn.functional.pad(tensor, [0, 0] * (tensor.dim() - plain.n) + backwards, value=1.0)

    def expected(before: Plain, other: Plain) -> Plain:
        if before.items and not before.ragged:
            raise TypeError("Python values cannot be padded")
        size = [pairs[2 * at] + length + pairs[2 * at + 1] for at, length in enumerate(before.batch_size)]
        return replace(carried(before, apply), batch_size=tuple(size))

    return Step("pad", expected, (pairs, 1.0))


def new(name: str) -> Builder:
    """`new_zeros` and its like."""
    number = {"new_zeros": 0, "new_ones": 1, "new_full": 1}[name]

    def expected(before: Plain, other: Plain) -> Plain:
        if before.items and not before.ragged:
            raise TypeError("Python values cannot be made anew")
        out = carried(before, lambda tensor: torch.full((2, *tensor.shape[before.n :]), number).to(tensor))
        return replace(out, batch_size=(2,), names={})

    return lambda draw, plain: Step(name, expected, ((2,), 1) if name == "new_full" else (2,))


def put_together(name: str) -> Builder:
    """`stack` and `cat`, of the object and another."""

    def build(draw: st.DrawFn, plain: Plain) -> Step:
        at = draw(st.integers(0, plain.n)) if name == "stack" else dim(draw, plain) % max(plain.n, 1)
        second = draw(st.sampled_from([OTHER, CLONE]))

        def expected(before: Plain, other: Plain) -> Plain:
            if name == "cat" and not before.n:
                raise RuntimeError
            out = joined([before, other], getattr(torch, name), at)
            if before.names is not None:
                out.names = {(): names_moved(before, lambda dims: dims.unsqueeze(at) if name == "stack" else dims)}
            return out

        return Step(name, expected, (second, at), on_class=True)

    return build


BY_FORM: dict[str, Callable[[Operation], Builder]] = {
    "reduction": reduction,
    "reduction norm": reduction,
    "truth": truth,
    "extremum": extremum,
    "running": running,
    "running pair": running,
}
BY_NAME: dict[str, Builder] = {
    **{name: arrangement(name) for name in ARRANGEMENTS},
    **{name: pieces(name) for name in PIECES},
    **{name: new(name) for name in ("new_zeros", "new_ones", "new_full")},
    "pad": pad,
    "stack": put_together("stack"),
    "cat": put_together("cat"),
}
