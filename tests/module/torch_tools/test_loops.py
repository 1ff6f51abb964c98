"""Training loops that others wrote: Lightning and accelerate, and what their trainers do to a model."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from .pairs import Tower, agree, state, tower


def loader() -> DataLoader[tuple[Tensor, ...]]:
    """Four rows, two at a time."""
    return DataLoader(TensorDataset(torch.linspace(-1, 1, 16).view(4, 4)), batch_size=2)


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
