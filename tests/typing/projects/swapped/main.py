"""What registers names in strings, used from the generated module and from the declaration."""

from __future__ import annotations

import torch
from torch import Tensor

from swapped import model
from swapped.model_qten import Block, Encoder, Tower


def centre(tower: Tower, x: Tensor) -> None:
    tower.mean.copy_(tower(x).mean((0, 1)))


def masked(blocks: list[Block]) -> list[Tensor]:
    return [block.mask for block in blocks if block.mask is not None]


def run(encoder: model.Encoder) -> Tensor:
    return encoder(torch.ones(1, 4, 6))


def main() -> None:
    encoder = Encoder(6, depth=2)
    tower = Tower(6, 1)
    centre(tower, torch.ones(1, 4, 6))
    print(encoder.positions.shape, encoder.scale.requires_grad, len(masked([*encoder.blocks, encoder.stem])))
    print(run(encoder).shape, run(tower).shape, tower.blocks[0].mix.weight.shape, tower.head.mask)


main()
