"""What objects of a TensorClass say and do on a GPU."""

from __future__ import annotations

import torch

from tests.devices.photos import frame, photo


def test_an_object_moves_to_the_gpu_without_waiting() -> None:
    value = frame(4).pin_memory().to("cuda", non_blocking=True)
    torch.cuda.synchronize()
    assert value.x.is_cuda
    assert value.set("y", torch.ones(4).pin_memory(), non_blocking=True).y.is_cuda


def test_a_stream_is_recorded_for_every_tensor() -> None:
    value, stream = frame(4).cuda(), torch.cuda.Stream()  # type: ignore[no-untyped-call] # torch leaves it untyped
    with torch.cuda.stream(stream):
        doubled = value + value
    assert value.record_stream(stream) is value
    stream.synchronize()
    assert torch.equal(doubled.x, value.x * 2)


def test_python_values_follow_an_index_that_is_on_the_gpu() -> None:
    value = photo().cuda()
    assert value.table.is_cuda
    for index in (value.x > 1, torch.tensor([2, 3], device="cuda"), (torch.tensor([2, 3], device="cuda"),)):
        chosen = value[index]
        assert chosen.title.tolist() == ["c", "d"]
        assert chosen.heads["kind"].tolist() == chosen.x.tolist() == [2, 3]
    value[value.x > 1] = value[:2].clone()
    assert value.title.tolist() == ["a", "b", "a", "b"]
