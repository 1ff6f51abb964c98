"""Small programs after public threads: wrong with a module as people write it, right with a declared one.

Initial values that depend on the number of processes are in `distributed`, as they need several.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule

from .models import frequencies, spoiled_memory

DIM = 8


class Plain(nn.Module):
    """A table under two names, rotary frequencies, and a router that has to stay float32."""

    inv_freq: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(4, DIM)
        self.head = self.embed.weight
        self.router = nn.Linear(DIM, 2)
        self.register_buffer("inv_freq", frequencies(DIM), persistent=False)


class Declared(Module):
    """`Plain`, declared."""

    embed: nn.Embedding = submodule(nn.Embedding, 4, DIM)
    head: nn.Parameter = param(tie="embed.weight")
    router: nn.Linear = submodule(nn.Linear, DIM, 2, dtype=torch.float32, keep_dtype=True)
    inv_freq: Tensor = buffer(
        DIM // 2, persistent=False, value=lambda model: frequencies(DIM), dtype=torch.float32, keep_dtype=True
    )


Model = Plain | Declared


def on_meta(cls: type[Model]) -> Model:
    with torch.device("meta"):
        return cls()


def state(cls: type[Model]) -> dict[str, Tensor]:
    torch.manual_seed(0)
    return {name: tensor.clone() for name, tensor in cls().state_dict().items()}


def frequencies_are_right(model: Model) -> bool:
    return not model.inv_freq.is_meta and torch.equal(model.inv_freq, frequencies(DIM))


def is_tied(model: Model) -> bool:
    with torch.no_grad():
        model.embed.weight.fill_(1)
    return len([*model.parameters()]) == 3 and torch.equal(model.head, model.embed.weight)


def a_loss_of_11_08_in_place_of_3_63(cls: type[Model]) -> bool:
    """A trainer makes a model on meta, gives it memory, and loads a checkpoint: torchtitan 4783."""
    model = on_meta(cls)
    spoiled_memory()
    model.to_empty(device="cpu").load_state_dict(state(cls))
    return frequencies_are_right(model)


def a_buffer_that_stays_on_meta(cls: type[Model]) -> bool:
    """A checkpoint is assigned, which holds no such buffer: accelerate 2737."""
    model = on_meta(cls)
    model.load_state_dict(state(cls), assign=True)
    return frequencies_are_right(model)


def nan_in_a_model_that_is_emptied_again(cls: type[Model]) -> bool:
    """A wrapper around the model empties it, where nobody thinks of it: pytorch 90465."""
    model = cls()
    spoiled_memory()
    nn.Sequential(model).to_empty(device="cpu")
    return frequencies_are_right(model)


def two_tables_after_a_load(cls: type[Model]) -> bool:
    """pytorch 188346."""
    model = on_meta(cls)
    model.load_state_dict(state(cls), assign=True)
    return is_tied(model)


def two_tables_after_a_pretrained_embedding(cls: type[Model]) -> bool:
    """The embedding alone is loaded, by assignment."""
    model = cls()
    model.embed.load_state_dict({"weight": torch.ones(4, DIM)}, assign=True)
    return is_tied(model)


def two_tables_after_more_tokens(cls: type[Model]) -> bool:
    """The vocabulary is enlarged, and nobody ties the new embedding."""
    model = cls()
    model.embed = nn.Embedding(6, DIM)
    return is_tied(model)


def two_tables_after_each_module_is_emptied_alone(cls: type[Model]) -> bool:
    model = on_meta(cls)
    for module in (model.embed, model):
        module.to_empty(device="cpu", recurse=False)
    model.router.to_empty(device="cpu")
    return is_tied(model)


def a_router_in_half_precision(cls: type[Model]) -> bool:
    model = cls().to(torch.bfloat16)
    return model.router.weight.dtype == torch.float32


def frequencies_in_half_precision(cls: type[Model]) -> bool:
    """Positions far from the beginning become equal: transformers 30709."""
    return frequencies_are_right(cls().half())


def a_checkpoint_in_half_precision(cls: type[Model]) -> bool:
    """It casts what it is assigned to, in silence: pytorch 187138."""
    model = on_meta(cls)
    model.load_state_dict({name: each.bfloat16() for name, each in state(cls).items()}, assign=True)
    assert model.embed.weight.dtype == torch.bfloat16
    return model.router.weight.dtype == torch.float32


def a_trainer_with_a_default_dtype(cls: type[Model]) -> bool:
    """A model is made in the precision of the trainer, as Lightning, torchtitan and transformers do."""
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = cls()
    finally:
        torch.set_default_dtype(torch.float32)
    assert model.embed.weight.dtype == torch.bfloat16
    return model.router.weight.dtype == torch.float32


@pytest.mark.parametrize(
    "thread",
    [
        a_loss_of_11_08_in_place_of_3_63,
        a_buffer_that_stays_on_meta,
        nan_in_a_model_that_is_emptied_again,
        two_tables_after_a_load,
        two_tables_after_a_pretrained_embedding,
        two_tables_after_more_tokens,
        two_tables_after_each_module_is_emptied_alone,
        a_router_in_half_precision,
        frequencies_in_half_precision,
        a_checkpoint_in_half_precision,
        a_trainer_with_a_default_dtype,
    ],
)
def test_it_is_wrong_with_a_plain_module_and_right_with_a_declared_one(thread: Callable[[type[Model]], bool]) -> None:
    assert not thread(Plain)
    assert thread(Declared)
