"""The objects that a hand-written `__init__` registers: parameters, buffers and children, by name or by assignment."""

from __future__ import annotations

from enum import Enum

from ..common.records import record
from .field_parts import TypeExpr


class RegisteredKind(Enum):
    """The kind of object that a statement registers."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    CHILD = "child"
    NONE = "none"
    """None, which any of them can be."""
    OTHER = "other"
    """A value that the text does not tell: `setattr(self, "scale", scale)`."""


@record(frozen=True, slots=True)
class Registered:
    """One statement that registers a name: `self.register_buffer("mask", mask)`, `self.norm = nn.LayerNorm(dim)`."""

    name: str
    kind: RegisteredKind
    by_name: bool = False
    """Whether the name is a string, which type checkers do not see."""
    may_be_none: bool = False
    """Whether the value is a parameter of the method that is None by default."""
    type: TypeExpr | None = None
    """The class of a child, as far as a call says it; for a list of children, that of each."""
    container: str = ""
    """`ModuleList` or `ModuleDict` for children of one class in one of them."""

    @property
    def is_tensor(self) -> bool:
        """Whether it is a parameter or a buffer, which may be None."""
        return self.kind in (RegisteredKind.PARAMETER, RegisteredKind.BUFFER)
