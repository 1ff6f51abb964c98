"""The content of a model, as data: a tree of modules and their tensors."""

from __future__ import annotations

from collections.abc import Iterator
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
