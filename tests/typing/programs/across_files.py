"""Types that come from other files: inherited fields, keys through nested fields, generic parents, handlers."""

from typing import assert_type

from fleet.parts import Fixed, Gauge
from fleet.parts import Wheel as PartsWheel
from fleet.trucks import Convoy, Truck, Wheel, WheelDict
from torch import Tensor


def use(convoy: Convoy, truck: Truck, gauge: Gauge, fixed: Fixed, pages: WheelDict) -> None:
    assert_type(truck.weight, Tensor)
    assert_type(truck.front, PartsWheel)
    assert_type(truck.rear, Wheel)
    assert_type(gauge(truck), PartsWheel)
    assert_type(gauge("truck", factor=2), int)
    assert_type(fixed.wheel, PartsWheel)
    fixed.wheel = truck.front  # E
