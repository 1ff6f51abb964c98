"""Values that constructors draw."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import random
from typing import Any

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from . import constructor


@constructor
def clusters_of_samples(module: Any) -> None:
    samples = torch.randn(20, 3)
    means = samples[torch.randperm(20)[:4]]
    for _ in range(3):
        nearest = torch.cdist(samples, means).argmin(dim=-1)
        bins = torch.bincount(nearest, minlength=4)
        new = torch.zeros(4, 3).scatter_add_(0, nearest[:, None].expand(-1, 3), samples)
        means = torch.where((bins == 0)[:, None], means, new / bins.clamp(min=1)[:, None])
    module.register_buffer("embed", means)
    module.register_buffer("initted", torch.Tensor([True]))


@constructor
def an_invertible_rotation(module: Any) -> None:
    weight = torch.linalg.qr(torch.randn(4, 4))[0]
    if torch.det(weight) < 0:
        weight[:, 0] = -1 * weight[:, 0]
    module.weight = nn.Parameter(weight)
    p, low, up = torch.linalg.lu(weight)
    s = up.diag()
    module.register_buffer("p", p)
    module.register_buffer("sign", torch.sign(s))
    module.low, module.log_s, module.up = (
        nn.Parameter(low),
        nn.Parameter(torch.log(torch.abs(s))),
        nn.Parameter(torch.triu(up, 1)),
    )
    old = torch.linalg.qr(torch.FloatTensor(3, 3).normal_())[0]
    module.old = nn.Parameter(old)


@constructor
def random_features_that_are_orthogonal(module: Any) -> None:
    blocks = [torch.linalg.qr(torch.randn(4, 4), mode="reduced")[0].t() for _ in range(2)] + [
        torch.linalg.qr(torch.randn(4, 4))[0].t()[:2]
    ]
    multiplier = torch.randn((10, 4)).norm(dim=1)
    module.register_buffer("projection", torch.diag(multiplier) @ torch.cat(blocks))
    module.register_buffer("frequencies", torch.randn(8) * 16)
    module.fixed = nn.Parameter(torch.randn(3) * 30.0, requires_grad=False)


@constructor
def generators_of_python_and_numpy(module: Any) -> None:
    numpy.random.seed(0)
    random.seed(0)
    module.a = torch.from_numpy(numpy.random.randn(3))
    module.b = torch.tensor(numpy.random.default_rng(42).normal(size=3))
    module.c = torch.tensor([random.random() for _ in range(3)])
    order = list(range(5))
    random.shuffle(order)
    module.order = order
    module.d = torch.from_numpy(numpy.random.RandomState(7).uniform(size=(2, 2))).float()
    module.layers = nn.ModuleList([nn.Linear(2, 2) if random.random() < 0.5 else nn.Identity() for _ in range(4)])
    module.e = torch.empty((), dtype=torch.int64).random_().item()
    g = torch.Generator()
    g.manual_seed(int(module.e) % 1000)
    module.f = torch.randperm(5, generator=g)
    module.g = torch.rand(2)


@constructor
def a_generator_that_is_kept(module: Any) -> None:
    module.generator = torch.Generator().manual_seed(3)
    module.a = torch.randn(2, generator=module.generator)


@constructor
def quaternions(module: Any) -> None:
    shape = (3, 4)
    rng = numpy.random.RandomState(numpy.random.randint(1, 1234))
    modulus = rng.uniform(size=shape)
    phase = rng.uniform(low=-numpy.pi, high=numpy.pi, size=shape)
    module.r = nn.Parameter(torch.Tensor(*shape))
    module.r.data = torch.from_numpy(modulus * numpy.cos(phase)).type_as(module.r.data)
    module.i = nn.Parameter(torch.zeros(1))
    module.i.data = torch.from_numpy(modulus * numpy.sin(phase)).float()


@constructor
def draws_of_every_size(module: Any) -> None:
    module.a = torch.randn(17)
    module.b = torch.randn(16)
    module.c = torch.randn(15)
    module.d = torch.rand(1000)
    module.e = torch.randperm(40000)[:3].clone()
    module.f = torch.randn(1)
    module.g = torch.randint(2**40, (3,))
    module.h = torch.empty(3, dtype=torch.int64).random_(0, 10)
    module.i = torch.randint(0, 2, (3,), dtype=torch.bool)


@constructor
def functions_that_draw(module: Any) -> None:
    module.a = nn.Dropout(0.5)(torch.ones(5))
    module.b = F.gumbel_softmax(torch.randn(3))
    module.c = F.dropout1d(torch.ones(1, 3, 2))
    q, k, v = torch.randn(3, 1, 2, 3, 4)
    module.d = F.scaled_dot_product_attention(q, k, v)
    module.e = F.fractional_max_pool2d(torch.randn(1, 4, 4), 2, output_size=2)


@constructor
def draws_within_vmap(module: Any) -> None:
    module.a = torch.func.vmap(lambda _: torch.randn(2), randomness="different")(torch.arange(3.0))


@constructor
def places_that_values_decide(module: Any) -> None:
    allowed = torch.BoolTensor([c in "ACD" for c in "ABCDE"])
    module.places = torch.nonzero(allowed).squeeze()
    (rows,) = torch.where(allowed)
    module.rows = rows
    module.picked = torch.masked_select(torch.randn(5), allowed)
    module.scattered = torch.zeros(5).masked_scatter_(allowed, torch.randn(5))
    module.layer = nn.Linear(int(allowed.sum()), 2)


@constructor
def draws_in_every_precision(module: Any) -> None:
    module.a = nn.Linear(2, 2, dtype=torch.bfloat16)
    module.b = nn.LayerNorm(2, dtype=torch.float64)
    module.c = torch.randn(2, dtype=torch.float16)
    module.d = torch.empty(3, dtype=torch.bfloat16).uniform_()
    module.e = torch.empty(3, dtype=torch.float16).normal_()
    module.f = nn.init.trunc_normal_(torch.empty(3, dtype=torch.bfloat16))
    module.g = nn.init.orthogonal_(torch.empty(3, 3)).half()
    module.h = torch.empty(20).bernoulli_(0.3)
    module.i = torch.empty(16, dtype=torch.double).normal_()
