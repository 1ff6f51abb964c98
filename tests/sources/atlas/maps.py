"""Maps, and networks over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, param, submodule, virtual

from .places import Note, Pair, Place, Town

if TYPE_CHECKING:
    from .routes import Route

M = TypeVar("M", bound="Map")


class Map(TensorClass):
    """Heights around a place."""

    heights: Tensor
    at: Place
    title: str = "a map"

    class Legend(TensorClass):
        """What the heights mean."""

        unit: Tensor

    def flipped(self, times: int = 1) -> Map:
        return self.replace(heights=self.heights.flip(-1) if times % 2 else self.heights)

    @property
    def first(self) -> Map:
        return self[0]

    @property
    def ends(self) -> Pair:
        return self.at, self.at.mirrored()

    @property
    def twin(self) -> Map:
        return self.clone()

    @twin.setter
    def twin(self, value: Map) -> None:
        self.heights = value.heights

    def legend(self) -> Legend:
        return self.Legend(self.heights, batch_size=self.batch_size)

    def note(self, town: Town) -> Note[Town]:
        return Note(town, self.heights, batch_size=self.batch_size)

    def read(self, notes: list[Note[Place]]) -> Tensor:
        return torch.stack([note.stars for note in notes])

    def halves(self) -> list[Map]:
        return [self[:1], self[1:]]

    def among(self, others: list[Map]) -> bool:
        return any(each is self for each in others)

    def by_title(self) -> dict[str, Map]:
        return {self.title: self}

    @classmethod
    def together(cls, parts: Sequence[Map]) -> Map:
        return Map.cat(list(parts))

    @staticmethod
    def joined(*parts: Map, dim: int = 0) -> Map:
        return Map.cat(list(parts), dim=dim)

    @torch.no_grad()
    def raised(self) -> Map:
        return self.replace(heights=self.heights + 1)

    @contextmanager
    def unrolled(self) -> Generator[Map, None, None]:
        yield self

    async def later(self) -> Map:
        return self

    async def stream(self) -> AsyncIterator[Map]:
        yield self

    @overload
    def pick(self, what: int) -> Map: ...
    @overload
    def pick(self, what: str) -> Tensor: ...
    def pick(self, what: int | str) -> Map | Tensor:
        return self[what] if isinstance(what, int) else self.heights

    def measured(self, measure: Callable[[Map], Tensor]) -> Tensor:
        return measure(self)

    def highest(self) -> Tensor:
        return self.heights.amax(-1)

    def route(self) -> Route:
        from .routes import Route

        return Route(self.heights, batch_size=self.batch_size)


class RoadMap(Map):
    """A map with roads."""

    roads: Tensor | None = None

    def flipped(self, times: int = 1) -> RoadMap:
        return self.replace(heights=self.heights.flip(-1))


class Layer(Module):
    """A scale for each coordinate."""

    dim: int = 2
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
        return x * self.weight * scale


class Reader(Module):
    """Reads heights, maps and titles."""

    home: Place
    dim: int = 2
    layers: ModuleList[Layer] = submodule(Layer, "dim", repeat=2)
    last: Layer = submodule(Layer, "dim")

    @overload
    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor: ...
    @overload
    def forward(self, x: Map, *, scale: float = 1.0) -> Map: ...
    @overload
    def forward(self, x: str) -> list[Map]: ...
    def forward(self, x: Any, *, scale: float = 1.0) -> Any:
        for layer in self.layers:
            x = layer(x, scale=scale)
        return self.last(x)

    def deepest(self) -> Layer:
        return self.last

    @cached_property
    def all_layers(self) -> list[Layer]:
        return [*self.layers, self.last]

    def way_home(self, places: Sequence[Place]) -> Place:
        return places[0].moved(self.home.xy)

    @virtual()
    def zero(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.zeros(2, dtype=dtype, device=device)


class Critic(Module):
    """Lists in the overloads of `forward` what it takes."""

    layer: Layer = submodule(Layer)

    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: Map, *, times: int = 1) -> Map: ...
    def forward(self, x: Tensor | Map, *, times: int = 1) -> Tensor | Map:
        return self.layer(x) if isinstance(x, Tensor) else x.flipped(times)


@Reader.register(Map)
def read_map(reader: Reader, map: Map, *, scale: float = 1.0) -> Map:
    return map.replace(heights=reader(map.heights, scale=scale))


@Reader.register(str)
def _(reader: Reader, text: str) -> list[Map]:
    return []


def draw(size: int = 3) -> Map:
    """A flat map of some places."""
    return Map(torch.ones(size, 2), Place(torch.ones(size, 2), batch_size=[size]), batch_size=[size])


def count(maps: list[Map]) -> int:
    """How many there are."""
    return len(maps)


def same(map: M) -> M:
    """What is given."""
    return map


EMPTY: Map = draw(0)
