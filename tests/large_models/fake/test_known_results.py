"""Results of operations on fake tensors that are made anew, without computing them again."""

from __future__ import annotations

import gc
from collections.abc import Callable
from unittest.mock import patch
from weakref import ref

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from qten_gen import deferred_init, fake_mode, materialize_module
from qten_gen.large_models.fake.fake_tensor import Fake
from qten_gen.large_models.fake.known_results import fake_of
from qten_gen.large_models.fake.mode import FakeMode


class Layer(nn.Module):
    """A layer with products, a norm, views and an operation in place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.relu_(self.up(self.norm(x)).unflatten(-1, (2, -1)).transpose(-1, -2)).transpose(-1, -2)
        out: Tensor = self.down(inner.flatten(-2))
        return x + out


def computed(depth: int) -> int:
    """How many operations torch's mode computes for a model of equal layers, forward and backward."""
    with fake_mode():
        model = nn.Sequential(*(Layer(24) for _ in range(depth)))
        tokens = torch.ones(3, 5, 24)
        with patch.object(FakeTensorMode, "dispatch", autospec=True, side_effect=FakeTensorMode.dispatch) as dispatch:
            model(tokens).sum().backward()
    return dispatch.call_count


def test_a_layer_that_is_repeated_is_computed_once() -> None:
    computed(2)
    assert computed(30) - computed(2) < 40  # of each layer one, which torch is told a device for


OPERATIONS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "sum of two": lambda x, y: x + y,
    "number": lambda x, y: x + 1,
    "floating number": lambda x, y: x.long() + 1.0,
    "bool": lambda x, y: x.long() + True,
    "in place": lambda x, y: x.mul_(y),
    "comparison": lambda x, y: x > y,
    "reduction": lambda x, y: x.sum(0, keepdim=True),
    "two results": lambda x, y: x.max(0),
    "transposed": lambda x, y: x.t() * 2,
    "product": lambda x, y: x @ y.t(),
    "view": lambda x, y: x.view(-1),
    "part": lambda x, y: x[1:, ::2],
    "expanded": lambda x, y: x[:1].expand(4, -1),
    "clone in order": lambda x, y: x.t().clone(),
    "clone contiguous": lambda x, y: x.t().clone(memory_format=torch.contiguous_format),
    "list": lambda x, y: torch.cat([x, y, x]),
    "resized": lambda x, y: x.clone().resize_(2),
    "norm": lambda x, y: nn.functional.layer_norm(x, x.shape[1:]),
    "complex": lambda x, y: torch.complex(x, y).conj() * 2,
    "contiguous": lambda x, y: x.contiguous(),
}


def looks(value: object) -> object:
    """Everything of a result but its numbers."""
    if isinstance(value, (tuple, list)):
        return [looks(part) for part in value]
    assert isinstance(value, Tensor)
    return (
        value.shape,
        value.stride(),
        value.storage_offset(),
        value.dtype,
        value.device,
        value.is_conj(),
        value.requires_grad,
    )


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("gradient", [False, True])
def test_each_call_gives_what_eager_gives(name: str, gradient: bool) -> None:
    def given() -> tuple[Tensor, Tensor]:
        x, y = torch.ones(4, 6, requires_grad=gradient), torch.ones(4, 6)
        return (x.clone() if gradient else x), y

    with torch.enable_grad():
        try:
            eager = looks(OPERATIONS[name](*given()))
        except RuntimeError:  # resize_ of a tensor that requires a gradient
            return
        with fake_mode():
            for _ in range(3):
                assert looks(OPERATIONS[name](*given())) == eager


def test_results_do_not_share_memory_and_parts_do() -> None:
    with fake_mode():
        x = torch.ones(4, 6)
        one, other = x + 1, x + 1
        part = x.view(-1)
        assert part._base is x
        one.add_(1)
        assert other._version < one._version
        x.add_(1)
        assert part._version == x._version


def test_the_default_dtype_and_the_device_are_not_mixed_up() -> None:
    with fake_mode(fake_cuda=True):
        for _ in range(2):
            for device in ("cpu", "cuda:0", "cuda:1"):
                numbers = torch.ones(3, dtype=torch.long, device=device)
                assert (numbers / 2).dtype == torch.float32
                assert (numbers / 2).device == torch.device(device)
                torch.set_default_dtype(torch.float64)
                try:
                    assert (numbers / 2).dtype == torch.float64
                finally:
                    torch.set_default_dtype(torch.float32)


def test_what_is_wrong_is_refused_each_time() -> None:
    with fake_mode():
        x = torch.ones(4, 6)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="broadcast"):
                x + torch.ones(5)
            with pytest.raises(RuntimeError, match="view"):
                x.t().view(-1)


def test_a_number_that_was_written_out_keeps_its_value() -> None:
    with fake_mode():
        for _ in range(2):
            assert (torch.tensor(3) + 1).item() == 4
            assert torch.tensor([3]).view(()).item() == 3


def test_inference_mode_is_kept_apart() -> None:
    with fake_mode():
        x = torch.ones(4, 6)
        for _ in range(2):
            assert not (x * 3).is_inference()
            with torch.inference_mode():
                assert (x * 3).is_inference()


def test_a_tensor_made_like_others_has_what_torch_gives_it() -> None:
    mode = FakeMode()
    made = [fake_of(mode, torch.ones(2, device="meta"), torch.device("cpu")) for _ in range(2)]
    theirs = Fake(mode, torch.ones(2, device="meta"), torch.device("cpu"))
    assert vars(made[0]).keys() == vars(made[1]).keys() == vars(theirs).keys()
    assert type(made[1]) is Fake


def test_no_mode_is_kept_alive() -> None:
    layer = deferred_init(nn.Linear, 3, 4)
    mode = ref(getattr(layer.weight, "fake_mode"))  # noqa: B009 # of the fake tensor
    materialize_module(layer)
    gc.collect()
    assert mode() is None
