"""A module with handlers for classes of many kinds, in an order that says nothing about them."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor, nn

from qten_gen import Functional, Module, TensorClass


class Item(TensorClass):
    x: Tensor


class Part(Item):
    y: Tensor | None = None


@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...


class Door:
    def close(self) -> None: ...


class Gate(Door): ...


class Hatch(Module, Gate, abc.ABC):
    """Its bases have no call of their own that checkers would compare with that of Module."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class Net(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@Net.register(object)
def for_object(net: Net, x: object) -> int:
    return 0


@Net.register(Mapping)
def for_mapping(net: Net, x: Mapping[str, int]) -> bytes:
    return b""


@Net.register(dict)
def for_dict(net: Net, x: dict[str, int]) -> str:
    return ""


@Net.register(float)
def for_float(net: Net, x: float) -> range:
    return range(0)


@Net.register(int)
def for_int(net: Net, x: int) -> list[int]:
    return []


@Net.register(bool)
def for_bool(net: Net, x: bool) -> float:
    return 1.0


@Net.register(Item)
def for_item(net: Net, x: Item) -> complex:
    return 1j


@Net.register(Closable)
def for_closable(net: Net, x: Closable) -> bytearray:
    return bytearray()


@Net.register(Door)
def for_door(net: Net, x: Door) -> set[int]:
    return set()


@Net.register(nn.Parameter)
def for_parameter(net: Net, x: nn.Parameter) -> tuple[int]:
    return (1,)


@Net.register(Sequence)
def for_sequence(net: Net, x: Sequence[int]) -> frozenset[int]:
    return frozenset()


@Net.register(list | tuple)
def for_list(net: Net, x: list[int] | tuple[int, ...]) -> type:
    return int


class Name(Functional):
    """The name of a thing."""


@Name.register(object)
def name_of_object(name: Name, x: object) -> int:
    return 0


@Name.register(Item)
def name_of_item(name: Name, x: Item) -> str:
    return "item"


@Name.register(Part)
def name_of_part(name: Name, x: Part) -> bytes:
    return b"part"


class Encoder(Module):
    """`forward` takes what a handler takes as well."""

    def forward(self, item: Item) -> Tensor:
        return item.x


@Encoder.register(Part)
def encode_part(encoder: Encoder, part: Part) -> tuple[Tensor, int]:
    return part.x, 1
