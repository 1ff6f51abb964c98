"""A diffusion model whose tables are derived from a schedule."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, buffer, check, derived, param, submodule, virtual

Kind = Literal["linear", "cosine"]


class Noisy(TensorClass, frozen=True):
    image: Tensor
    time: Tensor

    def rms(self) -> Tensor:
        return self.image.pow(2).mean().sqrt()


class Prediction(TensorClass):
    noise: Tensor
    variance: Tensor | None = None


class Schedule(Module):
    steps: int = 10
    kind: Kind = "linear"
    betas: Tensor = buffer("steps", initializer=nn.init.ones_)

    @virtual
    def alphas(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        ramp = torch.linspace(1e-4, 0.2, self.steps, dtype=dtype, device=device)
        return 1 - (ramp if self.kind == "linear" else ramp.sin())

    @virtual
    def cumulative(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.alphas.cumprod(0)

    def at(self, time: Tensor) -> tuple[Tensor, Tensor]:
        kept = self.cumulative[time]
        return kept.sqrt(), (1 - kept).sqrt()

    def forward(self, image: Tensor, time: Tensor, noise: Tensor) -> Noisy:
        signal, rest = self.at(time)
        shape = (-1,) + (1,) * (image.dim() - 1)
        return Noisy(signal.view(shape) * image + rest.view(shape) * noise, time, batch_size=image.shape[:1])


class Denoiser(Module):
    dim: int
    hidden: int = derived("2*dim")
    depth: int = 2
    learned: bool = False
    times: nn.Embedding = submodule(nn.Embedding, 10, "hidden")
    body: ModuleList[nn.Linear] = submodule(nn.Linear, "hidden", "hidden", repeat="depth")
    enter: nn.Linear = submodule(nn.Linear, "dim", "hidden")
    leave: nn.Linear = submodule(nn.Linear, "hidden", "dim")
    variance: nn.Parameter | None = param("dim", initializer=nn.init.zeros_, when="learned")

    check("depth > 0")

    def forward(self, noisy: Noisy) -> Prediction:
        x = self.enter(noisy.image) + self.times(noisy.time)
        for layer in self.body:
            x = x + torch.nn.functional.silu(layer(x))
        out = self.leave(x)
        variance = None if self.variance is None else self.variance.expand_as(out)
        return Prediction(out, variance, batch_size=noisy.batch_size)


class Diffusion(Module):
    dim: int
    steps: int = 10
    schedule: Schedule = submodule(Schedule, "steps")
    denoiser: Denoiser = submodule(Denoiser, "dim", learned=True)

    def forward(self, clean: Tensor, generator: torch.Generator | None = None) -> tuple[Noisy, Prediction]:
        time = torch.randint(self.steps, clean.shape[:1], generator=generator)
        noisy = self.schedule(clean, time, torch.randn(clean.shape, generator=generator))
        return noisy, self.denoiser(noisy)
