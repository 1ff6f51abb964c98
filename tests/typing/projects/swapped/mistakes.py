"""Mistakes with names that a constructor registers."""

import torch

from swapped.model_qten import Encoder, Tower

encoder = Encoder(6, depth=2)
encoder.positons  # E
encoder.scale = torch.ones(6)  # E
encoder.blocks[0].mask.sum()  # E
encoder.stem = torch.nn.Linear(2, 2)  # E
Encoder(6, depth=2, limit="10")  # E
tower = Tower(6, 1)
tower.mean.shpe  # E
tower.head(1)  # E
