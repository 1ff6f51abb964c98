"""The request of a user to `qten-gen inspect`, and the error for one that cannot be met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """The model to inspect, and what to find out about it. All values are text as the user wrote it."""

    target: str
    """Where the model is, with arguments or without: `pkg.model:Decoder`, `pkg.model:Decoder(depth=48)`."""
    config: tuple[str, ...] = ()
    """More arguments of its constructor: `("depth=48", "dim=8192")`."""
    inputs: tuple[str, ...] | None = None
    """The inputs to run forward with: `("tokens: Int[4,2048]",)`; None for no run, empty for a forward without inputs."""
    mesh: str | None = None
    """The mesh that a sharding plan is for: `tp=8,ep=4`."""
    plan: str | None = None
    """Where the plan is, `shop/plans.py:tp_plan`; None for the model's own."""
    dtype: str | None = None
    device: str = "cpu"
    import_roots: tuple[str, ...] = ()
    """Folders to import from, beside `sys.path`."""


class InspectionError(Exception):
    """Why a model cannot be inspected: everything that is wrong, a line each."""

    def __init__(self, problems: Sequence[str], *, is_misuse: bool = True, trace: str = "") -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
        self.is_misuse = is_misuse
        """Whether the arguments of the command are wrong, rather than the model."""
        self.trace = trace
        """The frames of the user's code that led to it, as Python prints them; empty for none."""
