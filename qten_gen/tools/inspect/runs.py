"""What a run of forward and backward found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .matching import Mismatch


@dataclass(frozen=True, slots=True)
class TensorShape:
    """A tensor that was passed or returned."""

    shape: tuple[int, ...]
    dtype: str
    device: str

    def __str__(self) -> str:
        return f"{list(self.shape)}"


@dataclass(frozen=True, slots=True)
class Structure:
    """A container or object that was passed or returned: a tuple, a dict, a TensorClass."""

    kind: str
    """The name of its class."""
    parts: tuple[tuple[str, Shape], ...]
    """The tensors in it by key, those in other containers too."""


@dataclass(frozen=True, slots=True)
class Other:
    """A value without tensors, in short: `True`, `None`, `a Cache`."""

    text: str


Shape = TensorShape | Structure | Other


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    path: str
    """The module in the model, by its first name."""
    kind: str
    """The name of its class."""
    function: str
    """The function that ran: `Attention.forward`, or a handler."""
    inputs: tuple[tuple[str, Shape], ...]
    """The arguments by name."""
    output: Shape | None
    """None if it raised."""
    flops: int
    """Floating point operations, those of the modules that it calls included."""
    saved_bytes: int
    """Memory that autograd keeps for the backward pass, likewise."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mismatch, and the call where it was found."""

    path: str
    """The module in the model."""
    function: str
    place: str
    """File and line of the function."""
    mismatch: Mismatch
    origin: str | None
    """Which module the tensor came out of; None for an input or what was computed in between."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that the user's code raised during the run."""

    stage: str
    """`forward` or `backward`."""
    path: str
    """The innermost module that was running."""
    problem: str
    trace: str
    """The frames of the user's code."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of forward, and of backward where the result depends on parameters."""

    calls: tuple[Call, ...]
    """The calls in the order in which they began."""
    findings: tuple[Finding, ...]
    compared: int
    """How many tensors had annotated shapes, those of every call counted."""
    alike: tuple[tuple[int, tuple[str, ...]], ...]
    """Names of dimensions that had one size in a call, with it: whether they were swapped is not known."""
    failure: Failure | None
    forward_flops: int
    backward_flops: int | None
    """None if there was no backward pass."""
    flops_by_operation: Mapping[str, int]
    """Of the forward pass: `{"mm": 1024}`."""
    activation_bytes: int
    """Memory that autograd keeps between forward and backward, without parameters and buffers; shared memory once."""
    input_bytes: int
    """How much of that is the inputs themselves."""
    training: bool
    """Whether the model was in training mode."""
    made_inputs: tuple[str, ...] = ()
    """The inputs, if they were made from annotations: `("tokens: Int[7, 11]",)`."""
