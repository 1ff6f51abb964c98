"""Random constructors: sequences of operations on tensors, views and modules give the same deferred as eager."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from .comparing import assert_same_as_eager

Step = Callable[[list[Tensor], int], Tensor | None]


def _pick(tensors: list[Tensor], number: int) -> Tensor:
    return tensors[number % len(tensors)]


def _made_by(function: Callable[[Tensor], Tensor]) -> Step:
    return lambda tensors, number: function(_pick(tensors, number))


def _changed(tensors: list[Tensor], number: int, change: Callable[[Tensor], object]) -> None:
    tensor = _pick(tensors, number)
    with torch.no_grad():
        # Eager refuses to write into expanded memory.
        if 0 not in tensor.stride() and tensor.is_floating_point():
            change(tensor)


def _in_place(change: Callable[[Tensor], object]) -> Step:
    return lambda tensors, number: _changed(tensors, number, change)


def _fork(tensors: list[Tensor], number: int) -> Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        return torch.randn(2, 3)


def _seed(tensors: list[Tensor], number: int) -> None:
    torch.manual_seed(number % 3)


def _read(tensors: list[Tensor], number: int) -> Tensor:
    value = _pick(tensors, number).detach().double().sum().item()
    return torch.full((2,), value if math.isfinite(value) else 0.5)


def _exchange(tensors: list[Tensor], number: int) -> None:
    tensor, other = _pick(tensors, number), _pick(tensors, number // 7)
    if tensor.dtype == other.dtype and tensor.is_leaf:
        tensor.data = other.detach()


def _copy(tensors: list[Tensor], number: int) -> None:
    tensor, other = _pick(tensors, number), _pick(tensors, number // 5)
    if tensor.shape == other.shape and 0 not in tensor.stride():
        with torch.no_grad():
            tensor.copy_(other.clone())


STEPS: dict[str, Step] = {
    "randn": lambda tensors, number: torch.randn(2, 1 + number % 4),
    "zeros": lambda tensors, number: torch.zeros(3, 2),
    "arange": lambda tensors, number: torch.arange(1 + number % 5, dtype=torch.float64),
    "constant": lambda tensors, number: torch.tensor([1.0, number]),
    "parameter": _made_by(lambda tensor: nn.Parameter(tensor.detach().clone())),
    "parameter of the same memory": _made_by(lambda tensor: nn.Parameter(tensor.detach())),
    "transpose": _made_by(lambda tensor: tensor.detach().t() if tensor.dim() == 2 else tensor.detach()),
    "half of it": _made_by(lambda tensor: tensor.detach()[: max(1, len(tensor) // 2)]),
    "every second": _made_by(lambda tensor: tensor.detach()[..., ::2]),
    "expand": _made_by(lambda tensor: tensor.detach().unsqueeze(0).expand(2, *tensor.shape)[0]),
    "positive": _made_by(lambda tensor: torch.cat([tensor.detach()[tensor.detach() > 0], torch.ones(1).to(tensor)])),
    "product": _made_by(lambda tensor: tensor.detach() * 2.5),
    "to half": _made_by(lambda tensor: tensor.detach().half()),
    "to double": _made_by(lambda tensor: tensor.detach().double()),
    "dropout": _made_by(lambda tensor: nn.functional.dropout(tensor.detach(), 0.5)),
    "linear": lambda tensors, number: nn.Linear(2, 1 + number % 3).weight,
    "orthogonal": lambda tensors, number: nn.init.orthogonal_(torch.empty(3, 2)),
    "add": _in_place(lambda tensor: tensor.add_(1)),
    "fill": _in_place(lambda tensor: tensor.fill_(0.25)),
    "normal": _in_place(lambda tensor: tensor.normal_()),
    "uniform": _in_place(lambda tensor: tensor.uniform_(-1, 1)),
    "first row": _in_place(lambda tensor: tensor[0].zero_()),
    "copy": _copy,
    "exchange": _exchange,
    "read": _read,
    "fork": _fork,
    "seed": _seed,
}


class Program(nn.Module):
    """A module whose constructor carries out steps, and keeps every tensor that they make."""

    def __init__(self, steps: list[tuple[str, int]]) -> None:
        super().__init__()
        tensors = [torch.randn(2, 3)]
        for name, number in steps:
            made = STEPS[name](tensors, number)
            if made is not None:
                tensors.append(made)
        self.kept = tensors
        for index, tensor in enumerate(tensors):
            if isinstance(tensor, nn.Parameter):
                self.register_parameter(f"p{index}", tensor)
            elif index % 2:
                self.register_buffer(f"b{index}", tensor)


# Without shrinking: a failing program is short, and shrinking it takes minutes.
@settings(
    max_examples=50,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.generate],
)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99)), max_size=14), st.integers(0, 5))
def test_a_random_constructor_gives_the_same_deferred_as_eager(steps: list[tuple[str, int]], seed: int) -> None:
    assert_same_as_eager(lambda: Program(steps), seed)
