"""The findings of a run of forward and backward, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .shape_matching import Mismatch


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a module."""

    path: str
    """The module in the model, by its first name."""
    kind: str
    """The name of its class."""
    function: str
    """The function that ran: `Attention.forward`, or a handler."""
    inputs: str
    """The shapes in its arguments: `float32 [3, 128]`."""
    output: str | None
    """The tensors in the result; None if it raised."""
    flops: int
    """Floating point operations, those of the modules that it calls included."""


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
    failure: Failure | None
    forward_flops: int
    backward_flops: int | None
    """None if there was no backward pass."""
    flops_by_operation: Mapping[str, int]
    """Of the forward pass: `{"mm": 1024}`."""
    activation_bytes: int
    """Memory that autograd keeps between forward and backward, without parameters and buffers; shared memory once."""
    training: bool
    """Whether the model was in training mode."""
    made_inputs: tuple[str, ...] = ()
    """The inputs, if they were made from annotations: `("tokens: Int[7, 11]",)`."""
