"""Mistakes with samplers, and with names of tensors that do not exist."""

from typing import Protocol

import torch
from torch import Tensor

from diffusion.model_qten import Denoiser, Diffusion, Noisy, Prediction, Schedule


class Scorer(Protocol):
    """What no denoiser is: it gives a Prediction."""

    def __call__(self, noisy: Noisy, /) -> Tensor: ...


x = torch.ones(2, 4)
denoiser = Denoiser(4)
noisy = Noisy(x, torch.zeros(2, dtype=torch.long), batch_size=2)
prediction: Prediction = denoiser(x)  # E
pairs: list[Prediction] = denoiser(noisy)  # E
noisy.image = x  # E
Schedule(4, "quadratic")  # E
Diffusion(4).denoiser.learnt  # E
Denoiser(4, hidden=3)  # E
