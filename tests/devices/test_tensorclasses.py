"""Objects of a TensorClass: every way to move one, nested ones, Python values, stacks, and devices that differ."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from qten_gen import is_fake, lifted

from .photos import Frame, Photo, frame, photo, tensors

GPU = torch.device("cuda", 0)


MOVES: dict[str, Callable[[Photo], Photo]] = {
    "cuda": lambda value: value.cuda(),
    "to": lambda value: value.to("cuda"),
    "to-index": lambda value: value.to("cuda:0"),
    "to-device": lambda value: value.to(GPU),
    "to-keyword": lambda value: value.to(device="cuda", non_blocking=True),
    "to-both": lambda value: value.to("cuda", torch.float64),
    "to-object": lambda value: value.to(frame(4).cuda()),
    "there-and-back": lambda value: value.cuda().cpu().cuda(),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_a_move_reaches_every_tensor(move: Callable[[Photo], Photo], cuda: bool) -> None:
    moved = move(photo())
    assert {tensor.device for tensor in tensors(moved)} == {GPU}
    assert {is_fake(tensor) for tensor in tensors(moved)} == {cuda}
    assert (moved.device, moved.frame.device) == (GPU, GPU)
    assert (moved.batch_size, moved.title.tolist(), moved.subset) == (torch.Size([4]), list("abcd"), "train")


def test_the_constructor_moves_what_it_is_given() -> None:
    made = Frame(torch.ones(4, 3), torch.ones(4), batch_size=4, device="cuda")
    assert (made.x.device, made.y.device, made.device) == (GPU, GPU, GPU)
    assert made.zero_().x.is_cuda


def test_what_is_assigned_is_moved_to_the_device_of_the_object() -> None:
    value = frame(4).cuda()
    value.y = torch.ones(4)
    assert value.y.is_cuda
    value[0] = frame()
    value[1:3] = frame(2).cuda()
    assert value.set("x", torch.ones(4, 3)).x.is_cuda


def test_an_object_without_a_device_keeps_tensors_where_they_are() -> None:
    value = Frame(torch.ones(4, 3), torch.ones(4).cuda(), batch_size=4)
    assert (value.device, value.x.device.type, value.y.device) == (None, "cpu", GPU)
    assert frame(4).cuda().clear_device_().device is None
    assert value.cuda().x.is_cuda and not value.cpu().y.is_cuda


@pytest.mark.parametrize(
    "operation",
    [
        lambda here, there: here + there,
        lambda here, there: torch.stack([here, there]),
        lambda here, there: torch.cat([here, there]),
        lambda here, there: here.where(there.y > 0, here),
    ],
    ids=["add", "stack", "cat", "where"],
)
def test_objects_on_two_devices_do_not_meet(operation: Callable[[Frame, Frame], object]) -> None:
    with pytest.raises((ValueError, RuntimeError), match="cpu and cuda:0|cuda:0 and cpu|cuda:0, cpu"):
        operation(frame(4), frame(4).cuda())


def test_operations_stay_on_the_device() -> None:
    value = photo().cuda()
    frames = value.frame
    for made in (
        frames + 1,
        frames * frames,
        lifted(torch.sum)(frames, 0),
        frames.reshape(2, 2),
        frames[:2],
        frames[torch.tensor([0, 1], device="cuda")],
        frames[torch.tensor([0, 1])],
        frames.clone(),
        torch.stack([frames, frames]),  # type: ignore[list-item] # torch's annotations know tensors only
        torch.zeros_like(frames),  # type: ignore[arg-type] # torch's annotations know tensors only
        frames.gather(0, torch.zeros(2, dtype=torch.long, device="cuda")),
        *frames.unbind(0),
        *frames.split(2),
    ):
        assert isinstance(made, Frame) and made.x.device == made.y.device == GPU
    assert frames.to(torch.float16).x.dtype == torch.float16


def test_python_values_follow_an_index_where_the_object_is() -> None:
    value = photo().cuda()
    assert value[1:3].title.tolist() == ["b", "c"]
    assert value[2].heads["kind"].is_cuda and value[2].title.item() == "c"


def test_an_index_without_values_cannot_choose_python_values(cuda: bool) -> None:
    value, index = photo().cuda(), torch.tensor([2, 3], device="cuda")
    if cuda:
        with pytest.raises(RuntimeError, match="a fake tensor has none"):
            value[index].title.tolist()
    else:
        assert value[index].title.tolist() == ["c", "d"]


def test_pinning_works_on_cuda_and_is_refused_on_fakes(cuda: bool) -> None:
    if cuda:
        with pytest.raises(RuntimeError, match=r"pin_memory\(\) needs the memory of a fake tensor"):
            frame(4).pin_memory()
    else:
        assert frame(4).pin_memory().to("cuda", non_blocking=True).x.is_cuda
