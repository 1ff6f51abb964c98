"""A program over three files, in all mixtures: functions that take one of the two types, values from either import. It runs."""

import asyncio
from collections.abc import Sequence
from typing import assert_type

import torch
from atlas import maps, places, routes
from atlas.maps_qten import EMPTY, Critic, Layer, Map, Reader, RoadMap, count, draw, read_map
from atlas.places_qten import START, Note, Place, Town, origin
from atlas.routes_qten import Route
from torch import Tensor


def show(map: Map) -> Tensor:
    return map.heights


def show_declared(map: maps.Map) -> Tensor:
    return map.heights


def show_all(all: Sequence[maps.Map]) -> int:
    return len(all)


def methods(map: Map, other: maps.Map, town: Town) -> None:
    assert_type(map.flipped(), Map)
    assert_type(map.flipped(times=2).flipped().first, Map)
    show(map.flipped())
    show_declared(map.flipped())
    assert_type(map.ends, tuple[Place, Place])
    assert_type(map.twin, Map)
    map.twin = map
    map.twin = other
    assert_type(map.legend(), maps.Map.Legend)
    assert_type(map.note(town), Note[Town])
    assert_type(map.note(town).place(), Town)
    assert_type(map.note(town).about.moved(torch.ones(2)), Town)
    notes = [Note(map.at, map.heights, batch_size=map.batch_size)]
    assert_type(notes, list[Note[Place]])
    map.read(notes)
    map.read([places.Note(other.at, other.heights, batch_size=other.batch_size)])
    assert_type(map.halves(), list[Map])
    show_all(map.halves())
    map.among([map, other])
    map.among(map.halves())
    map.among(other.halves())
    assert_type(map.by_title()["a map"], Map)
    assert_type(Map.together([map, other]), Map)
    assert_type(Map.joined(map, other, dim=0), Map)
    assert_type(map.raised(), Map)
    with map.unrolled() as unrolled:
        assert_type(unrolled, Map)
    assert_type(map.pick(0), Map)
    assert_type(map.pick("heights"), Tensor)
    map.measured(show)
    map.measured(show_declared)
    assert_type(map.highest(), Tensor)
    assert_type(map.route(), Route)
    assert_type(map.route().drawn(), Map)


def wrong_methods(map: Map, town: Town) -> None:
    map.flipped("once")  # E
    print(map.flipped().at.typo)  # E
    map.twin = town  # E
    map.note(map.at)  # E
    map.among([map, town])  # E
    Map.together([town])  # E
    map.measured(len)  # E
    map.pick(1.5)  # E


async def wait(map: Map) -> None:
    assert_type(await map.later(), Map)
    async for each in map.stream():
        assert_type(each, Map)


def inherited(road_map: RoadMap, town: Town) -> None:
    assert_type(road_map.flipped(), RoadMap)
    assert_type(road_map.first, Map)
    assert_type(road_map.flipped().roads, Tensor | None)
    assert_type(town.mirrored(), Place)
    assert_type(town.moved(torch.ones(2)), Town)
    assert_type(Town.middle([town]), Place)
    assert_type(Place.farthest([town]), Place)
    show(road_map)


def wrong_inherited(road_map: RoadMap) -> None:
    print(road_map.first.roads)  # E


def modules(reader: Reader, map: Map, other: maps.Map) -> None:
    assert_type(reader(torch.ones(2)), Tensor)
    assert_type(reader(map), Map)
    assert_type(reader(other, scale=2.0), Map)
    assert_type(reader("text"), list[Map])
    assert_type(reader.home, Place)
    reader.home = places.origin()
    assert_type(reader.way_home([map.at, other.at]), Place)
    assert_type(reader.deepest(), Layer)
    assert_type(reader.all_layers, list[Layer])
    assert_type(reader.layers[0](torch.ones(2)), Tensor)
    assert_type(reader.zero, Tensor)
    assert_type(read_map(reader, map), Map)
    critic = Critic()
    assert_type(critic(torch.ones(2)), Tensor)
    assert_type(critic(map), Map)
    assert_type(critic.forward(other, times=2), Map)


def wrong_modules(reader: Reader, critic: Critic, map: Map) -> None:
    reader(map.at)  # E
    reader(map, times=2)  # E
    critic(map.at)  # E
    critic(torch.ones(2), times=2)  # E
    reader.way_home([map])  # E


def declared(reader: maps.Reader, critic: maps.Critic, map: maps.Map) -> None:
    assert_type(reader(map.heights), Tensor)
    reader(map)  # E
    assert_type(critic(map), maps.Map)
    assert_type(critic(draw(), times=3), maps.Map)
    assert_type(critic(map.heights), Tensor)
    assert_type(maps.same(draw()), Map)
    assert_type(maps.draw(), maps.Map)
    maps.read_map(reader, draw())
    show_all([draw(), map])
    places.Place.farthest([START, places.START])
    routes.Route(map.heights, batch_size=map.batch_size).drawn()


def wrong_declared(reader: maps.Reader, critic: maps.Critic, map: maps.Map) -> None:
    reader(b"bytes")  # E
    reader(map.heights, 2.0)  # E
    reader(map.heights, size=2)  # E
    critic(map.at)  # E
    critic(map.heights, times=2)  # E
    critic("map")  # E


def functions() -> None:
    assert_type(draw(2), Map)
    assert_type(EMPTY, Map)
    assert_type(START, Place)
    assert_type(origin().mirrored(), Place)
    count([draw()])
    count([maps.draw(), draw()])
    count(maps.draw().halves())
    count(draw().halves())


def wrong_functions() -> None:
    count([START])  # E
    draw("3")  # E


def main() -> None:
    map, other = draw(), maps.draw()
    town = Town(torch.ones(3, 2), torch.ones(3), batch_size=[3])
    methods(map, other, town)
    asyncio.run(wait(map))
    inherited(RoadMap(torch.ones(3, 2), map.at, batch_size=[3]), town)
    reader = Reader(origin())
    modules(reader, map, other)
    declared(maps.Reader(origin()), Critic(), map)
    functions()


if __name__ == "__main__":
    main()
