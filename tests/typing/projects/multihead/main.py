"""Trains both against each other, with several threads and tasks."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise, starmap
from typing import assert_type

import torch
from torch import Tensor, nn

from multihead.handlers import total, weight
from multihead.handlers_qten import Describe, judge
from multihead.model_qten import Discriminator, Generator, Noise, Photo, Picture, Verdict

binary = nn.functional.binary_cross_entropy_with_logits


def against(verdict: Verdict, wanted: float) -> Tensor:
    losses = {name: binary(score, torch.full_like(score, wanted)) for name, score in verdict.scores.items()}
    return total(losses)


def play(generator: Generator, discriminator: Discriminator, real: Picture) -> tuple[float, float]:
    optimizers = [torch.optim.Adam(module.parameters()) for module in (generator, discriminator)]
    fake = generator(Noise.sample(len(real)))
    loss = against(discriminator(real), 1.0) + against(discriminator(fake.detach()), 0.0)
    torch.autograd.backward(loss)
    optimizers[1].step()
    other = against(discriminator(fake, sigma=0.1), 1.0)
    torch.autograd.backward(other)
    optimizers[0].step()
    for optimizer in optimizers:
        optimizer.zero_grad()
    return loss.item(), other.item()


async def pictures(generator: Generator, count: int) -> AsyncIterator[Picture]:
    for _ in range(count):
        await asyncio.sleep(0)
        yield generator(Noise.sample(2))


async def judged(generator: Generator, discriminator: Discriminator) -> list[Verdict]:
    found = [discriminator(one) async for one in pictures(generator, 2)]
    more = await asyncio.gather(*(asyncio.to_thread(judge, discriminator, one) for one in [generator(Noise.sample(1))]))
    return [*found, *more]


def main() -> None:
    torch.manual_seed(0)
    generator, discriminator = Generator(), Discriminator(tasks=("real", "kind"))
    describe = Describe()
    real = Picture(torch.rand(4, 6), torch.arange(4), batch_size=4)
    losses = [play(generator, discriminator, real) for _ in range(2)]
    print(len(losses), all(starmap(lambda a, b: a > 0 and b > 0, losses)))

    photo = Photo(torch.rand(2, 6), paths=["a.png", "b.png"], batch_size=2)
    items: list[Picture] = [real[:2], photo, generator(Noise.sample(2))]
    verdicts = list(map(discriminator, items))
    print([verdict.task for verdict in verdicts], [describe(item) for item in items])
    assert_type(discriminator(photo), Verdict)
    print(discriminator(photo).task, describe(verdicts[0], digits=2), describe(Noise.sample(3)))
    every = discriminator(items)
    print(len(every), [one.scores["real"].shape for one in every], verdicts[0].worst().batch_size)

    ordered = sorted(items, key=weight, reverse=True)
    by_sum = sorted(items, key=lambda one: one.pixels.sum().item())
    print(len(ordered), max(by_sum, key=operator.attrgetter("pixels.shape")).batch_size)
    noisy: Callable[[Picture], Picture] = partial(Picture.noisy, sigma=0.5)
    print([one.pixels.shape for one in map(noisy, items)])
    print([(a - b).pixels.shape for a, b in pairwise([real, real.noisy(0.1)])])
    pairs = dict(zip(("first", "second"), verdicts, strict=False))
    print({name: verdict.task for name, verdict in pairs.items()}, verdicts[1].kind.shape)
    by_kind = {int(one.kind): one.pixels for one in real if one.kind is not None}
    print(sorted(by_kind), {type(one) for one in items} == {Picture, Photo})

    with ThreadPoolExecutor(2) as pool:
        futures: list[Future[Verdict]] = [pool.submit(judge, discriminator, one) for one in items]
        done = [future.result() for future in futures]
        counts = list(pool.map(lambda item: len(discriminator(item)), items))
    print(len(done), counts)
    found = asyncio.run(judged(generator, discriminator))
    print([len(verdict) for verdict in found])
    head = discriminator.heads["real"]
    print(head.weight.shape, list(discriminator.heads), "kind" in discriminator.heads)
    for name, layer in discriminator.heads.items():
        print(name, layer.in_features)
    first = generator.body[0]
    print(isinstance(first, nn.Linear), len(generator.body))
    photos = [one for one in items if isinstance(one, Photo)]
    print(photos[0].paths[0].item(), photos[0].noisy(0.1).pixels.shape)
    match items[1]:
        case Photo(paths=paths):
            print("photo", len(paths))
        case Picture(pixels=pixels):
            print("picture", pixels.shape)


main()
