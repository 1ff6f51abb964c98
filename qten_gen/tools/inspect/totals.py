"""Sums over a model: what it holds by kind, dtype and device, and what training needs beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .model_tree import ModuleEntry, TensorEntry


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of elements, and their memory."""

    elements: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over a model. A tensor with several names is counted once."""

    parameters: Amount
    trainable: Amount
    """The parameters that require a gradient, so the memory of gradients too."""
    buffers: Amount
    unsaved_buffers: Amount
    """The buffers that are not in the state dict."""
    attributes: Amount
    """Tensors that are neither parameters nor buffers."""
    by_dtype: Mapping[str, Amount]
    """Of all tensors, the largest amount first."""
    by_device: Mapping[str, Amount]
    adamw: int
    """The memory of the states of `torch.optim.AdamW`."""


def totals_of(tree: ModuleEntry) -> Totals:
    """The sums over a model."""
    entries = [entry for entry in tree.all_tensors() if entry.tied_to is None]
    buffers = [entry for entry in entries if entry.kind == "buffer"]
    parameters = [entry for entry in entries if entry.kind == "parameter"]
    trained = [entry for entry in parameters if entry.requires_grad and entry.is_initialised]
    return Totals(
        amount(parameters),
        amount(trained),
        amount(buffers),
        amount(entry for entry in buffers if not entry.persistent),
        amount(entry for entry in entries if entry.kind == "attribute"),
        _by(entries, lambda entry: entry.dtype),
        _by(entries, lambda entry: entry.device),
        2 * amount(trained).bytes + _STEP * len(trained),
    )


_STEP = 4
"""The bytes of a counter of steps, which AdamW keeps for each parameter beside two moments of its dtype."""


def amount(entries: Iterable[TensorEntry]) -> Amount:
    """The sum over some tensors."""
    found = list(entries)
    return Amount(sum(entry.elements for entry in found), sum(entry.bytes for entry in found))


def _by(entries: list[TensorEntry], key: Callable[[TensorEntry], str]) -> dict[str, Amount]:
    names = dict.fromkeys(map(key, entries))
    found = {name: amount(entry for entry in entries if key(entry) == name) for name in names}
    return dict(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0])))
