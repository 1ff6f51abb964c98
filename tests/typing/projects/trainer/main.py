"""Trains a classifier, with the generated classes throughout."""

from __future__ import annotations

import torch

from trainer.model import Config, Split
from trainer.model_qten import Batch, Classifier, Output
from trainer.trainer import Recorder, Trainer, stream


def make() -> Batch:
    return Batch.random(4, 6, 16)


def evaluate(model: Classifier, batch: Batch) -> float:
    with torch.no_grad():
        output = model(batch.truncated(3), with_loss=False)
    return output.accuracy(batch.labels)


def main() -> None:
    model = Classifier(Config())
    groups = model.optimizer_groups({"no_decay": {"weight_decay": 0.0}})
    recorder = Recorder()
    trainer = Trainer(model, torch.optim.AdamW(groups, lr=1e-2), [recorder])
    output = trainer.fit(stream(make, 3))
    assert output.loss is not None
    first, second = make().halves()
    joined = Batch.cat([first, second])
    assert joined.part is Split.TRAIN and joined.mode == "cls"
    print(len(recorder.losses), output.logits.shape, output.loss.shape, evaluate(model, joined))
    state = model.state_dict()
    print(state["blocks.0.gate"].shape)
    model.load_state_dict(state)
    outputs: dict[str, Output] = {"a": output, "b": output[:2]}
    print({name: o.logits.mean().item() for name, o in outputs.items()})
    state_of = state.get("head.bias")
    print(state_of is not None)
    block = model.blocks[0]
    print(block.head_dim, block.config.activation, block.gate.shape, [b.head_dim for b in model.blocks])
    model.compile(backend="eager")
    print(model(joined).logits.shape)


main()
