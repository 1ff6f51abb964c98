"""`Class.on_meta` constructs without memory; `materialize` gives the constants of eager, numbers of seed and name, and ties."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from qten_gen import Module, param, submodule

from .declared import Block, Decoder, assert_same, tensors


def test_what_takes_no_device_is_on_meta_too_and_what_names_one_is_there() -> None:
    class Net(Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.arange(3, device="cpu"))
            self.weight = nn.Parameter(torch.ones(3))

    net = Net.on_meta()
    assert net.get_buffer("table").tolist() == [0, 1, 2] and net.get_parameter("weight").is_meta
    assert Block.on_meta(4, device="meta").weight.is_meta
    with pytest.raises(TypeError, match=r"Block.on_meta\(\): got device='cpu'; it constructs on meta"):
        Block.on_meta(4, device="cpu")
    with pytest.raises(TypeError, match="dimm"):
        Block.on_meta(dimm=4)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_a_constructor_that_reads_values_says_what_can_build_it() -> None:
    class Reading(Module):
        def __init__(self) -> None:
            super().__init__()
            self.rates = torch.linspace(0, 1, 3).tolist()

    with pytest.raises((NotImplementedError, RuntimeError)) as caught:
        Reading.on_meta()
    assert any("deferred_init" in note for note in caught.value.__notes__)


def test_everything_has_a_value_and_the_kind_that_eager_gives() -> None:
    state = torch.get_rng_state()
    module, real = Decoder.on_meta(7, 4, depth=3), tensors(Decoder(7, 4, depth=3))
    torch.set_rng_state(state)
    assert all(tensor.is_meta for tensor in tensors(module).values())
    assert module.get_config() == {"vocab": 7, "dim": 4, "depth": 3}
    for is_made in (False, True):
        assert list(tensors(module)) == list(real)
        for name, tensor in tensors(module).items():
            twin = real[name]
            assert (tensor.shape, tensor.dtype, tensor.stride()) == (twin.shape, twin.dtype, twin.stride()), name
            assert (type(tensor), tensor.requires_grad) == (type(twin), twin.requires_grad), name
            assert not is_made or (tensor.device.type == "cpu" and bool(tensor.isfinite().all())), name
        module.materialize("cpu", seed=0)
    assert torch.equal(torch.get_rng_state(), state)


def test_values_depend_on_the_seed_which_the_generator_of_torch_gives_otherwise() -> None:
    one, same, other = (Decoder.on_meta(7, 4).materialize("cpu", seed=seed) for seed in (1, 1, 2))
    assert_same(one, same)
    assert not torch.equal(one.blocks[0].weight, other.blocks[0].weight)
    torch.manual_seed(4)
    one, second = (Decoder.on_meta(7, 4).materialize("cpu") for _ in range(2))
    torch.manual_seed(4)
    assert_same(one, Decoder.on_meta(7, 4).materialize("cpu"))
    assert not torch.equal(one.embed.weight, second.embed.weight)


class Seeding(Module):
    """Seeds the global generator, as some repositories do to get the same weights in each process."""

    dim: int = 3
    weight: nn.Parameter = param("dim", initializer=nn.init.normal_)

    def reset_parameters(self) -> None:
        torch.manual_seed(5)
        super().reset_parameters()


def test_a_reset_parameters_that_seeds_has_its_own_values_and_leaves_the_generator_alone() -> None:
    module = Seeding.on_meta()
    state = torch.get_rng_state()
    module.materialize("cpu", seed=0)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(module.weight, Seeding().weight)


def test_a_name_counts_from_the_module_that_is_materialised_unless_a_prefix_is_given() -> None:
    whole = Decoder.on_meta(7, 4).materialize("cpu", seed=5)
    alone = Block.on_meta(4, layer=1).materialize("cpu", seed=5)
    placed = Block.on_meta(4, layer=1).materialize("cpu", seed=5, prefix="blocks.1")

    assert not torch.equal(alone.weight, whole.blocks[1].weight)
    assert_same(placed, whole.blocks[1])


def test_a_dtype_rounds_the_values_and_leaves_declared_dtypes() -> None:
    single = Decoder.on_meta(7, 4).materialize("cpu", seed=0)
    half = Decoder.on_meta(7, 4).materialize("cpu", seed=0, dtype=torch.bfloat16)

    for name, tensor in tensors(half).items():
        twin = tensors(single)[name]
        declared = name.endswith("exact") or not twin.is_floating_point()
        assert tensor.dtype == (twin.dtype if declared else torch.bfloat16), name
        torch.testing.assert_close(tensor, twin.to(tensor.dtype), rtol=0, atol=0, msg=name)


class Tied(Module):
    """Ties by hand, in the direction that a flag says."""

    embed_is_head: bool
    embed: nn.Embedding = submodule(nn.Embedding, 50, 40)
    head: nn.Linear = submodule(nn.Linear, 40, 50, bias=False)

    def __post_init__(self) -> None:
        if self.embed_is_head:
            self.embed.weight = self.head.weight
        else:
            self.head.weight = self.embed.weight
        self.register_module("again", self.head)


@pytest.mark.parametrize("embed_is_head", [False, True])
def test_a_tie_by_hand_holds_and_has_the_distribution_of_the_module_that_made_it(embed_is_head: bool) -> None:
    with torch.device("meta"):
        plain = Tied(embed_is_head)
    expected = float(Tied(embed_is_head).head.weight.detach().std())
    pickled: Tied = pickle.loads(pickle.dumps(Tied.on_meta(embed_is_head)))
    made = [Tied.on_meta(embed_is_head), plain, copy.deepcopy(plain), pickled]
    for module in made:
        alias = nn.ParameterList([module.embed.weight])
        module.materialize("cpu", seed=0)
        assert module.head.weight is module.embed.weight is alias[0]
        assert module.get_submodule("again") is module.head
        assert_same(module, made[0])
        assert float(module.head.weight.detach().std()) == pytest.approx(expected, rel=0.1)


def test_the_tensors_stay_the_objects_that_they_are() -> None:
    module = Decoder.on_meta(7, 4)
    before = list(module.parameters())
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)

    module.materialize("cpu", seed=0)

    kept = [one is other for one, other in zip(before, module.parameters(), strict=True)]
    assert kept.count(False) == 4  # those of the LSTM, which refers to them weakly
    assert module.head is module.embed.weight
    module.head.grad = torch.ones_like(module.head)
    value = module.embed.weight.detach().clone()
    optimizer.step()
    torch.testing.assert_close(module.embed.weight, value - 1)


def test_where_the_parent_changes_a_tied_tensor_that_counts() -> None:
    class Net(Module):
        embed: nn.Embedding = submodule(nn.Embedding, 5, 4)
        head: nn.Parameter = param(tie="embed.weight")

        def reset_parameters(self) -> None:
            with torch.no_grad():
                self.head.fill_(3)

    assert torch.equal(Net.on_meta().materialize("cpu", seed=0).embed.weight, torch.full((5, 4), 3.0))
