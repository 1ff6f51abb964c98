"""Tables, masks and filters that constructors compute."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import functools
import io
import math
from typing import Any

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from . import constructor


@constructor
def rates_of_drop_path_by_item(module: Any) -> None:
    module.rates = [x.item() for x in torch.linspace(0, 0.1, 4)]
    module.stages = [x.tolist() for x in torch.linspace(0, 0.2, 6).split([1, 2, 3])]
    module.layers = nn.ModuleList([nn.Dropout(p) for p in module.rates])


@constructor
def sinusoidal_positions(module: Any) -> None:
    table = torch.zeros(6, 4)
    position = torch.arange(0, 6, dtype=torch.float).unsqueeze(1)
    rates = torch.exp(torch.arange(0, 4, 2).float() * -(math.log(10000.0) / 4))
    table[:, 0::2] = torch.sin(position * rates)
    table[:, 1::2] = torch.cos(position * rates)
    module.register_buffer("table", table.unsqueeze(0))


@constructor
def rotary_tables(module: Any) -> None:
    rates = 1.0 / 10000 ** (torch.arange(0, 8, 2, dtype=torch.int64).float() / 8)
    module.register_buffer("rates", rates, persistent=False)
    module.original = module.rates
    emb = torch.cat(((a := torch.outer(torch.arange(5).type_as(rates), rates)), a), dim=-1)
    module.register_buffer("cos", emb.cos()[None, None].to(torch.float16), persistent=False)
    module.phases = torch.polar(torch.ones_like(a), a)
    module.real = torch.view_as_real(module.phases)


@constructor
def index_of_relative_positions(module: Any) -> None:
    module.bias = nn.Parameter(torch.zeros(9, 2))
    coords = torch.flatten(torch.stack(torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")), 1)
    relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
    relative[:, :, 0] += 1
    relative[:, :, 1] += 1
    relative[:, :, 0] *= 3
    module.register_buffer("index", relative.sum(-1))
    module.gathered = module.bias[module.index.view(-1)].view(4, 4, -1).permute(2, 0, 1).contiguous().detach()
    nn.init.trunc_normal_(module.bias, std=0.02)


@constructor
def schedule_of_a_diffusion(module: Any) -> None:
    betas = numpy.linspace(0.1, 0.9, 5, dtype=numpy.float64) ** 2
    alphas = numpy.cumprod(1.0 - betas, axis=0)
    to_torch = functools.partial(torch.tensor, dtype=torch.float32)
    module.register_buffer("betas", to_torch(betas))
    module.register_buffer("previous", to_torch(numpy.append(1.0, alphas[:-1])))
    module.register_buffer("padded", F.pad(torch.from_numpy(alphas)[:-1], (1, 0), value=1.0))
    module.register_buffer("log", to_torch(numpy.log(numpy.maximum(alphas, 1e-20))))
    module.register_buffer("steps", torch.from_numpy(numpy.arange(0, 5)[::-1].copy().astype(numpy.int64)))
    snr = torch.from_numpy(alphas / (1 - alphas))
    clipped = snr.clone()
    clipped.clamp_(max=2)
    module.register_buffer("weight", clipped / snr)
    module.sigma = module.betas[-1].item()


@constructor
def masks_of_attention(module: Any) -> None:
    module.register_buffer("causal", torch.tril(torch.ones(4, 4)).view(1, 1, 4, 4).bool())
    module.register_buffer("added", torch.empty(4, 4).fill_(float("-inf")).triu_(1))
    module.register_buffer(
        "filled", torch.zeros(4, 4).masked_fill(module.causal[0, 0].logical_not(), torch.finfo(torch.float32).min)
    )
    window = torch.zeros(4, 4, dtype=torch.bool)
    for i in range(4):
        window[i, max(0, i - 1) : i + 1] = True
    window[window.sum(-1) > 1] = False
    module.window = window


@constructor
def basis_of_a_short_time_fourier_transform(module: Any) -> None:
    basis = numpy.fft.fft(numpy.eye(8))
    basis = numpy.vstack([numpy.real(basis[:5, :]), numpy.imag(basis[:5, :])])
    module.register_buffer("forward_", torch.FloatTensor(basis[:, None, :]))
    module.register_buffer("inverse", torch.linalg.pinv(2 * module.forward_[:, 0]).T[:, None, :])


@constructor
def state_matrix_of_a_state_space_model(module: Any) -> None:
    a = torch.arange(1, 5, dtype=torch.float32).repeat(3, 1)
    log: Any = nn.Parameter(torch.log(a))
    log._no_weight_decay = True
    module.log = log
    dt = torch.exp(torch.rand(3) * (math.log(0.1) - math.log(0.001)) + math.log(0.001)).clamp(min=0.0001)
    layer: Any = nn.Linear(2, 3)
    with torch.no_grad():
        layer.bias.copy_(dt + torch.log(-torch.expm1(-dt)))
    layer.bias._no_reinit = True
    module.layer = layer
    module.c = nn.Parameter(torch.view_as_real(torch.randn(3, dtype=torch.cfloat)))
    p = torch.sqrt(1 + 2 * torch.arange(4.0))
    hippo = torch.tril(p[:, None] * p[None, :]) - torch.diag(torch.arange(4.0))
    module.values, module.vectors = torch.linalg.eigh(hippo + hippo.T)
    module.symmetric = torch.matrix_exp(-hippo)


@constructor
def degrees_of_masked_layers(module: Any) -> None:
    inputs, hidden = (torch.arange(1, 5), torch.randint(1, 4, (6,)))
    module.register_buffer("mask", (hidden.unsqueeze(-1) >= inputs.unsqueeze(0)).float())
    module.layer = nn.Linear(4, 6)
    module.layer.weight.data *= module.mask
    module.register_buffer("flipped", 1 - module.mask)
    module.order = torch.randperm(4)
    module.inverse = torch.argsort(module.order)


@constructor
def coefficients_in_double_precision(module: Any) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        x = torch.randn(5, 3, dtype=torch.float64)
    c = torch.einsum("bi,bj,bk->ijk", x, x, x)
    c = c / c.norm()
    c[c.abs() < 0.001] = 0
    module.register_buffer("w", c.to(torch.get_default_dtype()))
    module.inverse = torch.linalg.inv(x[:3] @ x[:3].T)


@constructor
def matrices_of_a_graph(module: Any) -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    degree = torch.zeros(3).scatter_add_(0, edges[0], torch.ones(4))
    inverse = degree.pow(-0.5)
    inverse.masked_fill_(inverse == float("inf"), 0)
    adjacency = torch.zeros(3, 3)
    adjacency[edges[0], edges[1]] = inverse[edges[0]] * inverse[edges[1]]
    adjacency.index_put_((edges[0], edges[0]), torch.tensor(1.0), accumulate=True)
    module.register_buffer("adjacency", adjacency)
    module.paths = torch.linalg.matrix_power(adjacency, 3)
    module.pairs = torch.combinations(torch.arange(4))
    module.lower = torch.tril_indices(3, 3, -1)
    module.product = torch.cartesian_prod(torch.arange(2), torch.arange(3))


@constructor
def complex_numbers(module: Any) -> None:
    module.weight = nn.Parameter(torch.randn(3, 2, dtype=torch.cfloat))
    module.conjugated = module.weight.detach().conj()
    module.adjoint = module.weight.detach().mH.resolve_conj()
    module.imag = module.weight.detach().imag
    module.spectrum = torch.fft.fft2(torch.randn(4, 4))
    module.complex = torch.complex(torch.randn(2), torch.randn(2))
    module.angle = module.complex.angle()
    module.spectrum[0] = 1j
    module.product = torch.view_as_complex(torch.randn(3, 2)) * module.spectrum[:3, 0]


@constructor
def bits_and_packed_numbers(module: Any) -> None:
    w = torch.randint(0, 16, (4, 8), dtype=torch.int32)
    packed = torch.zeros(4, 1, dtype=torch.int32)
    for i in range(8):
        packed[:, 0] |= w[:, i] << 4 * i
    module.register_buffer("packed", packed)
    module.bytes = packed.view(torch.uint8)
    module.half = torch.randn(4).view(torch.int32).bitwise_and(2147483647).view(torch.float32)
    module.float8 = torch.randn(4).to(torch.float8_e4m3fn)
    module.quantised = torch.fake_quantize_per_tensor_affine(torch.randn(4), 0.1, 0, -128, 127)
    module.scale = torch.randn(4).abs().amax() / 127


@constructor
def tensors_of_no_size_and_every_dtype(module: Any) -> None:
    module.a = torch.tensor([])
    module.b = torch.empty(0, 3)
    module.c = nn.Parameter(torch.zeros(0))
    module.d = torch.tensor([True])
    module.e = torch.zeros(2, dtype=torch.float64)
    module.f = torch.tensor([True, False])
    module.g = torch.LongTensor([1])
    module.h = torch.ByteTensor(2).zero_()
    module.i = torch.HalfTensor([1])
    module.j = torch.IntTensor(3).fill_(2)
    module.k = torch.zeros(1, dtype=torch.uint16)
    module.l = torch.tensor(2**40)
    module.n = torch.arange(3, dtype=torch.int8)


@constructor
def writing_by_index(module: Any) -> None:
    x = torch.zeros(5, 3)
    x.index_copy_(0, torch.tensor([0, 2]), torch.randn(2, 3))
    x.index_fill_(0, torch.tensor([1]), 4)
    x.index_add_(0, torch.tensor([3, 3]), torch.ones(2, 3))
    x.scatter_(1, torch.tensor([[0], [1]]), 9.0)
    x.fill_diagonal_(7)
    x.put_(torch.tensor([14]), torch.tensor([1.0]))
    x[[0, 1], [2, 0]] = torch.randn(2)
    x[..., -1] += 1
    x[x > 5] = 0
    x[torch.tensor([True, False, False, False, True])] *= 3
    module.x = x


STATE_DICT, ARRAY = io.BytesIO(), io.BytesIO()
torch.save({"weight": torch.full((2, 2), 5.0), "bias": torch.arange(2.0)}, STATE_DICT)
numpy.save(ARRAY, numpy.arange(4.0))


@constructor
def values_from_files(module: Any) -> None:
    module.a = nn.Linear(2, 2)
    module.a.load_state_dict(torch.load(io.BytesIO(STATE_DICT.getvalue()), map_location="cpu"))
    module.register_buffer("b", torch.load(io.BytesIO(STATE_DICT.getvalue()))["weight"][0])
    module.c = torch.from_numpy(numpy.load(io.BytesIO(ARRAY.getvalue())))
    module.d = torch.frombuffer(bytearray(b"\x00\x01\x02\x03"), dtype=torch.uint8)
