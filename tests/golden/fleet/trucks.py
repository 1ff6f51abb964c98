"""Names that also exist in another file, and generic parents with arguments."""

from __future__ import annotations

from torch import Tensor

from qten_gen import TensorClass

from . import parts
from .parts import Gauge, Tagged


class Wheel(TensorClass):
    """Another wheel than that of `parts`."""

    axle: Tensor


class WheelDict(TensorClass):
    """Has the name of a type that the stub adds for `Wheel`."""

    pages: Tensor


class Truck(Tagged[int], nocast=True):
    """Both kinds of wheel in one class."""

    front: parts.Wheel
    rear: Wheel


class Convoy(TensorClass):
    """Reaches through fields of other files."""

    first: Truck
    cargo: Tagged[str]
    spare: parts.Wheel | None = None


@Gauge.register(Truck)
def measure_truck(gauge: Gauge, truck: Truck) -> parts.Wheel:
    """The front wheel."""
    return truck.front


@Gauge.register(str)
def measure_name(gauge: Gauge, name: str, /, *rest: int, factor: int, **words: str) -> int:
    """Every kind of parameter."""
    return len(name) * factor
