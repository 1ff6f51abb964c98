"""What the tree of a module says of a module and of a tensor in it, beside their names."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from ...showing.numbers import TIMES, sizes
from .folding import Folded
from .model_tree import TensorEntry

C = TypeVar("C", bound=Hashable)


def module_label(node: Folded[C]) -> tuple[str, str]:
    """The name of a module, and its class with how many there are of it."""
    entry = node.entry
    kind = f"{node.count} {TIMES} {entry.kind}" if node.count > 1 else entry.kind
    if entry.same_as is not None:
        kind = f"{kind} (same module as {entry.same_as or 'the model'})"
    return (node.label, kind) if node.label else (kind, "")


def tensor_note(entry: TensorEntry) -> str:
    """What is special about a tensor."""
    words = [] if entry.is_initialised else ["uninitialised"]
    if entry.kind == "buffer":
        words.append("buffer" if entry.persistent else "buffer, not saved")
    if entry.kind == "attribute":
        words.append("neither parameter nor buffer")
    if entry.kind == "parameter" and not entry.requires_grad:
        words.append("frozen")
    if entry.tied_to:
        words.append(f"tied to {entry.tied_to}")
    if entry.shares_with:
        words.append(f"memory of {entry.shares_with}")
    return f"({'; '.join(words)})" if words else ""


def tensor_sizes(entry: TensorEntry) -> str:
    """`[4, 128]`; empty for a tensor that has no shape yet."""
    return sizes(entry.shape) if entry.is_initialised else ""
