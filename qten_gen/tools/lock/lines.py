"""A lock as data: a line for each tensor of a model, or for each field of a TensorClass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

UNSAVED = "unsaved"
"""The kind of a buffer that is not in the state dict."""

UNNAMED = 1
"""The version of a plain nn.Module that names none; its lock does not name it either."""

TIE = "="
"""The kind of a second name of a tensor."""


class Line(NamedTuple):
    """A tensor under one of its names, or several equal ones whose names differ in numbers: `blocks.{0-47}.norm.weight`."""

    name: str
    dtype: str = ""
    """Torch's name, `float32`; of a field, jaxtyping's name or the type of a Python value. Empty for a tie."""
    kind: str = TIE
    """`param`, `buffer`, `unsaved` or `=`; of a field, how a TensorClass stores it."""
    shape: str = ""
    """`[192, 64]`; `[]` for a scalar, and `?` for a tensor without a shape yet."""
    declared: str = ""
    """The declaration: `[3*width, width]`, or the layer that holds the tensor, `Linear(width, 3*width)`."""
    tie: str = ""
    """For a tie, the name under which the tensor stands first."""
    kept: bool = False
    """Whether its dtype stays where the module is cast: `keep_dtype=True`."""

    @property
    def is_saved(self) -> bool:
        """Whether checkpoints hold it."""
        return self.kind != UNSAVED


class Lock(NamedTuple):
    """The content of a model's checkpoints."""

    target: str
    """The model with its arguments: `shop.model:Decoder(width=64, depth=2)`."""
    versions: Mapping[str, int]
    """The `version` of each declared class of the model, and of each plain one that names one, by its name."""
    lines: tuple[Line, ...]
    declarations: Mapping[str, str] = {}
    """Digests of the declarations that it follows from, by generated file (see `digests`)."""
    earlier: tuple[Lock, ...] = ()
    """The locks under lower versions, the newest first."""
