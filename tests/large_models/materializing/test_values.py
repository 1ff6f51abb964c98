"""`Class.on_meta` constructs without memory; `materialize` gives the constants of eager, and numbers of seed and name alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param

from .declared import Block, Decoder, assert_same, tensors


def test_every_tensor_is_on_meta_and_has_the_shape_and_dtype_of_the_real_one() -> None:
    module = Decoder.on_meta(7, 4, depth=3)
    real = tensors(Decoder(7, 4, depth=3))

    assert {tensor.device.type for tensor in tensors(module).values()} == {"meta"}
    assert {n: (t.shape, t.dtype) for n, t in tensors(module).items()} == {
        n: (t.shape, t.dtype) for n, t in real.items()
    }
    assert module.get_config() == {"vocab": 7, "dim": 4, "depth": 3}


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


def test_a_class_method_of_the_class_can_call_it() -> None:
    class Sized(Module):
        dim: int
        scale: Tensor = buffer("dim", initializer=nn.init.ones_)

        @classmethod
        def small(cls) -> Sized:
            return cls.on_meta(2)  # type: ignore[arg-type] # mypy takes a `type[Self]` for a function without parameters

    assert Sized.small().scale.shape == (2,)


def test_everything_has_a_value_and_the_kind_that_eager_gives() -> None:
    state = torch.get_rng_state()
    module = Decoder.on_meta(7, 4, depth=2).materialize("cpu", seed=0)
    assert torch.equal(torch.get_rng_state(), state)
    real = tensors(Decoder(7, 4, depth=2))

    assert list(tensors(module)) == list(real)
    for name, tensor in tensors(module).items():
        twin = real[name]
        assert tensor.device.type == "cpu", name
        assert (tensor.shape, tensor.dtype, tensor.stride()) == (twin.shape, twin.dtype, twin.stride()), name
        assert (type(tensor), tensor.requires_grad) == (type(twin), twin.requires_grad), name
        assert bool(tensor.isfinite().all()), name


def test_the_same_seed_gives_the_same_values_and_another_seed_others() -> None:
    one, same, other = (Decoder.on_meta(7, 4).materialize("cpu", seed=seed) for seed in (1, 1, 2))

    assert_same(one, same)
    assert not torch.equal(one.blocks[0].weight, other.blocks[0].weight)


def test_the_generator_of_torch_gives_the_seed_where_none_is_given() -> None:
    torch.manual_seed(4)
    one = Decoder.on_meta(7, 4).materialize("cpu")
    second = Decoder.on_meta(7, 4).materialize("cpu")
    torch.manual_seed(4)
    again = Decoder.on_meta(7, 4).materialize("cpu")

    assert_same(one, again)
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
