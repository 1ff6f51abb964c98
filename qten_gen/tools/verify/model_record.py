"""The record of one model, as data that one process writes and another reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

Leaf = Tensor | str
"""A tensor, or the text of any other value."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a constructor."""

    name: str
    is_positional: bool
    default: str | None
    """The text of its default; None if it has to be given."""


@dataclass(frozen=True, slots=True)
class Call:
    """The results of one forward and backward."""

    outputs: dict[str, Leaf]
    """The results of forward, by their paths: `result[0].logits`. An error is the text of `error`."""
    gradients: dict[str, Tensor]
    """The gradients of parameters and floating point inputs that have one, by name."""
    state: dict[str, Tensor]
    """Parameters and buffers afterwards, such as running means."""


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a model, and its results."""

    arguments: tuple[Argument, ...]
    takes_others: bool
    """Whether the constructor takes `**keywords` of any name."""
    config: dict[str, str]
    """The arguments that it was constructed with, defaults included."""
    tree: tuple[str, ...]
    """A line for each module: its path, its class and what it says of itself."""
    state: dict[str, Tensor]
    """The state dict, in its order."""
    parameters: dict[str, str]
    """The parameters in their order, as optimizers see them; whether each has a gradient, and which one it is tied to."""
    buffers: dict[str, Tensor]
    """The names that the state dict leaves out."""
    attributes: dict[str, Leaf]
    """Public attributes of all modules that are neither tensors of the state nor modules, by their paths."""
    random_state: Tensor
    """The state of torch's generator after the constructor."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Calls in training and in evaluation mode; empty where no inputs were given."""
    unwritten: tuple[str, ...] = ()
    """Tensors whose memory the constructor left as it was, such as `torch.empty`. They got random values before the calls."""
    homes: tuple[str, ...] = ()
    """The files of the classes of its modules."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of one kind between two models."""

    kind: str
    """The kind of comparison: `keys`, `values`, `gradients in training mode`."""
    where: str
    """The name of what differs: `blocks.0.weight`; empty where the kind says it all."""
    old: str
    new: str
    more: int = 0
    """How many others of the kind differ."""
    is_note: bool = False
    """Whether it leaves the models equal, as a default that was a list and is a tuple of the same values."""
