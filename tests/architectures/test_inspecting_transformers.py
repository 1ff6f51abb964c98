"""`qten-gen inspect` on models of transformers: parameters, operations and activations as on real tensors."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import transformers

from tests.command import Command
from tests.tools.inspect.test_run import run_fake, run_real

SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 99,
}

MODELS: dict[str, tuple[str, str, dict[str, object]]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", {**SMALL, "num_key_value_heads": 2}),
    "llama tied": ("LlamaForCausalLM", "LlamaConfig", {**SMALL, "tie_word_embeddings": True}),
    "bert": ("BertForMaskedLM", "BertConfig", SMALL),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {**SMALL, "num_key_value_heads": 2}),
}

TOKENS = torch.arange(2 * 7).reshape(2, 7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_run_is_that_of_real_tensors(name: str) -> None:
    kind, config_kind, arguments = MODELS[name]

    def make() -> Any:
        config = getattr(transformers, config_kind)(**arguments, bos_token_id=1, eos_token_id=2)
        return getattr(transformers, kind)(config).train()

    found = run_fake(make, "Int[2,7]")
    assert found.failure is None
    assert (found.forward_flops, found.backward_flops, found.activation_bytes) == run_real(make, TOKENS)


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
    done = qten_gen("inspect", f"transformers:ViTModel(config={config})", "--run", "Float[1,3,224,224]")
    assert done.status == 0, done.err
