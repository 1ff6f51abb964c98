"""Parts of the tensors of transformers' models: what their constructors draw is the same in parts as in the whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

transformers = pytest.importorskip("transformers")

from qten_gen.runtime.deferred.recording import Recorder  # noqa: E402 # after the skip
from qten_gen.runtime.materializing.evaluation import draw_keys, evaluate, needs_whole  # noqa: E402 # the same
from qten_gen.runtime.materializing.initialisers import recorded_whole  # noqa: E402 # the same
from qten_gen.runtime.materializing.placements import shares  # noqa: E402 # the same
from qten_gen.runtime.materializing.regions import size_of, slices  # noqa: E402 # the same

TEXT: dict[str, object] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 52,
}
DECODER: dict[str, object] = {**TEXT, "num_key_value_heads": 2, "max_position_embeddings": 40}

CONFIGURATIONS: dict[str, dict[str, object]] = {
    "albert": {**TEXT, "embedding_size": 16},
    "bert": TEXT,
    "bloom": {"vocab_size": 97, "hidden_size": 32, "n_layer": 1, "n_head": 4},
    "codegen": {"vocab_size": 97, "n_positions": 40, "n_embd": 32, "n_layer": 1, "n_head": 4, "rotary_dim": 8},
    "deberta-v2": TEXT,
    "distilbert": {"vocab_size": 97, "dim": 32, "n_layers": 1, "n_heads": 4, "hidden_dim": 52},
    "electra": {**TEXT, "embedding_size": 16},
    "falcon": {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4},
    "gemma": {**DECODER, "head_dim": 8},
    "gemma2": {**DECODER, "head_dim": 8},
    "gpt2": {"vocab_size": 97, "n_positions": 40, "n_embd": 32, "n_layer": 1, "n_head": 4},
    "gpt_neox": DECODER | {"num_key_value_heads": None},
    "gptj": {"vocab_size": 97, "n_positions": 40, "n_embd": 32, "n_layer": 1, "n_head": 4, "rotary_dim": 8},
    "llama": DECODER,
    "mistral": DECODER,
    "mixtral": {**DECODER, "num_local_experts": 3},
    "olmo": DECODER,
    "opt": {**TEXT, "ffn_dim": 52, "word_embed_proj_dim": 32, "max_position_embeddings": 40},
    "phi": DECODER,
    "qwen2": DECODER,
    "qwen3": {**DECODER, "head_dim": 8},
    "roberta": TEXT,
    "stablelm": DECODER,
    "t5": {"vocab_size": 97, "d_model": 32, "d_kv": 8, "d_ff": 52, "num_layers": 1, "num_heads": 4},
    "vit": {**TEXT, "image_size": 16, "patch_size": 8},
    "whisper": {
        "vocab_size": 97,
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 52,
        "decoder_ffn_dim": 52,
        "max_source_positions": 20,
        "max_target_positions": 20,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
    },
}


def constructor(name: str) -> Callable[[], nn.Module]:
    """What makes a small model of an architecture."""
    given = {key: value for key, value in CONFIGURATIONS[name].items() if value is not None}
    configuration = transformers.AutoConfig.for_model(name, **given)
    return lambda: transformers.AutoModel.from_config(configuration)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_parts_of_three_processes_make_up_each_tensor(name: str) -> None:
    from torch.distributed.tensor import Shard

    construct = constructor(name)
    recorder = Recorder(FakeTensorMode())
    try:
        with recorder, recorded_whole():
            model = construct()
    finally:
        recorder.streams.put_back()
    slots = {key: recorder.slot(each) for key, each in model.named_parameters()}
    keys = draw_keys(recorder.tape, slots, 5)
    drawn = 0
    for key, slot in slots.items():
        known = recorder.tape.slots[slot]
        whole = torch.empty(known.size, dtype=known.dtype)
        evaluate(recorder.tape, slot, keys, whole)
        drawn += (
            not needs_whole(recorder.tape, slot, keys)
            and whole.numel() > 1
            and bool((whole != whole.view(-1)[0]).any())
        )
        for dim in range(min(2, whole.dim())):
            parts: list[Tensor] = []
            for rank in range(3):
                for share in shares(whole.shape, (3,), (rank,), [Shard(dim)]):
                    made = torch.empty(size_of(share.part), dtype=known.dtype)
                    evaluate(recorder.tape, slot, keys, made, share.part)
                    assert torch.equal(made, whole[slices(share.part)]), key
                    parts.append(made)
            assert torch.equal(torch.cat(parts, dim), whole), key
    assert drawn >= 3, "the large tensors are made block by block"


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_values_are_of_the_distribution_of_the_eager_model(name: str) -> None:
    construct = constructor(name)
    eager = construct()
    recorder = Recorder(FakeTensorMode())
    try:
        with recorder, recorded_whole():
            model = construct()
    finally:
        recorder.streams.put_back()
    slots = {key: recorder.slot(each) for key, each in model.named_parameters()}
    keys = draw_keys(recorder.tape, slots, 5)
    for key, expected in eager.named_parameters():
        found = torch.empty(expected.shape, dtype=expected.dtype)
        evaluate(recorder.tape, slots[key], keys, found)
        if (expected == expected.view(-1)[0]).all():
            assert torch.equal(found, expected), key
        elif expected.numel() > 500:
            assert abs(found.std() / expected.std() - 1) < 0.15, key
            assert abs(found.mean() - expected.mean()) < 4 * expected.std() / expected.numel() ** 0.5, key
