"""Mistakes with networks, heads and handlers of other files."""

import torch
from torch import Tensor

from multihead.handlers_qten import Describe
from multihead.main import against, play
from multihead.model_qten import Discriminator, Generator, Noise, Photo, Picture, Verdict

discriminator, generator, noise = Discriminator(), Generator(), Noise.sample(2)
picture = generator(noise)
discriminator(picture, sgima=1.0)  # E
discriminator(noise.batch_size)  # E
against(picture, 1.0)  # E
play(discriminator, generator, picture)  # E
Describe()(3)  # E
Photo(picture.pixels, batch_size=2)  # E
picture.kind.sum()  # E
judged: Tensor = discriminator(picture)  # E
Verdict({"real": torch.ones(2)}, task="fake", batch_size=2)  # E
[one.scores["real"].shpae for one in discriminator(picture)]  # E
found: list[Photo] = [picture.noisy(0.1)]  # E
Picture(picture.pixels, kind="cat", batch_size=2)  # E
discriminator.temperature.shpae  # E
Generator(dims=4)  # E
photo: Photo = picture.to("cpu")  # E
discriminator.heads["real"].wieght  # E none
