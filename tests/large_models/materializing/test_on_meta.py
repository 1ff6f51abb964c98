"""`Class.on_meta`: constructing without memory."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, submodule

from .declared import Block, Decoder, tensors


def test_every_tensor_is_on_meta_and_has_the_shape_and_dtype_of_the_real_one() -> None:
    module = Decoder.on_meta(7, 4, depth=3)
    real = tensors(Decoder(7, 4, depth=3))

    assert {tensor.device.type for tensor in tensors(module).values()} == {"meta"}
    assert {n: (t.shape, t.dtype) for n, t in tensors(module).items()} == {
        n: (t.shape, t.dtype) for n, t in real.items()
    }
    assert module.get_config() == {"vocab": 7, "dim": 4, "depth": 3}


def test_a_module_that_takes_no_device_is_on_meta_too() -> None:
    class Old(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

    class Net(Module):
        old: Old = submodule(Old)

    assert Net.on_meta().old.weight.is_meta


def test_what_names_its_device_is_real() -> None:
    class Net(Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.arange(3, device="cpu"))
            self.weight = nn.Parameter(torch.ones(3))

    net = Net.on_meta()
    assert net.get_buffer("table").tolist() == [0, 1, 2]
    assert net.get_parameter("weight").is_meta


def test_another_device_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Block.on_meta\(\): got device='cpu'; it constructs on meta"):
        Block.on_meta(4, device="cpu")
    assert Block.on_meta(4, device="meta").weight.is_meta


def test_wrong_arguments_are_those_of_the_constructor() -> None:
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
