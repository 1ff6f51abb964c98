"""Small models of the transformers library, each by its class and the settings of its configuration."""

from __future__ import annotations

from typing import Any

import transformers
from torch import nn

COMMON: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 99,
    "max_position_embeddings": 64,
}
_SEQ2SEQ = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
_GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4}
_IMAGES = {"image_size": 32, "patch_size": 8}
_SPEECH = {"conv_dim": [16, 16], "conv_stride": [2, 2], "conv_kernel": [3, 3], "num_feat_extract_layers": 2}
_FEW = {"num_key_value_heads": 2}
_FEW_OF_8 = {**_FEW, "head_dim": 8, "pad_token_id": 0}

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "AlbertModel": ("AlbertConfig", {"embedding_size": 16}),
    "BartModel": ("BartConfig", _SEQ2SEQ),
    "BeitModel": ("BeitConfig", _IMAGES),
    "BertForMaskedLM": ("BertConfig", {}),
    "BertModel": ("BertConfig", {}),
    "BigBirdModel": ("BigBirdConfig", {}),
    "BloomForCausalLM": ("BloomConfig", {"n_layer": 2, "n_head": 4}),
    "CLIPTextModel": ("CLIPTextConfig", {"bos_token_id": 0, "eos_token_id": 1}),
    "CLIPVisionModel": ("CLIPVisionConfig", _IMAGES),
    "CodeGenForCausalLM": ("CodeGenConfig", {**_GPT, "rotary_dim": 4, "bos_token_id": 0, "eos_token_id": 1}),
    "ConvNextModel": ("ConvNextConfig", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}),
    "DebertaModel": ("DebertaConfig", {}),
    "DebertaV2Model": ("DebertaV2Config", {}),
    "DeiTModel": ("DeiTConfig", _IMAGES),
    "DistilBertModel": ("DistilBertConfig", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    "ElectraForPreTraining": ("ElectraConfig", {"embedding_size": 16}),
    "FalconForCausalLM": ("FalconConfig", {}),
    "GemmaForCausalLM": ("GemmaConfig", _FEW_OF_8),
    "Gemma2ForCausalLM": ("Gemma2Config", _FEW_OF_8),
    "Gemma3ForCausalLM": ("Gemma3TextConfig", _FEW_OF_8),
    "GPT2LMHeadModel": ("GPT2Config", {**_GPT, "bos_token_id": 0, "eos_token_id": 1}),
    "GPTJForCausalLM": ("GPTJConfig", {**_GPT, "rotary_dim": 4, "bos_token_id": 0, "eos_token_id": 1}),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", {}),
    "HubertModel": ("HubertConfig", _SPEECH),
    "LlamaForCausalLM": ("LlamaConfig", _FEW),
    "LongformerModel": ("LongformerConfig", {"attention_window": 8}),
    "MambaForCausalLM": ("MambaConfig", {"state_size": 8}),
    "Mamba2ForCausalLM": ("Mamba2Config", {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 1}),
    "MistralForCausalLM": ("MistralConfig", _FEW),
    "MixtralForCausalLM": ("MixtralConfig", {**_FEW, "num_local_experts": 2}),
    "MPNetModel": ("MPNetConfig", {}),
    "OPTForCausalLM": ("OPTConfig", {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "PegasusModel": ("PegasusConfig", _SEQ2SEQ),
    "PhiForCausalLM": ("PhiConfig", {}),
    "Phi3ForCausalLM": ("Phi3Config", {**_FEW, "pad_token_id": 0, "eos_token_id": 1}),
    "Qwen2ForCausalLM": ("Qwen2Config", _FEW),
    "Qwen3MoeForCausalLM": ("Qwen3MoeConfig", {**_FEW, "num_experts": 4, "moe_intermediate_size": 16, "head_dim": 8}),
    "ResNetModel": ("ResNetConfig", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]}),
    "RobertaForMaskedLM": ("RobertaConfig", {}),
    "RoFormerModel": ("RoFormerConfig", {}),
    "SegformerModel": (
        "SegformerConfig",
        {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 1, 2, 4]},
    ),
    "StableLmForCausalLM": ("StableLmConfig", {}),
    "SwinModel": (
        "SwinConfig",
        {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
    ),
    "T5ForConditionalGeneration": ("T5Config", {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}),
    "ViTModel": ("ViTConfig", _IMAGES),
    "Wav2Vec2Model": ("Wav2Vec2Config", _SPEECH),
    "WhisperModel": (
        "WhisperConfig",
        {**_SEQ2SEQ, "max_source_positions": 64, "max_target_positions": 32, "pad_token_id": 0},
    ),
}


def build(name: str, **settings: Any) -> nn.Module:
    """A model, with settings beside those of the table."""
    config, own = MODELS[name]
    common = {} if name in ("SwinModel", "ResNetModel", "ConvNextModel", "SegformerModel") else COMMON
    configuration = getattr(transformers, config)(**{**common, **own, **settings})
    model: nn.Module = getattr(transformers, name)(configuration)
    return model
