"""Models of the transformers library are the same deferred as eager."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, CLIPConfig, CLIPModel, LlamaConfig

from tests.large_models.deferred.comparing import assert_same_as_eager

from .models import COMMON, MODELS, build


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_deferred_as_eager(name: str) -> None:
    assert_same_as_eager(lambda: build(name))


def test_a_tied_llama_is_the_same_deferred_as_eager() -> None:
    assert_same_as_eager(lambda: build("LlamaForCausalLM", tie_word_embeddings=True))


def test_a_model_with_a_dtype_of_its_own_is_the_same_deferred_as_eager() -> None:
    config = LlamaConfig(**COMMON)
    assert_same_as_eager(lambda: AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16))


def test_a_model_of_two_models_is_the_same_deferred_as_eager() -> None:
    own = {"bos_token_id": 0, "eos_token_id": 1}
    images = {**COMMON, "image_size": 32, "patch_size": 8}
    config = CLIPConfig(text_config={**COMMON, **own}, vision_config=images, projection_dim=16)
    assert_same_as_eager(lambda: CLIPModel(config))
