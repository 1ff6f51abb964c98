"""Modules that are initialised alike are recorded once: the values are those of a recording for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.overrides import TorchFunctionMode

from qten_gen import Module, ModuleList, buffer, param, submodule
from qten_gen.large_models.deferred.recording import Recorder
from qten_gen.large_models.deferred.repeating import Passage
from qten_gen.large_models.materializing.materialize import materialize
from qten_gen.large_models.materializing.recorded_once import RecordedOnce

from .declared import Decoder, assert_same


class Block(Module):
    """A block whose initialisers are torch's."""

    dim: int
    layer: int = 0
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    up: nn.Linear = submodule(nn.Linear, "dim", "2*dim")
    scale: nn.Parameter = param("dim", initializer=nn.init.normal_)
    steps: Tensor = buffer("dim", dtype=torch.int64, initializer=nn.init.zeros_)


class Net(Module):
    dim: int
    blocks: ModuleList[Block] = submodule(Block, "dim", repeat=4)


class Scaled(Module):
    """Its initialiser looks at the index."""

    dim: int
    layer: int
    weight: nn.Parameter = param("dim", "dim", initializer="by_depth")
    inner: nn.Linear = submodule(nn.Linear, "dim", "dim")

    def by_depth(self, tensor: Tensor) -> None:
        nn.init.normal_(tensor, std=1 / (self.layer + 1))


class Deep(Module):
    dim: int
    blocks: ModuleList[Scaled] = submodule(Scaled, "dim", layer="index", repeat=4)

    def reset_parameters(self) -> None:
        for index, block in enumerate(self.blocks):
            with torch.no_grad():
                block.inner.weight.mul_(1 / (index + 1))


class Layers(nn.Sequential):
    """Layers of torch with their own ways to initialise."""

    def __init__(self) -> None:
        super().__init__(
            *(nn.MultiheadAttention(4, 2) for _ in range(2)),
            *(nn.Embedding(5, 4, padding_idx=index) for index in (0, 0, 1)),
            *(nn.BatchNorm1d(4) for _ in range(2)),
            *(nn.LSTM(4, 4) for _ in range(2)),
            *(nn.Conv1d(4, 2, 3, bias=bias) for bias in (True, True, False)),
            *(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True) for _ in range(2)),
            *(nn.Bilinear(3, 2, 2) for _ in range(2)),
            *(nn.GroupNorm(2, 4, affine=affine) for affine in (True, True, False)),
            nn.Transformer(4, 2, 2, 2, 8, batch_first=True),
        )


def tied() -> nn.Module:
    module = Net.on_meta(4)
    module.blocks[2].up.weight = module.blocks[0].up.weight
    module.blocks[3].norm = module.blocks[1].norm
    module.blocks[1].scale = module.blocks[1].norm.weight
    return module


def patched() -> nn.Module:
    module = Net.on_meta(4)
    module.blocks[1].up.extra_repr = lambda: "patched"  # type: ignore[method-assign]
    module.blocks[2].up.weight.requires_grad_(False)
    module.blocks[3].eval()
    return module


def half_real() -> nn.Module:
    module = Net.on_meta(4)
    module.blocks[0].materialize("cpu", seed=9)
    module.blocks[2].up.bias = nn.Parameter(torch.full((8,), 7.0))
    return module


def changed_kinds() -> nn.Module:
    module = Net.on_meta(4)
    module.blocks[1].half()
    parametrizations.weight_norm(module.blocks[2].up)
    module.blocks[3].up.weight = nn.Parameter(torch.empty(4, 8, device="meta").t())
    return module


def on_meta(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    def built() -> nn.Module:
        with torch.device("meta"):
            return build()

    return built


MODELS: dict[str, Callable[[], nn.Module]] = {
    "declared": lambda: Net.on_meta(4),
    "every kind of state": lambda: Decoder.on_meta(7, 4, depth=3),
    "scaled by depth": lambda: Deep.on_meta(4),
    "layers of torch": on_meta(Layers),
    "ties across blocks": tied,
    "patched instances": patched,
    "parts that are real": half_real,
    "parts of other dtypes and strides": changed_kinds,
}


def repeats(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each module that is initialised as one like it was."""
    found: list[int] = []
    real = Recorder.repeat

    def counted(self: Recorder, recorded: Passage, given: Sequence[int]) -> None:
        found.append(len(given))
        real(self, recorded, given)

    monkeypatch.setattr(Recorder, "repeat", counted)
    return found


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_values_are_those_of_a_recording_for_each_module(
    build: Callable[[], nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = repeats(monkeypatch)
    shared = materialize(build(), "cpu", seed=3)
    assert found
    with monkeypatch.context() as patch:
        patch.setattr(RecordedOnce, "repeat", lambda self, likeness: False)
        alone = materialize(build(), "cpu", seed=3)

    assert_same(shared, alone)


def test_blocks_that_differ_in_their_names_alone_are_recorded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = repeats(monkeypatch)

    module = Net.on_meta(4).materialize("cpu", seed=0)

    assert len(found) == 3 * 3  # the block, its norm and its layer, but for the first
    assert len({tuple(block.up.weight.flatten().tolist()) for block in module.blocks}) == 4


def test_an_initialiser_of_the_users_runs_for_each_module(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count(1)

    class Counted(Module):
        weight: nn.Parameter = param(2, initializer=lambda tensor: tensor.fill_(next(calls)))

    class Counting(Module):
        inner: ModuleList[Counted] = submodule(Counted, repeat=3)

    module = Counting.on_meta()
    before = next(calls)
    module.materialize("cpu", seed=0)

    assert [float(each.weight.detach()[0]) - before for each in module.inner] == [1, 2, 3]


def test_a_method_that_somebody_replaced_runs_for_each_module(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count()
    real = nn.Linear.reset_parameters
    monkeypatch.setattr(nn.Linear, "reset_parameters", lambda self: (next(calls), real(self))[1])
    Net.on_meta(4).materialize("cpu", seed=0)
    assert next(calls) == 4 + 4  # in the constructors too


def test_an_initialiser_of_torch_that_somebody_replaced_runs_for_each_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = Net.on_meta(4)
    calls = count(1)
    monkeypatch.setattr(nn.init, "normal_", lambda tensor: tensor.fill_(next(calls)))
    module.materialize("cpu", seed=0)
    assert [float(block.scale.detach()[0]) for block in module.blocks] == [1, 2, 3, 4]


def test_a_mode_of_the_callers_sees_each_module() -> None:
    class Seen(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            self.calls += getattr(func, "__name__", "") == "uniform_"
            return func(*args, **(kwargs or {}))

    module = Net.on_meta(4)
    with Seen() as seen:
        module.materialize("cpu", seed=0)
    assert seen.calls >= 4
