"""Models of transformers on fake tensors: made, run, trained and moved, on the CPU and on CUDA that does not exist."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import transformers
from torch import Tensor, nn

from qten_gen import fake_mode, is_fake
from qten_gen.large_models.fake.fake_tensor import FakeTensorError

from . import models

SMALL = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "vocab_size": 100,
}
LLAMA = {**SMALL, "num_key_value_heads": 2}

MODELS: dict[str, Callable[[], nn.Module]] = {
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SMALL)),
    "gpt2": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(n_embd=32, n_head=4, n_layer=2, vocab_size=100, bos_token_id=1, eos_token_id=2)
    ),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)),
    "llama-tied": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA, tie_word_embeddings=True)),
    "vit": lambda: transformers.ViTForImageClassification(
        transformers.ViTConfig(**{**SMALL, "vocab_size": None}, image_size=32, patch_size=8)
    ),
    "t5": lambda: transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            d_model=32, d_kv=8, num_heads=4, num_layers=2, d_ff=64, vocab_size=100, decoder_start_token_id=0
        )
    ),
    "whisper": lambda: transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            vocab_size=100,
            num_mel_bins=8,
            max_source_positions=16,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    ),
    "mixtral": lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(**LLAMA, num_local_experts=4)),
}


def model_of(name: str) -> nn.Module:
    """A model. Its experts neither ask torch.cuda what the device can do nor call a product without a rule for float32."""
    model = MODELS[name]()
    if name == "mixtral":
        model.config._experts_implementation = "batched_mm"  # type: ignore[union-attr] # the configuration of transformers
    return model


def inputs(name: str, device: str) -> dict[str, Tensor]:
    """What a model is called with, labels included."""
    if name == "vit":
        return {
            "pixel_values": torch.rand(2, 3, 32, 32, device=device),
            "labels": torch.zeros(2, dtype=torch.long, device=device),
        }
    tokens = torch.ones(2, 8, dtype=torch.long, device=device)
    if name == "whisper":
        return {"input_features": torch.rand(2, 8, 32, device=device), "labels": tokens}
    return {"input_ids": tokens, "labels": tokens, "attention_mask": torch.ones_like(tokens)}


def described(module: nn.Module) -> list[object]:
    state = module.state_dict().items()
    tensors = [(name, tuple(tensor.shape), tensor.stride(), tensor.dtype) for name, tensor in state]
    return [*tensors, [name for name, _ in module.named_parameters()], [name for name, _ in module.named_buffers()]]


READ_VALUES = {"ConvNextModel"}
"""Models whose constructors read numbers from tensors. `deferred_init` answers them."""


@pytest.mark.parametrize("name", sorted(READ_VALUES))
def test_a_constructor_that_reads_values_is_refused(name: str) -> None:
    with fake_mode(), pytest.raises(FakeTensorError, match="needs the values of a fake tensor"):
        models.build(name)


@pytest.mark.parametrize("name", [name for name in models.MODELS if name not in READ_VALUES])
def test_a_fake_model_has_the_tensors_of_a_real_one(name: str) -> None:
    real = models.build(name)
    with fake_mode():
        fake = models.build(name)
    assert described(fake) == described(real)
    assert all(is_fake(tensor) for tensor in [*fake.parameters(), *fake.buffers()])


@pytest.mark.parametrize("name", MODELS)
def test_a_fake_model_has_the_tensors_of_a_real_one_and_its_output(name: str) -> None:
    real = model_of(name).eval()
    with fake_mode():
        fake = model_of(name).eval()
        out = fake(**inputs(name, "cpu")).logits
    assert described(fake) == described(real)
    assert all(is_fake(tensor) for tensor in [*fake.parameters(), *fake.buffers()])
    expected = real(**inputs(name, "cpu")).logits
    assert (out.shape, out.dtype, out.stride()) == (expected.shape, expected.dtype, expected.stride())
    assert repr(fake) == repr(real)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_trains_and_moves_on_cuda_that_does_not_exist(name: str) -> None:
    with fake_mode(fake_cuda=True):
        model = model_of(name).cuda()
        ties = len({id(parameter) for parameter in model.parameters(recurse=True)})
        optimizer = torch.optim.AdamW(model.parameters())
        out = model(**inputs(name, "cuda"))
        out.loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        assert {p.grad.device.index for p in model.parameters() if p.grad is not None} == {0}
        with pytest.raises(RuntimeError, match="same device|should be the same|cpu"):
            model(**inputs(name, "cpu"))
        model.half().to("cuda:1")
    found = [*model.parameters(), *model.buffers()]
    assert {tensor.device for tensor in found} == {torch.device("cuda", 1)}
    assert len({id(parameter) for parameter in model.parameters()}) == ties
