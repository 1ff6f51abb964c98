"""Describes the bases of a class statement that declare nothing, as `rules.mixins` does for text."""

from __future__ import annotations

from ..model import Mixin
from .statement import ClassStatement


def mixins(statement: ClassStatement) -> tuple[Mixin, ...]:
    """The mixins of a class that is not created yet."""
    return tuple(_mixin(cls, is_first) for cls, is_first in statement.mixins)


def _mixin(cls: type, is_first: bool) -> Mixin:
    is_protocol = vars(cls).get("_is_protocol", False)
    abstract = {
        name for name, value in vars(cls).items() if is_protocol or getattr(value, "__isabstractmethod__", False)
    }
    return Mixin(cls.__name__, frozenset(vars(cls)), frozenset(abstract), is_first)
