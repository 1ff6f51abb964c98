"""The idioms for the meta device, as PyTorch's page has them, for plain modules, declared ones and TensorClasses."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Device, LabelledTensor
from tests.devices.photos import Photo, photo, tensors
from tests.module.torch_tools.pairs import Block, Tower, blocks, state


def facts(value: Photo) -> list[object]:
    """What of an object does not depend on where it is."""
    shapes: list[object] = [(tensor.shape, tensor.stride(), tensor.dtype) for tensor in tensors(value)]
    return [*shapes, value.batch_size, value.title.tolist(), value.mask, value.subset, value.frame.batch_size]


def kinds(found: list[Tensor]) -> set[str]:
    return {tensor.device.type for tensor in found}


def _loaded(value: object) -> object:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, map_location="meta", weights_only=False)


def _made() -> Photo:
    with torch.device("meta"):
        return photo()


ON_META: dict[str, Callable[[], object]] = {
    "load": lambda: _loaded(photo()),
    "context": _made,
    "to": lambda: photo().to("meta"),
}


@pytest.mark.parametrize("name", ON_META)
def test_an_object_of_a_tensorclass_on_meta_knows_everything_but_values(name: str) -> None:
    value = ON_META[name]()
    assert isinstance(value, Photo)
    assert kinds(tensors(value)) == {"meta"} and facts(value) == facts(photo())
    assert "float32[9] meta" in repr(value)
    if name == "to":
        assert value.device == value.frame.device == torch.device("meta")
    for like in (torch.empty_like, torch.zeros_like):
        made: Any = like(cast(Any, value), device="cpu")
        assert kinds(tensors(made)) == {"cpu"} and facts(made) == facts(value)


def test_a_declared_module_is_loaded_to_meta() -> None:
    found = _loaded(Tower(4))
    assert isinstance(found, Tower) and kinds(state(found)) == {"meta"}
    assert {block.causal.device.type for block in blocks(found) if isinstance(block, Block)} == {"meta"}


def test_modules_and_labelled_tensors_in_the_context() -> None:
    with torch.device("meta"):
        assert repr(nn.Linear(20, 30)) == "Linear(in_features=20, out_features=30, bias=True)"
        assert repr(Block(4)) == repr(Block(4, device="cpu"))
        made = LabelledTensor(torch.ones(3), ("k",))
    assert (made.data.device.type, made.device, made.dims) == ("meta", Device("meta"), ("k",))


@pytest.mark.parametrize("move", [lambda value: value.to("cpu"), lambda value: value.cpu()], ids=["to", "cpu"])
def test_there_is_no_data_to_copy_or_to_save(move: Callable[[object], object], tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"^Block is on meta, .*: module\.materialize\(device\) "):
        move(Block(4, device="meta"))
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        move(photo().to("meta"))
    with pytest.raises(TypeError, match=r"Photo\.x: .* got a tensor on the meta device, which has no data"):
        photo().to("meta").memmap(tmp_path)


def test_to_empty_and_then_reset_parameters_give_the_values_of_a_new_module() -> None:
    torch.manual_seed(0)
    new = Block(4)
    torch.use_deterministic_algorithms(True)  # torch fills memory that nobody has written with NaN
    try:
        module = Block(4, device="meta").to_empty(device="cpu")
        double = Block(4, device="meta").double().to_empty(device="cpu")
    finally:
        torch.use_deterministic_algorithms(False)
    torch.manual_seed(0)
    for part in (module.norm, module.proj, module):
        part.reset_parameters()
    assert all(torch.equal(mine, other) for mine, other in zip(state(module), state(new), strict=True))
    double.reset_parameters()
    assert double.weight.dtype == torch.float64 and not double.weight.isnan().any()


OPERATIONS: list[Callable[[Any], Any]] = [
    lambda value: value + 1,
    lambda value: value[1:3],
    lambda value: value.reshape(2, 2),
    lambda value: torch.stack([value, value]),
    lambda value: value.to(torch.float64),
    lambda value: value.gather(0, torch.zeros(2, dtype=torch.long, device=value.x.device)),
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_has_its_shapes_without_data(operation: Callable[[Any], Any]) -> None:
    real, on_meta = operation(photo().frame), operation(photo().frame.to("meta"))
    assert on_meta.batch_size == real.batch_size and on_meta.x.is_meta
    assert (on_meta.x.shape, on_meta.x.stride(), on_meta.x.dtype) == (real.x.shape, real.x.stride(), real.x.dtype)
