"""The indices of an object, or of the values of a PerItem field."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

from torch import Tensor

IndexItem = int | slice | EllipsisType | Tensor | Sequence[int] | Sequence[bool] | range | None
"""One part of an index."""

Index = IndexItem | tuple[IndexItem, ...]
"""An index of an object: along its batch dimensions only, never by a field's name."""

PlainIndexItem = int | slice | Tensor | None
"""One part of a plain index; a tensor in it holds positions, of dtype long or int. A bool is a mask of no dimensions."""

PlainIndex = PlainIndexItem | tuple[PlainIndexItem, ...]
"""An index that can be applied to every tensor: lists, masks and ellipses are resolved."""
