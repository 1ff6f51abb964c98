"""`refill` of a model of transformers, whose embeddings are tied and whose rotary frequencies no checkpoint holds."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import deferred_init, is_deferred, refill

from .models import spoiled_memory

TOKENS = torch.arange(6)[None]


@pytest.fixture(scope="module")
def qwen() -> Iterator[Any]:
    """A small Qwen2, and what makes one."""
    transformers = pytest.importorskip("transformers")
    config = transformers.Qwen2Config(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        tie_word_embeddings=True,
    )
    yield lambda: importlib.import_module("transformers").Qwen2ForCausalLM(config).eval()
    if "smart_apply" in vars(nn.Module):
        type.__delattr__(nn.Module, "smart_apply")  # which transformers leaves behind in torch's class


@pytest.mark.parametrize("assign", [False, True])
def test_a_tied_qwen_has_the_buffers_and_ties_of_its_constructor_again(qwen: Any, assign: bool) -> None:
    expected, model = qwen(), deferred_init(qwen)
    spoiled_memory()
    if not assign:
        model.to_empty(device="cpu")
    model.load_state_dict({name: value.clone() for name, value in expected.state_dict().items()}, assign=assign)
    frequencies = model.model.rotary_emb.inv_freq
    assert is_deferred(frequencies) if assign else not torch.equal(frequencies, expected.model.rotary_emb.inv_freq)
    refill(model)
    assert model.lm_head.weight is model.model.embed_tokens.weight
    found = dict(model.named_buffers())
    assert all(torch.equal(found[name], buffer) for name, buffer in expected.named_buffers())
    assert torch.equal(model(TOKENS).logits, expected(TOKENS).logits)
