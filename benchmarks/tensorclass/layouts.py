"""The shapes of class that are compared: three fields, ten fields, and two fields with a nested class of three."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from qten_gen import TensorClass


@dataclass(frozen=True)
class Layout:
    """A class to be compared: its name, the names of its tensor fields, and the layouts of its nested fields."""

    name: str
    tensors: tuple[str, ...]
    nested: dict[str, Layout] = field(default_factory=dict)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields in the order of the constructor."""
        return (*self.tensors, *self.nested)


THREE = Layout("Three", tuple("qkv"))
TEN = Layout("Ten", tuple(f"f{number}" for number in range(10)))
NESTED = Layout("Nested", ("x", "y"), {"inner": THREE})

LAYOUTS = (THREE, TEN, NESTED)


class Three(TensorClass):
    """Three tensors."""

    q: Tensor
    k: Tensor
    v: Tensor


class Ten(TensorClass):
    """Ten tensors."""

    f0: Tensor
    f1: Tensor
    f2: Tensor
    f3: Tensor
    f4: Tensor
    f5: Tensor
    f6: Tensor
    f7: Tensor
    f8: Tensor
    f9: Tensor


class Nested(TensorClass):
    """Two tensors and a nested object of three."""

    x: Tensor
    y: Tensor
    inner: Three


GENERATED: dict[str, type] = {"Three": Three, "Ten": Ten, "Nested": Nested}
"""The declared class of each layout, by its name."""
