"""Trains two models with the same trainer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import torch

from callbacks.model import Example, Layer, Mlp, MlpSettings, OptimizerSettings, Prediction, Settings, Wide, describe
from callbacks.training import Callback, Frozen, Trainer, build, timed


class Printer:
    def __init__(self, every: int = 1) -> None:
        self.every = every

    def on_step(self, trainer: Trainer[Mlp], example: Example, prediction: Prediction) -> None:
        if prediction.loss is not None and len(trainer.history) % self.every == 0:
            print(len(trainer.history), example.batch_size, prediction.loss.shape, trainer.model.hidden)


class Patience:
    best: Prediction | None = None

    def on_step(self, trainer: Trainer[Mlp], example: Example, prediction: Prediction) -> bool:
        self.best = prediction
        return len(trainer.history) >= 2


def batches(settings: Settings) -> Iterator[Example]:
    for _ in range(settings.steps):
        yield Example.toy(4, settings)


@timed
@torch.no_grad()
def evaluate(model: Mlp, example: Example, *, train: bool = False) -> Prediction:
    return model.train(train)(example)


def main() -> None:
    settings = Settings({"inputs": 3, "outputs": 2, "hidden": 4}, OptimizerSettings(name="sgd"), steps=3)
    print(describe(settings))
    callbacks: list[Callback[Mlp]] = [Printer(), Patience()]
    trainer = Trainer(Mlp.from_settings(settings), settings.optimizer, callbacks)
    trained = trainer.fit(batches(settings))
    assert_type(trained.layers[0], Layer)
    prediction, seconds = evaluate(trained, Example.toy(2, settings), train=False)
    print(prediction.y.shape, seconds > 0, len(trainer.history))

    wide = Trainer(Wide(inputs=3, outputs=2), OptimizerSettings()).fit([Example.toy(4, settings)])
    print(wide.widths(), Prediction.stack(trainer.history).batch_size)
    with Frozen(wide) as frozen:
        print(frozen.hidden, any(p.requires_grad for p in frozen.parameters()))
    layer = build(Layer, 4, activation="tanh")
    print(layer(torch.zeros(2, 4)).shape, layer.activation)
    again = Mlp.from_config(trained.get_config())
    config: MlpSettings = {"inputs": 3, "outputs": 1}
    other: MlpSettings = {**config, "activation": "tanh"}
    models = [Mlp(**config), Mlp(**other), build(Wide, **config)]
    print([one.activation for one in models], again.first.weight.shape)
    by_name = {type(one).__name__: one for one in models}
    print(sorted(by_name), by_name["Wide"].hidden)
    losses = [p.loss.mean() for p in trainer.history if p.loss is not None]
    print(torch.stack(losses).shape)


main()
