"""What the discriminator does with each class, and a printer for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from torch import Tensor

from multihead.model import Discriminator, Noise, Photo, Picture, Verdict
from qten_gen import Functional


@Discriminator.register(Picture)
def judge(discriminator: Discriminator, picture: Picture, *, sigma: float = 0.0) -> Verdict:
    seen = picture.noisy(sigma) if sigma else picture
    return Verdict(discriminator(seen.pixels), batch_size=picture.batch_size)


@Discriminator.register(Photo)
def judge_photo(discriminator: Discriminator, photo: Photo, *, sigma: float = 0.0) -> Verdict:
    return judge(discriminator, photo, sigma=sigma).replace(task="kind")


@Discriminator.register(list)
def judge_all(discriminator: Discriminator, pictures: list[Picture]) -> list[Verdict]:
    return [judge(discriminator, one) for one in pictures]


class Describe(Functional):
    """One line about anything."""

    prefix: str = "> "


@Describe.register(Picture | Noise)
def _(describe: Describe, item: Picture | Noise) -> str:
    return f"{describe.prefix}{type(item).__name__} of {len(item)}"


@Describe.register(Verdict)
def _(describe: Describe, verdict: Verdict, *, digits: int = 1) -> str:
    return f"{describe.prefix}{sorted(verdict.scores)} {digits}"


@singledispatch
def weight(item: object) -> float:
    return 0.0


@weight.register
def _(item: Picture) -> float:
    return float(item.pixels.numel())


@weight.register
def _(item: Verdict) -> float:
    return float(sum(score.numel() for score in item.scores.values()))


def total(losses: Mapping[str, Tensor]) -> Tensor:
    first, *rest = losses.values()
    return sum(rest, start=first)
