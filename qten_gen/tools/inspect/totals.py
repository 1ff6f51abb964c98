"""Sums over a model: what it holds by kind, dtype and device, and what each of several ranks would hold of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from .model_tree import ModuleEntry, TensorEntry


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of elements, and their memory."""

    elements: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """What a model holds. A tensor with several names is counted once."""

    parameters: Amount
    trainable: Amount
    """The parameters that require a gradient."""
    buffers: Amount
    unsaved_buffers: Amount
    """The buffers that are not in the state dict."""
    attributes: Amount
    """Tensors that are neither parameters nor buffers."""
    by_dtype: tuple[tuple[str, Amount], ...]
    """Of all tensors, the largest amount first."""
    by_device: tuple[tuple[str, Amount], ...]


def totals_of(tree: ModuleEntry) -> Totals:
    """The sums over a model."""
    entries = [entry for entry in tree.all_tensors() if entry.tied_to is None]
    buffers = [entry for entry in entries if entry.kind == "buffer"]
    parameters = [entry for entry in entries if entry.kind == "parameter"]
    return Totals(
        amount(parameters),
        amount(entry for entry in parameters if entry.requires_grad),
        amount(buffers),
        amount(entry for entry in buffers if not entry.persistent),
        amount(entry for entry in entries if entry.kind == "attribute"),
        _by(entries, [entry.dtype for entry in entries]),
        _by(entries, [entry.device for entry in entries]),
    )


def amount(entries: Iterable[TensorEntry]) -> Amount:
    """The sum over some tensors."""
    found = list(entries)
    return Amount(sum(entry.elements for entry in found), sum(entry.bytes for entry in found))


def _by(entries: list[TensorEntry], keys: list[str]) -> tuple[tuple[str, Amount], ...]:
    found = {
        key: amount(entry for entry, its in zip(entries, keys, strict=True) if its == key)
        for key in dict.fromkeys(keys)
    }
    return tuple(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0])))


@dataclass(frozen=True, slots=True)
class Share:
    """What each rank of a range holds."""

    first: int
    last: int
    parameters: int
    bytes: int
    """The memory of its part of the parameters, without padding."""
    padding_bytes: int
    """What FSDP2 allocates beyond that, because it gives each rank as many rows as the first."""
    trainable_bytes: int
    buffer_bytes: int
    """The memory of the buffers, which every rank holds whole."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """Every parameter divided by rows among ranks, as `fully_shard` does it."""

    ranks: int
    shares: tuple[Share, ...]
    whole: tuple[str, ...]
    """Parameters without dimensions, which `fully_shard` refuses; here every rank holds them."""


def sharding_of(tensors: Iterable[TensorEntry], ranks: int) -> Sharding:
    """What each of some ranks holds: of n rows, ceil(n / ranks) for each, as long as there are some."""
    entries = [entry for entry in tensors if entry.tied_to is None]
    parameters = [entry for entry in entries if entry.kind == "parameter" and entry.is_initialised]
    others = sum(entry.bytes for entry in entries if entry.kind != "parameter")
    kinds = Counter((entry.shape, _itemsize(entry), entry.requires_grad) for entry in parameters)
    found: list[Share] = []
    for rank in range(ranks):
        elements = held = padding = trainable = 0
        for (shape, itemsize, requires_grad), count in kinds.items():
            rows, most = rows_of(shape, rank, ranks)
            row = prod(shape[1:])
            elements += count * rows * row
            held += count * rows * row * itemsize
            padding += count * (most - rows) * row * itemsize
            trainable += count * rows * row * itemsize * requires_grad
        share = Share(rank, rank, elements, held, padding, trainable, others)
        if found and _alike(found[-1], share):
            share = Share(found.pop().first, rank, elements, held, padding, trainable, others)
        found.append(share)
    return Sharding(ranks, tuple(found), tuple(entry.path for entry in parameters if not entry.shape))


def rows_of(shape: tuple[int, ...], rank: int, ranks: int) -> tuple[int, int]:
    """The rows that a rank holds, and those of the rank with most; a tensor without dimensions counts as one row on each."""
    if not shape:
        return 1, 1
    most = -(-shape[0] // ranks)
    return max(0, min(most, shape[0] - rank * most)), most


def _itemsize(entry: TensorEntry) -> int:
    """The memory of an element of a parameter. One that shares the memory of another needs its own on each rank."""
    import torch

    return int(getattr(torch, entry.dtype).itemsize)


def _alike(one: Share, other: Share) -> bool:
    return (one.parameters, one.bytes, one.padding_bytes, one.trainable_bytes) == (
        other.parameters,
        other.bytes,
        other.padding_bytes,
        other.trainable_bytes,
    )
