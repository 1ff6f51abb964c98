"""Folds equal layers that were called alike: `blocks.0`, ..., `blocks.47` are shown once, as `blocks.0-47`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...runtime.module.outline import folding
from ...runtime.module.outline.model_tree import ModuleEntry
from .runs import Call

Folded = folding.Folded[Call]
"""A module, or several equal ones that follow each other."""


def fold(tree: ModuleEntry, calls: Sequence[Call] = (), *, folds: bool = True) -> Folded:
    """The tree with equal layers folded, those of equal content that were called alike; with `folds` off, as it is."""
    by_path: dict[str, list[Call]] = {}
    for call in calls:
        by_path.setdefault(call.path, []).append(call)
    return folding.fold(tree, by_path, _compared, folds=folds)


def _compared(call: Call) -> Call:
    """What autograd keeps is counted where it appears first, so it differs between layers that do the same."""
    return replace(call, path="", saved_bytes=0)
