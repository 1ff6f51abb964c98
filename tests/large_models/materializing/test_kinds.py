"""Every kind of state that a module can have."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

from qten_gen import LabelledTensor, Module, VirtualTensor, nograd_tensors, param, submodule

from .declared import Block, Decoder, assert_same, tensors


def test_hooks_flags_and_frozen_parameters_stay() -> None:
    module = Decoder.on_meta(7, 4).eval().freeze()
    module.embed.weight.requires_grad_(True)
    calls: list[str] = []
    module.statistics.register_forward_hook(lambda *_: calls.append("hook"))
    module.blocks[0].train()
    vars(module.blocks[0].weight)["decays"] = True
    output = (module.blocks[0].weight * 2).sum()  # a graph holds the parameter

    module.materialize("cpu", seed=0)

    assert not module.training and module.blocks[0].training and output.is_meta
    assert vars(module.blocks[0].weight) == {"decays": True}
    assert [name for name, tensor in module.named_parameters() if tensor.requires_grad] == ["head"]
    module.statistics(torch.ones(2, 4))
    assert calls == ["hook"]


def test_real_tensors_stay_and_the_rest_has_the_values_of_the_whole() -> None:
    module, whole = Decoder.on_meta(7, 4), Decoder.on_meta(7, 4).materialize("cpu", seed=5)
    module.blocks[0].weight = nn.Parameter(torch.full((4, 4), 9.0))
    module.statistics.running_mean = torch.full((4,), 8.0)

    module.materialize("cpu", seed=5)

    assert torch.equal(module.blocks[0].weight, torch.full((4, 4), 9.0))
    assert torch.equal(module.statistics.running_mean, torch.full((4,), 8.0))
    module.blocks[0].weight, module.statistics.running_mean = whole.blocks[0].weight, whole.statistics.running_mean
    assert_same(module, whole)


def test_materialising_twice_changes_nothing() -> None:
    module = Decoder.on_meta(7, 4).materialize("cpu", seed=5)
    before = {name: (id(tensor), tensor._version) for name, tensor in tensors(module).items()}
    state = torch.get_rng_state()

    assert module.materialize("cpu", dtype=torch.float64) is module

    assert {name: (id(tensor), tensor._version) for name, tensor in tensors(module).items()} == before
    assert torch.equal(torch.get_rng_state(), state)


def test_a_reset_parameters_that_calls_super_is_run_after_it() -> None:
    class Halved(Block):
        def reset_parameters(self) -> None:
            super().reset_parameters()
            with torch.no_grad():
                self.weight.mul_(0.5)
                self.weight[:, 0] = 0
                self.attention.out_proj.weight.fill_(2)

    halved = Halved.on_meta(4).materialize("cpu", seed=0)
    plain = Block.on_meta(4).materialize("cpu", seed=0)

    torch.testing.assert_close(halved.weight[:, 1:], plain.weight[:, 1:] * 0.5, rtol=0, atol=0)
    assert halved.weight[:, 0].tolist() == [0] * 4
    # That of a child, which is initialised before.
    assert torch.equal(halved.attention.out_proj.weight, torch.full((4, 4), 2.0))


def test_what_reset_parameters_assigns_is_made() -> None:
    class Rotary(nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.dim = dim
            self.register_buffer("inv_freq", torch.empty(dim), persistent=False)
            self.weight = nn.Parameter(torch.empty(3))
            self.cache: dict[str, int] = {}
            self.resets = 0
            self.table: Tensor | None = None
            self.reset_parameters()

        def reset_parameters(self) -> None:
            self.inv_freq = 1 / (10 ** (torch.arange(self.dim) / self.dim))
            self.table = torch.outer(torch.arange(3.0), self.inv_freq)
            self.weight = nn.Parameter(torch.arange(3.0))
            self.cache = {"length": 3}
            self.resets += 1

    class Net(Module):
        rotary: Rotary = submodule(Rotary, 4)

    rotary, real = Net.on_meta().materialize("cpu", seed=0).rotary, Rotary(4)
    assert rotary.table is not None and real.table is not None
    torch.testing.assert_close(rotary.inv_freq, real.inv_freq, rtol=0, atol=0)
    torch.testing.assert_close(rotary.table, real.table, rtol=0, atol=0)
    assert rotary.cache == {"length": 3} and [*rotary.parameters()] == [rotary.weight] and rotary.weight[2] == 2
    assert "inv_freq" not in rotary.state_dict() and rotary.resets == 2


def test_a_plain_attribute_that_is_filled_in_place_is_made() -> None:
    class Net(Module):
        dim: int
        weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

        def __post_init__(self) -> None:
            self.tables = [torch.empty(self.dim), torch.empty(2)]
            self.reset_parameters()

        def reset_parameters(self) -> None:
            super().reset_parameters()
            for table in getattr(self, "tables", ()):
                table.fill_(3)

    net = Net.on_meta(3)
    tables = net.tables
    net.materialize("cpu", seed=0)
    assert net.tables is tables
    assert [table.tolist() for table in tables] == [[3.0] * 3, [3.0] * 2]


def test_virtual_tensors_follow_and_forget_what_they_were_on_meta() -> None:
    module = Block.on_meta(4)
    assert module.causal.is_meta
    module.materialize("cpu", seed=0, dtype=torch.float16)
    assert module.causal.tolist() == Block(4).causal.tolist()


@nograd_tensors("basis")
class Waves(Module):
    """A module with its own constructor, and labelled and virtual tensors."""

    def __init__(self, sites: int) -> None:
        super().__init__()
        self.wave = LabelledTensor(torch.empty(sites, 2), ("site", "band"))
        self.basis = LabelledTensor(torch.empty(2, 2), ("band", "other"))
        self.decay = VirtualTensor(self, "decay", "_decay")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.wave.data)
        nn.init.eye_(self.basis.data)

    def _decay(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.exp(-self.wave.data)


def test_labelled_tensors_and_virtual_tensors_of_a_handwritten_constructor() -> None:
    waves = Waves.on_meta(500).materialize("cpu", seed=0)

    assert waves.wave.dims == ("site", "band")
    assert not waves.wave.data.is_meta and waves.wave.requires_grad
    assert float(waves.wave.data.detach().std()) == pytest.approx(1, rel=0.1)
    assert waves.basis.data.tolist() == [[1, 0], [0, 1]] and not waves.basis.requires_grad
    torch.testing.assert_close(waves.decay.value, torch.exp(-waves.wave.data))
    assert waves.decay.device.type == "cpu"


def test_wrappers_do_not_change_the_values() -> None:
    plain, module = Decoder.on_meta(7, 4), Decoder.on_meta(7, 4)
    nn.ModuleList.__setitem__(module.blocks, 1, checkpoint_wrapper(module.blocks[1]))
    plain.materialize("cpu", seed=0)
    module.materialize("cpu", seed=0)
    for one, other in zip(module.blocks, plain.blocks, strict=True):
        torch.testing.assert_close(one.weight, other.weight, rtol=0, atol=0)


def test_an_initialisation_may_read_a_real_buffer() -> None:
    class Reading(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", torch.arange(3.0, device="cpu"))
            self.register_buffer("squares", torch.empty(3))

        def reset_parameters(self) -> None:
            self.get_buffer("squares").copy_(self.get_buffer("steps") ** 2)

    class Net(Module):
        inner: Reading = submodule(Reading)

    net = Net.on_meta()
    steps = net.inner.get_buffer("steps")
    net.materialize("cpu", seed=0)
    assert net.inner.get_buffer("squares").tolist() == [0, 1, 4]
    assert net.inner.get_buffer("steps") is steps
