"""`class Net(LightningModule, Module)`: a trainer of Lightning does with it what it does with a plain LightningModule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import LightningModule, Trainer
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from qten_gen import Module, buffer, submodule


class _Steps:
    """The methods of all three modules."""

    net: nn.Linear
    seen: Tensor
    log: Any

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.net(x))

    def training_step(self, batch: list[Tensor], index: int) -> Tensor:
        self.seen += 1
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.net.parameters(), 0.1)


class Plain(_Steps, LightningModule):  # type: ignore[misc] # Any to mypy
    def __init__(self, dim: int, classes: int = 3) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Linear(dim, classes)
        self.register_buffer("seen", torch.zeros(()))


class Swapped(_Steps, LightningModule, Module):  # type: ignore[misc] # Any to mypy
    def __init__(self, dim: int, classes: int = 3) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Linear(dim, classes)
        self.register_buffer("seen", torch.zeros(()))


class Declared(_Steps, LightningModule, Module):  # type: ignore[misc] # Any to mypy
    dim: int
    classes: int = 3
    net: nn.Linear = submodule(nn.Linear, "dim", "classes")
    seen: Tensor = buffer(initializer=nn.init.zeros_)

    def __post_init__(self) -> None:
        self.save_hyperparameters(self.get_config())


def trained(cls: Any, folder: Path) -> Any:
    """A module after two epochs, read back from its checkpoint."""
    torch.manual_seed(0)
    module = cls(4)
    rows = TensorDataset(torch.linspace(-1, 1, 64).view(16, 4), torch.arange(16) % 3)
    options = {"logger": False, "enable_progress_bar": False, "default_root_dir": folder}
    trainer = Trainer(max_epochs=2, accelerator="cpu", **options)
    trainer.fit(module, DataLoader(rows, batch_size=4))
    trainer.save_checkpoint(folder / "last.ckpt")
    return cls.load_from_checkpoint(folder / "last.ckpt", weights_only=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [Swapped, Declared])
def test_a_trainer_gives_what_it_gives_for_a_plain_module(cls: type[nn.Module], tmp_path: Path) -> None:
    made, plain = trained(cls, tmp_path / "made"), trained(Plain, tmp_path / "plain")
    assert [type(made), type(plain)] == [cls, Plain]
    assert dict(made.hparams) == dict(plain.hparams) == {"dim": 4, "classes": 3}
    assert list(made.state_dict()) == list(plain.state_dict()) == ["seen", "net.weight", "net.bias"]
    assert made.seen == 8
    for name, expected in plain.state_dict().items():
        assert torch.equal(made.state_dict()[name], expected), name
