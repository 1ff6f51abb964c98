"""`qten-gen inspect` on models of transformers: parameters as on real tensors."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import transformers

from tests.command import Command

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 99,
}


@pytest.mark.filterwarnings("ignore")
def test_a_configuration_object_is_made_in_the_target(qten_gen: Command) -> None:
    arguments = ", ".join(f"{name}={value}" for name, value in {**SMALL, "tie_word_embeddings": True}.items())
    done = qten_gen("inspect", f"transformers:LlamaForCausalLM(config=LlamaConfig({arguments}))", "--json")
    found = json.loads(done.out)
    config = transformers.LlamaConfig(**SMALL, tie_word_embeddings=True)
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config)
    assert found["totals"]["parameters"]["elements"] == sum(parameter.numel() for parameter in model.parameters())
    assert [tensor["path"] for tensor in found["tensors"] if tensor["tied_to"]] == ["lm_head.weight"]


@pytest.mark.filterwarnings("ignore")
def test_the_largest_llama_has_its_seventy_billion_parameters(qten_gen: Command) -> None:
    arguments = {
        "hidden_size": 8192,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "intermediate_size": 28672,
        "vocab_size": 128256,
    }
    words = ", ".join(f"{name}={value}" for name, value in arguments.items())
    target = f"transformers:LlamaForCausalLM(config=LlamaConfig({words}))"
    done = qten_gen("inspect", target, "--dtype", "bfloat16", "--json")
    assert json.loads(done.out)["totals"]["parameters"] == {"elements": 70_553_706_496, "bytes": 141_107_412_992}


@pytest.mark.filterwarnings("ignore")
def test_an_initialiser_that_reads_values_is_no_obstacle(qten_gen: Command) -> None:
    config = "ViTConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4)"
    done = qten_gen("inspect", f"transformers:ViTModel(config={config})")
    assert done.status == 0, done.err
