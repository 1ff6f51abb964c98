"""The idioms for the meta device, each by its name in PyTorch's page, for plain modules, declared ones and TensorClasses."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Device, LabelledTensor
from tests.devices.photos import Frame, Photo, photo, tensors
from tests.module.torch_tools.pairs import Block, Tower, blocks, state

NO_DATA = "Cannot copy out of meta tensor; no data!"


def facts(value: Photo) -> list[object]:
    """What of an object does not depend on where it is."""
    shapes: list[object] = [(tensor.shape, tensor.stride(), tensor.dtype) for tensor in tensors(value)]
    return [*shapes, value.batch_size, value.title.tolist(), value.mask, value.subset, value.frame.batch_size]


def kinds(found: list[Tensor]) -> set[str]:
    return {tensor.device.type for tensor in found}


def saved(value: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.fixture
def nan_in_empty_memory() -> Iterator[None]:
    """torch fills memory that nobody has written with NaN, so that a test sees it."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


class TestLoadToMeta:
    """`torch.load(file, map_location="meta")`."""

    def test_a_declared_module(self) -> None:
        found = torch.load(saved(Tower(4)), map_location="meta", weights_only=False)
        assert kinds(state(found)) == {"meta"} and isinstance(found, Tower)
        assert {block.causal.device.type for block in blocks(found) if isinstance(block, Block)} == {"meta"}

    def test_an_object_of_a_tensorclass(self) -> None:
        value = photo()
        found = torch.load(saved(value), map_location="meta", weights_only=False)
        assert kinds(tensors(found)) == {"meta"} and facts(found) == facts(value)


class TestMetaContext:
    """`with torch.device("meta")`."""

    def test_a_module_prints_as_ever(self) -> None:
        with torch.device("meta"):
            assert repr(nn.Linear(20, 30)) == "Linear(in_features=20, out_features=30, bias=True)"
            assert repr(Block(4)) == repr(Block(4, device="cpu"))

    def test_an_object_of_a_tensorclass(self) -> None:
        with torch.device("meta"):
            made = photo()
        assert kinds(tensors(made)) == {"meta"} and facts(made) == facts(photo())

    def test_a_labelled_tensor(self) -> None:
        with torch.device("meta"):
            made = LabelledTensor(torch.ones(3), ("k",))
        assert (made.data.device.type, made.device, made.dims) == ("meta", Device("meta"), ("k",))


class TestNoDataToCopy:
    """`tensor.to("cpu")` of a meta tensor is an error, for everything that holds one."""

    def test_a_declared_module_says_to_use_materialize(self) -> None:
        with pytest.raises(NotImplementedError, match=r"^Block is on meta, .*: module\.materialize\(device\) "):
            Block(4, device="meta").to("cpu")

    @pytest.mark.parametrize("move", [lambda value: value.to("cpu"), lambda value: value.cpu()], ids=["to", "cpu"])
    def test_an_object_of_a_tensorclass(self, move: Callable[[Photo], object]) -> None:
        with pytest.raises(NotImplementedError, match=NO_DATA):
            move(photo().to("meta"))

    def test_the_missing_data_is_filled_in_by_a_factory(self) -> None:
        value = photo().to("meta")
        for name in ("empty_like", "zeros_like"):
            made: Photo = getattr(torch, name)(value, device="cpu")
            assert kinds(tensors(made)) == {"cpu"} and facts(made) == facts(value)
        assert torch.empty_like(torch.ones(5, device="meta"), device="cpu").device.type == "cpu"


@pytest.mark.usefixtures("nan_in_empty_memory")
class TestToEmpty:
    """`module.to_empty(device=)`, and then `reset_parameters()`."""

    def test_the_values_are_those_of_a_new_module(self) -> None:
        torch.manual_seed(0)
        new = Block(4)
        module = Block(4, device="meta").to_empty(device="cpu")
        torch.manual_seed(0)
        for part in (module.norm, module.proj, module):
            part.reset_parameters()
        assert all(torch.equal(mine, other) for mine, other in zip(state(module), state(new), strict=True))

    def test_it_stays_empty_on_the_way_to_another_dtype(self) -> None:
        module = Block(4, device="meta").double().to_empty(device="cpu")
        module.reset_parameters()
        assert module.weight.dtype == torch.float64 and not module.weight.isnan().any()


class TestTensorClassOnMeta:
    """An object on meta knows everything but values."""

    def test_a_move(self) -> None:
        value = photo()
        on_meta = value.to("meta")
        assert kinds(tensors(on_meta)) == {"meta"} and facts(on_meta) == facts(value)
        assert kinds(tensors(value)) == {"cpu"}
        assert on_meta.device == on_meta.frame.device == torch.device("meta")
        assert "float32[9] meta" in repr(on_meta)

    @pytest.mark.parametrize(
        "operation",
        [
            lambda value: value + 1,
            lambda value: value[1:3],
            lambda value: value[0],
            lambda value: value.reshape(2, 2),
            lambda value: value.sum(0),
            lambda value: torch.stack([value, value]),
            lambda value: torch.cat([value, value]),
            lambda value: value.to(torch.float64),
            lambda value: value.expand(3, 4),
            lambda value: value.gather(0, torch.zeros(2, dtype=torch.long, device=value.x.device)),
        ],
    )
    def test_shapes_of_an_operation_without_data(self, operation: Callable[[Frame], Frame]) -> None:
        real, on_meta = operation(photo().frame), operation(photo().frame.to("meta"))
        assert on_meta.batch_size == real.batch_size
        assert (on_meta.x.shape, on_meta.x.stride(), on_meta.x.dtype) == (real.x.shape, real.x.stride(), real.x.dtype)
        assert on_meta.x.is_meta

    def test_saving_it_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match=r"Photo\.x: .* got a tensor on the meta device, which has no data"):
            photo().to("meta").memmap(tmp_path)
