"""`class Model(PreTrainedModel, Module)`: what transformers does with a model stays as it is, and Module's part is there too."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from qten_gen import Module


class TinyConfig(PretrainedConfig):  # type: ignore[misc] # Any to mypy
    model_type = "qten-tiny"

    def __init__(self, dim: int = 4, vocab_size: int = 6, **others: Any) -> None:
        self.dim, self.vocab_size = dim, vocab_size
        super().__init__(**others)


class _Body:
    """The methods of both models."""

    config_class = TinyConfig
    _tied_weights_keys = {"head.weight": "embed.weight"}  # noqa: RUF012 # as transformers reads it
    embed: nn.Embedding
    head: nn.Linear

    def make(self, config: TinyConfig) -> None:
        self.embed = nn.Embedding(config.vocab_size, config.dim)
        self.head = nn.Linear(config.dim, config.vocab_size, bias=False)

    def get_input_embeddings(self) -> nn.Module:
        return self.embed

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        self.embed = value

    def get_output_embeddings(self) -> nn.Module:
        return self.head

    def set_output_embeddings(self, value: nn.Linear) -> None:
        self.head = value

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.head(self.embed(ids))
        return logits


class Plain(_Body, PreTrainedModel):  # type: ignore[misc] # both have these methods
    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        self.make(config)
        self.post_init()


class Counted(Module):
    """A declared base behind that of transformers."""

    def count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


class Ours(_Body, PreTrainedModel, Counted, init=False):  # type: ignore[misc] # both have these methods
    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)  # type: ignore[call-arg] # that of PreTrainedModel, which is Any to mypy
        self.make(config)
        self.post_init()


def _made(cls: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return cls(TinyConfig(**options))


@pytest.mark.parametrize("tied", [False, True])
def test_it_is_initialised_and_computes_as_the_plain_one(tied: bool) -> None:
    plain, ours = _made(Plain, tie_word_embeddings=tied), _made(Ours, tie_word_embeddings=tied)
    ids = torch.arange(6)
    assert list(ours.state_dict()) == list(plain.state_dict())
    assert (ours.head.weight is ours.embed.weight) is tied
    assert all(map(torch.equal, ours.state_dict().values(), plain.state_dict().values()))
    for each in (ours, copy.deepcopy(ours)):
        assert torch.equal(each(ids), plain(ids))
    assert (ours.device, ours.dtype, ours.config.dim) == (plain.device, plain.dtype, 4)
    assert ours.count() == sum(parameter.numel() for parameter in plain.parameters())


@pytest.mark.parametrize("tied", [False, True])
def test_each_loads_what_the_other_has_saved(tied: bool, tmp_path: Path) -> None:
    for one, other in ((Plain, Ours), (Ours, Plain)):
        saved = _made(one, tie_word_embeddings=tied)
        saved.save_pretrained(tmp_path / one.__name__)
        loaded: Any = other.from_pretrained(tmp_path / one.__name__, dtype=torch.float64)
        assert loaded.dtype == torch.float64
        assert (loaded.head.weight is loaded.embed.weight) is tied
        for name, value in loaded.state_dict().items():
            assert torch.equal(value, saved.state_dict()[name].double())


def test_its_embeddings_are_resized() -> None:
    for cls in (Plain, Ours):
        model = _made(cls, tie_word_embeddings=True)
        model.resize_token_embeddings(9)
        assert (model.embed.num_embeddings, model.head.out_features, model.config.vocab_size) == (9, 9, 9)
        assert model.head.weight is model.embed.weight
