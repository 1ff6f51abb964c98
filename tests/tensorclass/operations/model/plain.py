"""The oracle: an object as dicts of plain tensors, and operations on it written without a TensorClass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch
from torch import Tensor

Shape = tuple[int, ...]
Path = tuple[str | int, ...]
"""The names that lead to a value; behind that of a dict or list of tensors, the key of one of them."""
Names = tuple[str | None, ...]


@dataclass(frozen=True)
class Items:
    """The rows of the items of a Ragged field, item by item, and how the items are arranged."""

    shape: Shape
    rows: list[Tensor]
    none: Tensor
    """No rows, which torch works on where there are no items."""

    def picked(self, index: Tensor, n: int) -> Items:
        """The items at some places of the first `n` dimensions."""
        tail = self.shape[n:]
        width = prod(tail)
        found = [self.rows[at * width + beside] for at in index.reshape(-1).tolist() for beside in range(width)]
        return Items((*index.shape, *tail), found, self.none)


class IsRagged(TypeError):
    """What a Ragged field refuses, naming itself."""


@dataclass
class Plain:
    """What an object holds."""

    batch_size: Shape
    tensors: dict[Path, Tensor] = field(default_factory=dict)
    """Those that the batch carries."""
    unbatched: dict[Path, Tensor] = field(default_factory=dict)
    items: dict[Path, Tensor] = field(default_factory=dict)
    """The values of PerItem fields, each as a number."""
    ragged: dict[Path, Items] = field(default_factory=dict)
    """Those of Ragged fields, or of the fields of their rows."""
    static: dict[Path, object] = field(default_factory=dict)
    """Static values, and the keys of dicts and lists of tensors."""
    tails: dict[Path, Shape] = field(default_factory=dict)
    """The further batch dimensions of nested objects."""
    names: dict[Path, Names] | None = field(default_factory=dict)
    """Names of batch dimensions, of objects that have any; None where the oracle does not know."""
    locked: bool = False
    said: dict[Path, tuple[tuple[torch.dtype, ...], Shape]] = field(default_factory=dict)
    """Dtypes and the shape beyond the batch, of tensors whose annotations say them."""

    @property
    def n(self) -> int:
        """How many batch dimensions there are."""
        return len(self.batch_size)


def valued(plain: Plain, function: Callable[..., Tensor], *others: Any) -> Plain:
    """`function` of every tensor and the operands: objects, tensors over the batch, numbers."""

    def changed(tensors: dict[Path, Tensor]) -> dict[Path, Tensor]:
        return {
            path: function(tensor, *(_operand(other, path, tensor, plain.n) for other in others))
            for path, tensor in tensors.items()
        }

    def of_rows(path: Path, items: Items) -> Items:
        given = [[_rows_of(other, path, items, at) for other in others] for at in range(len(items.rows))]
        none = function(
            items.none, *(other.ragged[path].none if isinstance(other, Plain) else other for other in others)
        )
        rows = [function(mine, *theirs) for mine, theirs in zip(items.rows, given, strict=True)]
        return Items(items.shape, rows, none)

    if any(isinstance(other, Tensor) and other.dim() for other in others):
        if plain.ragged:
            raise IsRagged
        if plain.unbatched:
            raise TypeError("a tensor over the batch does not apply to one that the batch does not carry")
    return replace(
        plain,
        tensors=changed(plain.tensors),
        unbatched=changed(plain.unbatched),
        ragged={path: of_rows(path, items) for path, items in plain.ragged.items()},
    )


def _rows_of(other: Any, path: Path, items: Items, at: int) -> Any:
    """The operand for the rows of one item."""
    if not isinstance(other, Plain):
        return other
    found = other.ragged[path].rows[at]
    if len(found) != len(items.rows[at]):
        raise ValueError("items of different lengths")
    return found


def carried(plain: Plain, function: Callable[[Tensor], Tensor]) -> Plain:
    """`function` of the tensors that the batch carries; objects in it have no names then."""
    out = replace(plain, tensors={path: function(tensor) for path, tensor in plain.tensors.items()})
    if plain.ragged:
        raise IsRagged
    if plain.names is not None:
        out.names = {at: names for at, names in plain.names.items() if not at}
    return out


def _operand(other: Any, path: Path, tensor: Tensor, n: int) -> Any:
    if isinstance(other, Plain):
        return (other.tensors | other.unbatched)[path]
    if isinstance(other, Tensor) and other.dim():
        return other.reshape(*other.shape, *(1,) * (tensor.dim() - n))
    return other


def arranged(plain: Plain, function: Callable[[Tensor], Any]) -> Plain:
    """The items where `function` puts them, which is asked once: what it does with a tensor of the positions of items."""
    index: Tensor = function(positions(plain.batch_size))

    def moved(tensors: dict[Path, Tensor]) -> dict[Path, Tensor]:
        return {path: rows(tensor, plain.n)[index] for path, tensor in tensors.items()}

    return replace(
        plain,
        batch_size=tuple(index.shape),
        tensors=moved(plain.tensors),
        items=moved(plain.items),
        ragged={path: items.picked(index, plain.n) for path, items in plain.ragged.items()},
        names=None,
    )


def written(plain: Plain, function: Callable[[Tensor], Tensor], value: Plain | Tensor | float) -> Plain:
    """Other values in the items that `function` selects: those of an object, of a tensor over these items, or a number."""
    index = function(positions(plain.batch_size))

    def changed(tensors: dict[Path, Tensor], values: dict[Path, Tensor] | Tensor | float) -> dict[Path, Tensor]:
        found: dict[Path, Tensor] = {}
        for path, tensor in tensors.items():
            flat = rows(tensor, plain.n).clone()
            given = values[path] if isinstance(values, dict) else values
            if isinstance(values, Tensor) and values.dim():
                given = values.reshape(*values.shape, *(1,) * (tensor.dim() - plain.n))
            flat[index] = given.to(flat.dtype) if isinstance(given, Tensor) else given
            found[path] = flat.reshape(tensor.shape)
        return found

    if not isinstance(value, Plain):
        if plain.ragged and isinstance(value, Tensor):
            raise IsRagged
        numbers = {path: items.picked(index, plain.n) for path, items in plain.ragged.items()}
        full = {
            path: Items(items.shape, [torch.full_like(rows, value) for rows in items.rows], items.none)  # type: ignore[arg-type]
            for path, items in numbers.items()
        }
        return replace(plain, tensors=changed(plain.tensors, value), ragged=_put(plain, index, full))
    refuse_unequal(plain, value)
    if value.batch_size != tuple(index.shape):
        raise ValueError
    return replace(
        plain,
        tensors=changed(plain.tensors, value.tensors),
        items=changed(plain.items, value.items),
        ragged=_put(plain, index, value.ragged),
    )


def _put(plain: Plain, index: Tensor, values: dict[Path, Items]) -> dict[Path, Items]:
    """The items with others of the same lengths in the places of an index."""
    found: dict[Path, Items] = {}
    for path, items in plain.ragged.items():
        rows, width = [*items.rows], prod(items.shape[plain.n :])
        places = [at * width + beside for at in index.reshape(-1).tolist() for beside in range(width)]
        for at, new in zip(places, values[path].rows, strict=True):
            if len(new) != len(items.rows[at]):
                raise ValueError("items of different lengths")
            rows[at] = new.to(items.rows[at].dtype)
        found[path] = Items(items.shape, rows, items.none)
    return found


def refuse_unequal(plain: Plain, other: Plain) -> None:
    """What two objects have to share before items of one go into the other."""
    if plain.static != other.static or not all(
        torch.allclose(tensor, other.unbatched[path], rtol=0, atol=0, equal_nan=True)
        for path, tensor in plain.unbatched.items()
    ):
        raise ValueError("objects that are put together have the same static values and unbatched tensors")


def refuse_unfit(plain: Plain, nested: bool = True) -> None:
    """What is checked where a tensor is set: that it is what its annotation says, which operations may have changed."""
    for path, (dtypes, shape) in plain.said.items():
        if len(path) > 1 and not nested:
            continue
        tensor = (plain.tensors | plain.unbatched)[path]
        n = 0 if path in plain.unbatched else plain.n + len(plain.tails.get(path[:-1], ()))
        if tensor.dtype not in dtypes or tensor.shape[n:] != shape:
            raise TypeError(f"{path} is not what its annotation says")


def positions(size: Shape) -> Tensor:
    """A number for each item."""
    return torch.arange(prod(size)).reshape(size)


def rows(tensor: Tensor, n: int) -> Tensor:
    """A tensor with one dimension in place of the batch dimensions."""
    return tensor.reshape(prod(tensor.shape[:n]), *tensor.shape[n:])


def reduced(plain: Plain, function: Callable[..., Tensor], dim: int | tuple[int, ...] | None, keepdim: bool) -> Plain:
    """Every tensor that the batch carries reduced by `function(tensor, dims, keepdim)`; `dims` is None for all of them."""
    if plain.items and not plain.ragged:
        raise TypeError("Python values cannot be reduced")
    names = (plain.names or {}).get((), (None,) * plain.n)
    if dim is None:
        tensors = {path: function(tensor, None, False) for path, tensor in plain.tensors.items()}
        tails: dict[Path, Shape] = dict.fromkeys(plain.tails, ())
        kept: Names = ()
        size: Shape = ()
    else:
        dims = positive((dim,) if isinstance(dim, int) else dim, plain.n)
        left = [at for at in range(plain.n) if keepdim or at not in dims]
        tensors = {path: function(tensor, dims, keepdim) for path, tensor in plain.tensors.items()}
        tails, kept = plain.tails, tuple(names[at] for at in left)
        size = tuple(1 if at in dims else plain.batch_size[at] for at in left)
    if plain.ragged:
        raise IsRagged
    return replace(plain, batch_size=size, tensors=tensors, tails=tails, names={(): kept})


def joined(objects: Sequence[Plain], function: Callable[[list[Tensor], int], Tensor], dim: int) -> Plain:
    """Objects put together by `torch.stack` or `torch.cat`."""
    first = objects[0]
    size = function([torch.empty(one.batch_size) for one in objects], dim).shape
    for other in objects[1:]:
        refuse_unequal(first, other)
    return replace(
        first,
        batch_size=tuple(size),
        tensors={path: function([one.tensors[path] for one in objects], dim) for path in first.tensors},
        items={path: function([one.items[path] for one in objects], dim) for path in first.items},
        ragged={path: _joined([one.ragged[path] for one in objects], first.n, function, dim) for path in first.ragged},
        names=None,
    )


def _joined(parts: Sequence[Items], n: int, function: Callable[[list[Tensor], int], Tensor], dim: int) -> Items:
    places, before = [], 0
    for part in parts:
        places.append(positions(part.shape[:n]) + before)
        before += prod(part.shape[:n])
    every = Items((before, *parts[0].shape[n:]), [rows for part in parts for rows in part.rows], parts[0].none)
    return every.picked(function(places, dim), 1)


def positive(dims: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Batch dimensions counted from the front."""
    if any(not -n <= dim < n for dim in dims):
        raise IndexError
    return tuple(dim % n for dim in dims)


DISTINCT = (2, 3, 5, 7, 11, 13)


def names_moved(plain: Plain, function: Callable[[Tensor], Tensor]) -> Names:
    """The names when `function` moves, drops or inserts dimensions: sizes of which each stands once show where they went."""
    names = (plain.names or {}).get((), (None,) * plain.n)
    shape = function(torch.empty(DISTINCT[: plain.n])).shape
    return tuple(names[DISTINCT.index(size)] if size in DISTINCT[: plain.n] else None for size in shape)
