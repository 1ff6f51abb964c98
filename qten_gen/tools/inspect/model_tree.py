"""What a model holds, as data: a tree of modules and their tensors; sums over it, and what training needs beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

TensorKind = Literal["parameter", "buffer", "attribute"]


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor under one of its names."""

    name: str
    """Its name in its module: `weight`."""
    path: str
    """Its name in the model: `blocks.0.norm.weight`."""
    kind: TensorKind
    """An `attribute` is neither parameter nor buffer, so that neither `.to` nor the state dict knows it."""
    shape: tuple[int, ...]
    dtype: str
    """Torch's name: `float32`."""
    device: str
    elements: int
    """Its elements; 0 under a name that is tied to an earlier one."""
    bytes: int
    """The memory of these elements."""
    requires_grad: bool = False
    persistent: bool = True
    """Whether a buffer is in the state dict."""
    tied_to: str | None = None
    """The path under which the same tensor came first."""
    is_initialised: bool = True
    """Whether it has a shape: a tensor of a lazy module, such as `nn.LazyLinear`, gets one when the module is first called."""


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """A module under one of its names, with what it holds."""

    name: str
    path: str
    """Its name in the model, empty for the model itself."""
    kind: str
    """The name of its class."""
    tensors: tuple[TensorEntry, ...]
    children: tuple[ModuleEntry, ...]
    same_as: str | None = None
    """The path under which the same module came first; then tensors and children are listed there."""
    parameters: int = field(init=False)
    """The elements of its parameters and those of its children."""
    bytes: int = field(init=False)
    """The memory of all its tensors."""

    def __post_init__(self) -> None:
        own = sum(entry.elements for entry in self.tensors if entry.kind == "parameter")
        size = sum(entry.bytes for entry in self.tensors)
        object.__setattr__(self, "parameters", own + sum(child.parameters for child in self.children))
        object.__setattr__(self, "bytes", size + sum(child.bytes for child in self.children))

    def all_tensors(self) -> Iterator[TensorEntry]:
        """Its tensors, then those of its children."""
        for entry in self.all_modules():
            yield from entry.tensors

    def all_modules(self) -> Iterator[ModuleEntry]:
        """Itself, then its children, however deep they nest."""
        waiting: list[ModuleEntry] = [self]
        while waiting:
            entry = waiting.pop()
            yield entry
            waiting.extend(reversed(entry.children))


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
