"""Pickles in protocol 5, whose tensors are buffers; and what is sent to other processes."""

from __future__ import annotations

import copy
import io
import pickle
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from tests import fresh_process
from tests.tensorclass.declared import Flat, flat

from .declared import TENSORS, Noted, Outer, assert_equal, outer


def again(value: Any, protocol: int = 5) -> Any:
    """A value pickled and unpickled."""
    return pickle.loads(pickle.dumps(value, protocol))


def test_device_names_and_locks_come_back() -> None:
    value = Flat(torch.zeros(2), torch.zeros(2), batch_size=2, device="cpu", names=["time"], lock=True)
    back = again(value)
    assert (back.device, back.names, back.is_locked) == (torch.device("cpu"), ("time",), True)


def test_plain_tensors_are_buffers_out_of_band_that_nothing_copies() -> None:
    value = Flat(torch.rand(1000), torch.rand(1000), batch_size=1000)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, 5, buffer_callback=buffers.append)
    assert (len(buffers), len(text) < 500) == (2, True)
    back = pickle.loads(text, buffers=buffers)
    assert back.x.data_ptr() == value.x.data_ptr()
    assert_equal(back, value)


def test_a_buffer_says_its_strides_which_ray_reads() -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(Flat(torch.rand(3), torch.rand(3), batch_size=3), 5, buffer_callback=buffers.append)
    views = [memoryview(buffer) for buffer in buffers]
    assert [(view.format, view.shape, view.strides) for view in views] == [("B", (12,), (1,))] * 2


def test_what_comes_back_can_be_written_to() -> None:
    buffers: list[Any] = []
    text = pickle.dumps(flat(4), 5, buffer_callback=buffers.append)
    for back in (again(flat(4)), pickle.loads(text, buffers=[bytes(buffer) for buffer in buffers])):
        back.x.zero_()
        assert back.x.eq(0).all()


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("protocol", [4, 5])
def test_a_tensor_of_any_form_comes_back(name: str, protocol: int) -> None:
    tensor = TENSORS[name]
    back = again(Noted(tensor), protocol).x
    assert type(back) is type(tensor)
    assert (back.dtype, back.shape, back.device, back.layout) == (
        tensor.dtype,
        tensor.shape,
        tensor.device,
        tensor.layout,
    )
    assert back.requires_grad == tensor.requires_grad
    if name != "meta":
        torch.testing.assert_close(back, tensor, rtol=0, atol=0, equal_nan=True)


def test_a_tensor_with_an_attribute_keeps_it() -> None:
    tensor = torch.rand(3)
    tensor.unit = "cm"  # type: ignore[attr-defined] # what the test is about
    assert again(Noted(tensor)).x.unit == "cm"


def test_fields_that_are_one_tensor_stay_one() -> None:
    tensor = torch.rand(3)
    back = again(Flat(tensor, tensor))
    assert back.x is back.y


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint64, torch.float8_e4m3fn, torch.complex32], ids=str)
def test_a_tensor_of_a_dtype_that_torch_does_not_pickle_comes_back(dtype: torch.dtype) -> None:
    value = Noted(torch.arange(48, dtype=torch.uint8).view(dtype))
    saved = io.BytesIO()
    torch.save(value, saved)
    saved.seek(0)
    with torch.serialization.safe_globals([Noted]):
        loaded = torch.load(saved)
    for found in (again(value), again(value, 4), again(value, 2), loaded, copy.deepcopy(value)):
        assert (found.x.dtype, found.x.shape) == (dtype, value.x.shape)
        assert torch.equal(found.x.view(torch.uint8), value.x.view(torch.uint8))


def test_only_the_part_of_a_large_tensor_that_is_held_is_pickled() -> None:
    assert len(pickle.dumps(Noted(torch.zeros(100_000)[5:7]), 5)) < 500


def test_a_pickle_names_the_declared_class_only() -> None:
    text = pickle.dumps(flat(4), 5).decode("latin1")
    assert Flat.__module__ in text and "qten_gen" not in text


class Own(TensorClass):
    """Says itself how it is pickled."""

    x: Tensor

    def __reduce__(self) -> Any:
        return Own, (self.x + 1,)


def test_a_class_that_says_how_it_is_pickled_is_asked() -> None:
    assert again(Own(torch.zeros(1))).x.item() == 1


def test_copies_are_not_made_through_pickles() -> None:
    value = Noted(torch.rand(3), object())
    assert copy.copy(value).x is value.x
    assert torch.equal(copy.deepcopy(value).x, value.x)


def sent(value: Any) -> Any:
    """What another process would get from a queue."""
    return pickle.loads(ForkingPickler.dumps(value))


def test_a_queue_shares_the_memory_of_tensors() -> None:
    value = flat(4)
    got = sent(value)
    got.x.fill_(7)
    assert value.x.eq(7).all()


def test_a_queue_sends_a_memory_map_as_its_folder_and_copies_a_part(tmp_path: Path) -> None:
    value = outer(4).memmap(tmp_path)
    got = sent(value)
    assert_equal(got, value)
    assert (got.is_memmap(), got.saved_path, got.inner.is_memmap()) == (True, str(tmp_path), True)
    got.x.fill_(7)
    assert value.x.eq(7).all()
    assert not value[1:3].is_memmap()
    sent(value[1:3]).x.fill_(8)
    assert value.x[:, 0].tolist() == [7, 7, 7, 7]


def test_a_queue_sends_what_is_locked_around_the_files_of_a_memory_map_as_it_is(tmp_path: Path) -> None:
    saved = outer(4).memmap(tmp_path)
    others = saved.replace(source="other"), saved.replace(other=None), saved.replace(x=saved.x.view(torch.int32))
    for other in (*others, saved.replace(inner=saved.inner.replace(label="other")), saved.unsqueeze(0)):
        assert_equal(sent(other.lock_()), other)


def test_a_queue_copies_a_memory_map_whose_files_are_gone(tmp_path: Path) -> None:
    value = outer(4).memmap(tmp_path)
    outer(4, seed=1).memmap(tmp_path)
    assert_equal(sent(value), outer(4).to("cpu"))
    assert_equal(sent(outer(4).memmap()), outer(4))


def fill(value: Outer, number: float) -> None:
    """What a child process does."""
    value.x.fill_(number)


def test_another_process_writes_to_the_files_of_a_memory_map(tmp_path: Path) -> None:
    value = outer(4).memmap(tmp_path)
    child = fresh_process.with_torch().Process(target=fill, args=(value, 5.0))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert Outer.load_memmap(tmp_path).x.eq(5).all()
