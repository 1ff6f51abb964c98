"""Checkpoints of any module, and averages of its parameters."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

import torch
from torch import Tensor, nn

from language.model import Config
from language.model_qten import Decoder
from qten_gen import Module

M = TypeVar("M", bound=nn.Module)


class Checkpoint(TypedDict):
    model: dict[str, Tensor]
    optimizer: dict[str, Any]
    config: Config
    step: int


@dataclass
class Average(Generic[M]):
    module: M
    decay: float = 0.9

    def __post_init__(self) -> None:
        self.shadow: M = copy.deepcopy(self.module).requires_grad_(False)

    @torch.no_grad()
    def update(self) -> None:
        for kept, new in zip(self.shadow.parameters(), self.module.parameters(), strict=True):
            kept.lerp_(new, 1 - self.decay)


def save(model: Decoder, optimizer: torch.optim.Optimizer, step: int) -> io.BytesIO:
    file = io.BytesIO()
    checkpoint: Checkpoint = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "config": model.config,
        "step": step,
    }
    torch.save(checkpoint, file)
    file.seek(0)
    return file


def load(file: io.BytesIO) -> tuple[Decoder, Checkpoint]:
    checkpoint: Checkpoint = torch.load(file, weights_only=False)
    model = Decoder(checkpoint["config"])
    missing, unexpected = model.load_state_dict(checkpoint["model"])
    assert not missing and not unexpected
    return model, checkpoint


def groups(model: Module, decay: float) -> list[dict[str, Any]]:
    heavy: list[nn.Parameter] = []
    light: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (light if parameter.ndim < 2 or name.endswith("scale") else heavy).append(parameter)
    return [{"params": heavy, "weight_decay": decay}, {"params": light, "weight_decay": 0.0}]


def sizes(model: nn.Module) -> Iterator[tuple[str, torch.Size]]:
    for name, child in model.named_children():
        yield name, torch.Size([sum(p.numel() for p in child.parameters())])
