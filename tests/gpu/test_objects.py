"""What objects of a TensorClass say and do on a GPU."""

from __future__ import annotations

import torch
from torch import Tensor

from qten_gen import TensorClass


class Frame(TensorClass):
    """Two tensors."""

    x: Tensor
    y: Tensor


def frame(*batch_size: int) -> Frame:
    return Frame(torch.rand(*batch_size, 3), torch.rand(batch_size), batch_size=batch_size)


def test_an_object_says_that_it_is_on_the_gpu() -> None:
    value = frame(4).cuda()
    assert (value.is_cuda, value.is_cpu) == (True, False)
    assert frame(4).cuda().clear_device_().auto_device_().device == torch.device("cuda", 0)


def test_an_object_moves_to_the_gpu_in_place_and_without_waiting() -> None:
    value = frame(4).pin_memory()
    assert value.to("cuda", non_blocking=True, inplace=True) is value
    torch.cuda.synchronize()
    assert value.is_cuda
    assert value.set("y", torch.ones(4).pin_memory(), non_blocking=True).y.is_cuda


def test_a_stream_is_recorded_for_every_tensor() -> None:
    value, stream = frame(4).cuda(), torch.cuda.Stream()  # type: ignore[no-untyped-call] # torch leaves it untyped
    with torch.cuda.stream(stream):
        doubled = value + value
    assert value.record_stream(stream) is value
    stream.synchronize()
    assert torch.equal(doubled.x, value.x * 2)


def test_objects_of_different_shapes_are_pinned_moved_and_padded() -> None:
    lazy = Frame.lazy_stack([frame(2), frame(3)]).pin_memory().to("cuda")
    padded = lazy.get("x", as_padded_tensor=True)
    assert padded.is_cuda
    assert padded.shape == (2, 3, 3)
