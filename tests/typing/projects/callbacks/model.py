"""Settings, batches and models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal, NotRequired, TypedDict

import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, submodule


class MlpSettings(TypedDict):
    inputs: int
    outputs: int
    hidden: NotRequired[int]
    activation: NotRequired[Literal["relu", "tanh"]]


@dataclass(frozen=True)
class OptimizerSettings:
    name: Literal["sgd", "adam"] = "adam"
    lr: float = 1e-2
    betas: tuple[float, float] = (0.9, 0.99)


@dataclass
class Settings:
    model: MlpSettings
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    steps: int = 2


class Example(TensorClass):
    x: Tensor
    y: Tensor

    @classmethod
    def toy(cls, n: int, settings: Settings) -> Example:
        return cls(torch.randn(n, settings.model["inputs"]), torch.randn(n, settings.model["outputs"]), batch_size=[n])


class Prediction(TensorClass):
    y: Tensor
    loss: Tensor | None = None


class Layer(Module):
    width: int
    activation: Literal["relu", "tanh"] = "relu"
    line: nn.Linear = submodule(nn.Linear, "width", "width")

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.line(x)
        return out.relu() if self.activation == "relu" else out.tanh()


class Mlp(Module):
    inputs: int
    outputs: int
    hidden: int = 8
    activation: Literal["relu", "tanh"] = "relu"
    first: nn.Linear = submodule(nn.Linear, "inputs", "hidden")
    layers: ModuleList[Layer] = submodule(Layer, "hidden", activation="activation", repeat=2)
    last: nn.Linear = submodule(nn.Linear, "hidden", "outputs")

    def forward(self, example: Example) -> Prediction:
        x: Tensor = self.first(example.x)
        for layer in self.layers:
            x = layer(x)
        y: Tensor = self.last(x)
        return Prediction(y, ((y - example.y) ** 2).mean(-1), batch_size=example.batch_size)

    @classmethod
    def from_settings(cls, settings: Settings) -> Mlp:
        return cls(**settings.model)


class Wide(Mlp):
    hidden: int = 32

    def widths(self) -> list[int]:
        return [layer.width for layer in self.layers]


def describe(settings: Settings) -> str:
    return ", ".join(f"{key}={value}" for key, value in asdict(settings.optimizer).items())
