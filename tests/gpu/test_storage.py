"""Objects on a GPU on disk, in state dicts and in pickles."""

from __future__ import annotations

import pickle
from pathlib import Path

import torch

from tests.tensorclass.declared import tensors
from tests.tensorclass.storage.declared import Outer, assert_equal, outer


def test_tensors_are_saved_from_and_loaded_to_a_gpu(tmp_path: Path) -> None:
    value = outer(4).to("cuda")
    saved = value.memmap(tmp_path)
    assert saved.device == torch.device("cpu") and saved.is_memmap()
    assert_equal(saved, outer(4))
    for non_blocking in (False, True):
        loaded = Outer.load_memmap(tmp_path, "cuda", non_blocking)
        torch.cuda.synchronize()
        assert {tensor.device.type for tensor in tensors(loaded).values()} == {"cuda"}
        assert (loaded.device, loaded.is_memmap(), loaded.is_locked) == (torch.device("cuda:0"), False, False)
        assert_equal(loaded.cpu(), outer(4))


def test_large_tensors_on_a_gpu_are_brought_over_in_pieces(tmp_path: Path) -> None:
    value = outer(4).to("cuda")
    wide = value.replace(x=torch.rand(4, 8_000_000, device="cuda").mT[:, :4].mT)
    assert torch.equal(wide.memmap(tmp_path).x, wide.x.cpu())


def test_an_object_on_a_gpu_is_loaded_into(tmp_path: Path) -> None:
    outer(4).memmap(tmp_path)
    target = outer(4, seed=1).to("cuda").load_memmap_(tmp_path)
    assert target.x.is_cuda
    assert_equal(target.cpu(), outer(4))


def test_a_state_dict_is_copied_to_the_gpu() -> None:
    target = outer(4, seed=1).to("cuda")
    target.load_state_dict(outer(4).state_dict())
    assert target.x.is_cuda
    assert_equal(target.cpu(), outer(4))


def test_pickles_and_safetensors_take_objects_on_a_gpu(tmp_path: Path) -> None:
    value = outer(4).to("cuda")
    back = pickle.loads(pickle.dumps(value, 5))
    assert back.x.is_cuda
    assert_equal(back.cpu(), outer(4))
    value.save_safetensors(tmp_path / "a")
    assert Outer.load_safetensors(tmp_path / "a", "cuda").x.is_cuda
