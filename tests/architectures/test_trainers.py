"""A declared module is trained, saved and loaded by transformers' Trainer and by peft, as a plain one is."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from transformers import Trainer, TrainingArguments, default_data_collator

from qten_gen import Module, TensorClass, submodule

ROWS = [{"x": torch.linspace(-1, 1, 4) * number, "labels": torch.ones(4)} for number in range(8)]


def loss_of(layer: nn.Module, x: Tensor, labels: Tensor | None) -> dict[str, Tensor]:
    logits = layer(x)
    return {"logits": logits} if labels is None else {"loss": (logits - labels).square().mean(), "logits": logits}


class Declared(Module):
    dim: int = 4
    layer: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        return loss_of(self.layer, x, labels)


class Plain(nn.Module):
    def __init__(self, dim: int = 4) -> None:
        super().__init__()
        self.dim = dim
        self.layer = nn.Linear(dim, dim)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        return loss_of(self.layer, x, labels)


def trained(model: nn.Module, folder: Path) -> dict[str, Tensor]:
    """What three steps, a checkpoint and two steps from it leave."""
    arguments = TrainingArguments(
        str(folder), max_steps=3, save_steps=2, per_device_train_batch_size=2, use_cpu=True, report_to=[], seed=1
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=ROWS, eval_dataset=ROWS)
    trainer.train()
    trainer.save_model()
    trainer.train(resume_from_checkpoint=str(folder / "checkpoint-2"))
    assert trainer.evaluate()["eval_loss"] > 0
    return model.state_dict()


def test_the_trainer_of_transformers_does_what_it_does_with_a_plain_module(tmp_path: Path) -> None:
    declared, plain = Declared(), Plain()
    plain.load_state_dict(declared.state_dict())
    found, expected = trained(declared, tmp_path / "declared"), trained(plain, tmp_path / "plain")
    assert list(found) == list(expected)
    assert all(map(torch.equal, found.values(), expected.values()))
    assert (tmp_path / "declared" / "model.safetensors").exists()


def test_the_collator_of_transformers_takes_the_dicts_of_items() -> None:
    class Batch(TensorClass):
        x: Tensor
        labels: Tensor

    batch = Batch(torch.rand(2, 4), torch.ones(2, 4), batch_size=2)
    with pytest.raises(TypeError, match=r"vars\(\) argument must have __dict__"):
        default_data_collator([batch[0], batch[1]])
    found = default_data_collator([item.to_dict() for item in batch.unbind()])
    assert torch.equal(found["x"], batch.x)
    assert torch.equal(found["labels"], batch.labels)


def test_peft_adapts_saves_loads_and_merges_a_declared_module(tmp_path: Path) -> None:
    base = Declared()
    adapted = get_peft_model(base, LoraConfig(target_modules=["layer"], init_lora_weights=False))
    x = torch.rand(2, 4)
    expected = adapted(x)["logits"]
    adapted.save_pretrained(str(tmp_path))
    again = Declared()
    again.load_state_dict(
        {
            name.replace("layer.base_layer", "layer"): value
            for name, value in base.state_dict().items()
            if "lora" not in name
        }
    )
    loaded = PeftModel.from_pretrained(again, str(tmp_path))
    assert torch.allclose(loaded(x)["logits"], expected)
    merged = cast("Declared", loaded.merge_and_unload())
    assert isinstance(merged, Declared)
    assert torch.allclose(merged(x)["logits"], expected, atol=1e-6)
