"""Parts of the tensors of transformers' models: what their constructors draw is the same in parts as in the whole."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from qten_gen.large_models.deferred.recording import Recorder
from qten_gen.large_models.deferred.replay import operations_reaching
from qten_gen.large_models.materializing.evaluation import draw_keys, evaluate, runs_of
from qten_gen.large_models.materializing.initialisers import recorded_whole
from qten_gen.large_models.sharding.placements import shares, size_of, slices

from .models import MODELS, build


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_three_processes_make_up_each_tensor(name: str) -> None:
    from torch.distributed.tensor import Shard

    recorder = Recorder(FakeTensorMode(allow_non_fake_inputs=True))
    try:
        with recorder, recorded_whole():
            model = build(name)
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
            runs_of(recorder.tape, operations_reaching(recorder.tape, [slot]), slot, keys) is not None
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
    assert drawn >= 3, "the large tensors are made in parts"
