"""Training loops that others wrote: Lightning and accelerate, and what their trainers do to a model."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from qten_gen import Module, submodule

from .pairs import Pair, PlainTower, Tower, agree, fill, rows, state, tower


def loader() -> DataLoader[tuple[Tensor, ...]]:
    """Four rows, two at a time."""
    return DataLoader(TensorDataset(torch.linspace(-1, 1, 16).view(4, 4)), batch_size=2)


def test_a_loop_with_accumulation_clipping_and_a_schedule(pair: Pair) -> None:
    """What a trainer does: nothing of it is special to a kind of module."""

    def run(module: nn.Module) -> list[Tensor]:
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=4)
        module.train()
        for step in range(4):
            with torch.autocast("cpu", torch.bfloat16):
                loss = module(pair.input).square().mean()
            (loss / 2).backward()
            if step % 2:
                nn.utils.clip_grad_norm_(module.parameters(), 1.0)
                optimiser.step()
                schedule.step()
                optimiser.zero_grad(set_to_none=True)
        module.eval()
        with torch.inference_mode():
            out: Tensor = module(pair.input)
        return [*state(module), out.clone()]

    agree(pair, run)


class Classified(Module):
    """A model in the style of Hugging Face: called with keywords, it returns a dict with the loss."""

    dim: int
    tower: Tower = submodule(Tower, "dim")

    def forward(self, inputs: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits: Tensor = self.tower(inputs)
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class PlainClassified(nn.Module):
    """`Classified`, written by hand."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.tower = PlainTower(dim)

    def forward(self, inputs: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits: Tensor = self.tower(inputs)
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def classified() -> Pair:
    pair = Pair(Classified(4), PlainClassified(4), rows())
    fill(pair.declared)
    fill(pair.plain)
    return pair


def test_a_model_is_called_with_keywords_and_checkpoints_are_resumed(tmp_path: Path) -> None:
    labels = torch.tensor([0, 1, 2])

    def trained(module: nn.Module, optimiser: torch.optim.Optimizer) -> list[Tensor]:
        for _ in range(2):
            optimiser.zero_grad()
            module(inputs=rows(), labels=labels)["loss"].backward()
            optimiser.step()
        return [*state(module), module(inputs=rows())["logits"]]

    def run(module: nn.Module) -> list[Tensor]:
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
        trained(module, optimiser)
        torch.save({"model": module.state_dict(), "optimiser": optimiser.state_dict()}, tmp_path / "checkpoint.pt")
        resumed = copy.deepcopy(module)
        fill(resumed)
        again = torch.optim.AdamW(resumed.parameters(), lr=0.01)
        checkpoint = torch.load(tmp_path / "checkpoint.pt")
        resumed.load_state_dict(checkpoint["model"])
        again.load_state_dict(checkpoint["optimiser"])
        found = trained(resumed, again)
        assert all(map(torch.equal, found, trained(module, optimiser)))
        return found

    agree(classified(), run)


@pytest.fixture
def no_accelerator() -> Iterator[None]:
    """No settings of an Accelerator, which a process keeps: transformers' Trainer makes one with others."""
    reset = importlib.import_module("accelerate.state").AcceleratorState._reset_state
    reset(True)
    yield
    reset(True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is not installed")
@pytest.mark.usefixtures("no_accelerator")
def test_accelerate_prepares_and_trains_it() -> None:
    def run(module: nn.Module) -> list[Tensor]:
        accelerator = importlib.import_module("accelerate").Accelerator(cpu=True, mixed_precision="bf16")
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
        model, optimiser, batches = accelerator.prepare(module, optimiser, loader())
        for (batch,) in batches:
            with accelerator.accumulate(model):
                optimiser.zero_grad()
                accelerator.backward(model(batch).square().mean())
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
        found = accelerator.unwrap_model(model, keep_fp32_wrapper=False)
        assert found is module
        return [*state(found), *accelerator.get_state_dict(model).values()]

    agree(tower(), run)


def test_what_others_put_in_the_place_of_registration_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """accelerate and DeepSpeed replace nn.Module's methods while a model is constructed."""
    registered: list[str] = []
    original = nn.Module.register_parameter

    def register_parameter(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        registered.append(name)
        original(module, name, parameter)

    monkeypatch.setattr(nn.Module, "register_parameter", register_parameter)
    made = Tower(4)
    assert sorted(registered) == sorted(name.rpartition(".")[2] for name, _ in made.named_parameters())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is not installed")
def test_accelerate_makes_it_without_memory() -> None:
    """Registration is patched while it constructs: the patched functions have to be the ones that are called."""
    with importlib.import_module("accelerate").init_empty_weights(include_buffers=True):
        made = Tower(4)
    assert {tensor.device.type for tensor in state(made)} == {"meta"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(find_spec("lightning") is None, reason="lightning is not installed")
def test_lightning_trains_it(tmp_path: Path) -> None:
    lightning = importlib.import_module("lightning")

    def run(module: nn.Module) -> list[Tensor]:
        class Task(lightning.LightningModule):  # type: ignore[misc, name-defined] # known at run time only
            def __init__(self) -> None:
                super().__init__()
                self.model = module

            def training_step(self, batch: tuple[Tensor], index: int) -> Tensor:
                loss: Tensor = self.model(batch[0]).square().mean()
                return loss

            def configure_optimizers(self) -> torch.optim.Optimizer:
                return torch.optim.AdamW(self.model.parameters(), lr=0.01)

        options = {"logger": False, "enable_progress_bar": False, "enable_model_summary": True}
        trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", default_root_dir=tmp_path, **options)
        trainer.fit(Task(), loader())
        return state(module)

    agree(tower(), run)
