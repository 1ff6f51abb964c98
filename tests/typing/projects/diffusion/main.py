"""Training with an EMA, sampling with generators, gradients through torch.func."""

from __future__ import annotations

import asyncio
import copy
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from typing import Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, assert_type

import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from diffusion import model as declared
from diffusion.model_qten import Denoiser, Diffusion, Noisy, Prediction, Schedule

P = ParamSpec("P")
R = TypeVar("R")


class Stats(TypedDict):
    loss: float
    norm: float


class Sampler(Protocol):
    def __call__(self, noisy: Noisy, /) -> Prediction: ...


def counted(fn: Callable[Concatenate[Diffusion, P], R]) -> Callable[Concatenate[Diffusion, P], R]:
    @functools.wraps(fn)
    def inner(model: Diffusion, /, *args: P.args, **kwargs: P.kwargs) -> R:
        counts["called"] = counts.get("called", 0) + 1
        return fn(model, *args, **kwargs)

    return inner


counts: dict[str, int] = {}


class Ema:
    def __init__(self, model: Diffusion, decay: float) -> None:
        self.model: Diffusion = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model: Diffusion) -> None:
        state = model.state_dict()
        for name, tensor in self.model.state_dict().items():
            tensor.lerp_(state[name].to(tensor.dtype), 1 - self.decay)


@counted
def loss_of(model: Diffusion, clean: Tensor, generator: torch.Generator | None = None) -> Tensor:
    noisy, predicted = model(clean, generator=generator)
    return (predicted.noise - noisy.image).pow(2).mean()


def walk(model: Sampler, schedule: Schedule, start: Tensor) -> Generator[Noisy, None, Tensor]:
    image = start
    for step in reversed(range(schedule.steps)):
        noisy = Noisy(image, torch.full(image.shape[:1], step), batch_size=image.shape[:1])
        yield noisy
        predicted = model(noisy)
        signal, rest = schedule.at(noisy.time)
        image = (image - rest[:, None] * predicted.noise) / signal[:, None]
    return image


def collect(steps: Generator[Noisy, None, Tensor]) -> tuple[list[Noisy], Tensor]:
    seen: list[Noisy] = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as stop:
            return seen, stop.value


async def stream(count: int) -> AsyncIterator[Tensor]:
    for at in range(count):
        await asyncio.sleep(0)
        yield torch.full((2, 4), float(at))


async def train(model: Diffusion, ema: Ema, each: Callable[[Stats], Awaitable[None]]) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    async for clean in stream(3):
        loss = loss_of(model, clean, generator=torch.Generator().manual_seed(0))
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        ema.update(model)
        await each({"loss": loss.item(), "norm": float(sum(float(p.detach().abs().sum()) for p in model.parameters()))})


def per_sample(model: Denoiser, noisy: Noisy) -> dict[str, Tensor]:
    parameters = {name: tensor.detach() for name, tensor in model.named_parameters()}

    def one(given: dict[str, Tensor], image: Tensor, time: Tensor) -> Tensor:
        found: Prediction = functional_call(model, given, (Noisy(image[None], time[None], batch_size=[1]),))
        return found.noise.sum()

    found: dict[str, Tensor] = vmap(grad(one), in_dims=(None, 0, 0))(parameters, noisy.image, noisy.time)
    return found


def norms(tensors: Iterable[Tensor]) -> list[int]:
    return [tensor.dim() for tensor in tensors]


def main() -> None:
    torch.manual_seed(0)
    model = Diffusion(4)
    ema = Ema(model, 0.9)
    kept: list[Stats] = []

    async def keep(stats: Stats) -> None:
        kept.append(stats)

    asyncio.run(train(model, ema, keep))
    print(len(kept), counts, model.denoiser.hidden)
    steps, image = collect(walk(ema.model.denoiser, ema.model.schedule, torch.randn(3, 4)))
    print(len(steps), image.shape, steps[-1].rms().dim())
    assert_type(Noisy.stack(steps).image, Tensor)
    noisy, predicted = model(torch.randn(3, 4))
    assert_type(noisy, Noisy)
    variance = predicted.variance
    print(variance is not None and variance.shape, noisy.replace(time=noisy.time + 1).time.dtype)
    print(norms(per_sample(model.denoiser, noisy).values())[:2])
    schedule: declared.Schedule = declared.Schedule(5, "cosine")
    first, *others = schedule.alphas.unbind()
    print(first.dim(), len(others), schedule.kind)
    sampler: Sampler = model.denoiser
    print(sampler(noisy).noise.requires_grad)
    table: dict[str, Callable[[Noisy], Prediction]] = {"model": model.denoiser, "ema": ema.model.denoiser}
    for name, predict in table.items():
        print(name, predict(noisy).batch_size)
    compiled = functools.partial(model.schedule.forward, time=torch.zeros(3, dtype=torch.long), noise=torch.zeros(3, 4))
    print(compiled(torch.ones(3, 4)).image.shape)
    groups = model.optimizer_groups({})
    print(len(list(groups)))


main()
