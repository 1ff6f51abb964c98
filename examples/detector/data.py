"""Images of circles, squares and triangles, drawn when they are read. Some images are empty."""

import torch
from torch import Tensor
from torch.utils.data import Dataset

from .model import Objects, Scene, overlap

KINDS = ("circle", "square", "triangle")


class Scenes(Dataset[Scene]):
    """As many scenes as are asked for. The number of a scene is its seed, so that every worker draws the same."""

    def __init__(self, count: int, first: int = 0, side: int = 64) -> None:
        self.numbers = range(first, first + count)
        self.side = side

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> Scene:
        chance = torch.Generator().manual_seed(self.numbers[index])
        objects = scattered(int(torch.randint(10, (), generator=chance)), self.side, chance)
        noise = torch.randn(1, self.side, self.side, generator=chance)
        image = 0.6 + 0.3 * torch.rand(3, 1, 1, generator=chance) + 0.03 * noise
        for one in objects:
            colour = 0.8 * torch.rand(3, 1, 1, generator=chance)
            image = image.lerp(colour, coverage(one, self.side))
        return Scene(image.clamp(0, 1), objects)


def scattered(most: int, side: int, chance: torch.Generator) -> Objects:
    """Objects at random places; what would cover an earlier one is left out."""
    radius = 5 + 7 * torch.rand(most, 1, generator=chance)
    centre = radius + (side - 2 * radius) * torch.rand(most, 2, generator=chance)
    boxes = torch.cat([centre - radius, centre + radius], dim=1)
    labels = torch.randint(len(KINDS), (most,), generator=chance)
    apart = (overlap(boxes[:, None], boxes).tril(-1) == 0).all(1)
    return Objects(boxes, labels, batch_size=most)[apart]


def coverage(one: Objects, side: int) -> Tensor:
    """How much of each pixel an object covers, from 0 to 1."""
    left, top, right, bottom = one.boxes
    radius, pixel = (right - left) / 2, torch.arange(side) + 0.5
    x, y = (pixel - (left + right) / 2).abs(), (pixel - (top + bottom) / 2)[:, None]
    circle = (x.square() + y.square()).sqrt() - radius
    square = x.maximum(y.abs()) - radius
    triangle = (y - radius).maximum((2 * x - y - radius) / 5**0.5)
    return (0.5 - torch.stack([circle, square, triangle])[one.labels]).clamp(0, 1)
