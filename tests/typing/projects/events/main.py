"""Events in lists, through type guards, `singledispatch`, protocols and pattern matching."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import TypeGuard

import torch

from events import handlers, model
from events.handlers_qten import Deep, Encoder, encode_key
from events.model_qten import Click, DoubleClick, Event, Key


def clicks(stream: Iterable[Event]) -> list[Click]:
    return [event for event in stream if isinstance(event, Click)]


def is_double(click: Click) -> TypeGuard[DoubleClick]:
    return isinstance(click, DoubleClick)


@singledispatch
def name(event: object) -> str:
    return "?"


@name.register
def _(event: Key) -> str:
    return event.describe()


def position(timed: model.Timed) -> float:
    return timed.time.sum().item()


def first(stream: list[model.Event]) -> model.Event:
    return min(stream, key=position)


def main() -> None:
    click = Click(torch.zeros(2), torch.ones(2), torch.ones(2), batch_size=2)
    double = DoubleClick.of(click, click.later(1.0))
    key = Key(torch.ones(2), torch.tensor([1, 2]), batch_size=2)
    stream: list[Event] = [key, click, double]
    print([event.describe() for event in stream], [c.button for c in clicks(stream)], name(key), Event.count > 0)
    for one in clicks(stream):
        if is_double(one) and one.gap is not None:
            print(one.gap, one.point[0].shape)
    encoder = Encoder(4)
    deep = Deep(4, depth=3)
    out, depth = deep(double)
    print(encoder(click).shape, deep(key).shape, out.shape, depth, encoder(double).shape)
    print(first([key, click]).describe(), isinstance(click, model.Timed), encode_key(encoder, key).shape)
    try:
        model.Key.stack([])
    except ValueError as error:
        print(error)
    match double:
        case DoubleClick(button="left", gap=gap):
            print("left", gap)
        case _:
            pass
    print(handlers.encode_click(encoder, double).shape)


main()
