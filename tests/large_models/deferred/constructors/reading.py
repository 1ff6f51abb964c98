"""What Python and NumPy read from tensors."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import math
from typing import Any

import numpy
import torch
from torch import nn

from . import constructor


@constructor
def sizes_found_by_running(module: Any) -> None:
    module.features = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.MaxPool2d(2), nn.Flatten()
    )
    with torch.no_grad():
        n = module.features(torch.randn(2, 1, 8, 8)).shape[1]
    module.head = nn.Linear(n, 2)


@constructor
def python_on_tensors(module: Any) -> None:
    x: Any = torch.tensor([3, 1, 2])
    module.n = len(x)
    module.rows = [int(v) for v in x]
    a, b, c = x
    module.a = a
    module.max = max(x).item()
    module.total = int(sum([b, c]))
    module.range = list(range(int(b)))
    module.picked = ["p", "q", "r", "s"][a]
    module.root = math.sqrt(torch.tensor(4.0))
    module.round = round(torch.tensor(2.5).item())
    module.text = f"{torch.tensor(0.5):.3f} {x.tolist()}"
    module.str = str(x.shape)
    module.slice = list(range(5))[:c]
    module.contained = 3 in x
    module.bool = bool(x.any())
    module.not_ = not torch.tensor(0)
    module.equal = torch.equal(x, x.clone())
    module.close = torch.allclose(x.float(), x.float())
    module.key = {x: 1}[x]
    module.complex = complex(torch.tensor(1j))
    module.rev = list(reversed(x.tolist()))
    module.shape = torch.zeros(tuple(x)).shape


@constructor
def numpy_on_tensors(module: Any) -> None:
    x = torch.rand(3)
    module.a = numpy.sqrt(x)
    module.b = torch.tensor(numpy.array([float(v) for v in x]))
    module.c = torch.as_tensor(x.numpy() * 2)
    module.d = torch.tensor(numpy.asarray(x))
    module.e = float(numpy.mean(x.numpy()))
    module.f = torch.from_numpy(numpy.outer(x.numpy(), x.numpy()))
    module.g = numpy.asarray(x).copy()
    module.h = torch.tensor(x.detach().cpu().numpy().tolist())


@constructor
def numbers_of_numpy(module: Any) -> None:
    module.b = numpy.float64(2) * torch.rand(2)
    number: Any = numpy.int64(2)
    module.d = torch.rand(2) ** number
    module.e = torch.full((2,), numpy.pi)
    module.f = torch.rand(3)[numpy.array([0, 2])]
    module.g = torch.zeros(3)
    module.g[numpy.array([True, False, True])] = 1
    module.h = torch.zeros(number, 3)


@constructor
def an_array_that_meets_a_tensor(module: Any) -> None:
    module.c = torch.rand(2) * numpy.arange(2.0)


@constructor
def an_error_that_is_handled(module: Any) -> None:
    try:
        torch.zeros(2) @ torch.zeros(3)
    except RuntimeError:
        module.fallback = torch.randn(2)
    w = torch.randn(3, 3)
    if not torch.isfinite(w).all():
        raise ValueError
    assert torch.linalg.matrix_rank(w) > 0
    module.w = w


@constructor
def gradients_that_are_computed(module: Any) -> None:
    w = nn.Parameter(torch.randn(3))
    (g,) = torch.autograd.grad((w**2).sum(), w, create_graph=True)
    module.g = g.detach()
    module.w = w


@constructor
def operations_on_lists(module: Any) -> None:
    weights = [nn.Parameter(torch.randn(2)), nn.Parameter(torch.randn(3))]
    module.norm = nn.utils.get_total_norm(weights).item()
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    torch.optim.SGD(weights, lr=0.1, foreach=True).step()
    nn.utils.clip_grad_norm_(weights, 1.0)
    module.weights = weights
