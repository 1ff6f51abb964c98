"""Copies, ties and memory that modules share."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import constructor


@constructor
def a_moving_average(module: Any) -> None:
    module.online = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    module.ema = copy.deepcopy(module.online).requires_grad_(False).eval()
    module.register_buffer("initted", torch.tensor(False))
    module.register_buffer("step", torch.tensor(0))
    module.step += 1
    for p, q in zip(module.online.parameters(), module.ema.parameters(), strict=True):
        q.data.lerp_(p.data, 0.5)


@constructor
def a_momentum_encoder_with_a_queue(module: Any) -> None:
    module.q, module.k = (nn.Linear(3, 4), nn.Linear(3, 4))
    for a, b in zip(module.q.parameters(), module.k.parameters(), strict=True):
        b.data.copy_(a.data)
        b.requires_grad = False
    module.register_buffer("queue", torch.randn(4, 10))
    module.queue = F.normalize(module.queue, dim=0)
    module.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))
    module.queue[:, int(module.queue_ptr) : 2] = module.queue[:, 3:5].T.T


@constructor
def averaged_models(module: Any) -> None:
    module.model = nn.Linear(3, 3)
    module.averaged = torch.optim.swa_utils.AveragedModel(module.model)
    module.averaged.update_parameters(module.model)


@constructor
def tied_weights(module: Any) -> None:
    module.embedding = nn.Embedding(5, 3)
    module.head = nn.Linear(3, 5)
    module.head.weight = module.embedding.weight
    module.head.bias = nn.Parameter(torch.zeros(5))
    module.bias = module.head.bias
    module.embedding.weight.data.normal_(0, 0.02)
    layer = nn.Linear(2, 2)
    module.layers = nn.ModuleList([layer] * 3)


@constructor
def memory_that_modules_share(module: Any) -> None:
    module.a, module.b = (nn.Linear(4, 4), nn.Linear(4, 2))
    module.b.weight.data = module.a.weight.data[:2]
    module.fused = nn.Linear(4, 12)
    q, k, v = module.fused.weight.chunk(3, dim=0)
    with torch.no_grad():
        for part in (q, k, v):
            nn.init.xavier_uniform_(part)
    module.q = q.detach()
    module.flat = torch.cat([p.data.reshape(-1) for p in module.a.parameters()])
    offset = 0
    for p in module.a.parameters():
        p.data = module.flat[offset : offset + p.numel()].view_as(p)
        offset += p.numel()


@constructor
def copies_of_a_layer(module: Any) -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    module.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
    module.shallow = copy.copy(layer)
    module.shallow.linear1 = nn.Linear(4, 8)


@constructor
def parameters_as_a_vector(module: Any) -> None:
    module.layer = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 2))
    vector = nn.utils.parameters_to_vector(module.layer.parameters())
    module.norm = vector.norm().item()
    nn.utils.vector_to_parameters(vector * 2, module.layer.parameters())


@constructor
def parameters_of_views(module: Any) -> None:
    x = torch.randn(4, 4)
    module.a = nn.Parameter(x[1:, ::2])
    module.b = nn.Parameter(x.t())
    module.c = nn.Parameter(torch.randn(1, 3).expand(2, 3))
    module.d = nn.Parameter(torch.randn(1, 3).repeat(2, 1))
    module.e = nn.Parameter(torch.randn(6).unfold(0, 3, 1))
    x.diagonal().fill_(1)
    x.view(-1)[::5] *= 2
    x.narrow(0, 1, 2).zero_()
    module.f = torch.as_strided(x, (2, 2), (1, 2))
    module.g = x.flip(0)
    module.h = x.roll(1, 0)


@constructor
def parameters_in_one_memory(module: Any) -> None:
    flat = torch.empty(10).normal_()
    module.a, module.b = (nn.Parameter(v) for v in flat.split([4, 6]))
    module.c = nn.Parameter(flat[2:5].view(3, 1))
    module.flat = flat


@constructor
def the_constructor_copies_itself(module: Any) -> None:
    module.layer = nn.Linear(2, 2)
    module.register_buffer("x", torch.randn(2))
    module.x.mul_(2)
    module.twin = copy.deepcopy(module)
    module.twin.layer.weight.data.zero_()


@constructor
def lists_and_dictionaries_of_parameters(module: Any) -> None:
    module.shared = nn.ParameterList([nn.Parameter(torch.randn(2)) for _ in range(2)])
    module.shared += [nn.Parameter(torch.ones(1))]
    module.d = nn.ParameterDict({"a": module.shared[0], "b": torch.randn(1)})


@constructor
def a_state_dict_that_is_changed(module: Any) -> None:
    module.a = nn.Linear(2, 2)
    state = {k: v.clone() for k, v in module.a.state_dict().items()}
    state["weight"] *= 2
    state["bias"] = state["bias"][[1, 0]]
    module.b = nn.Linear(2, 2)
    module.b.load_state_dict(state)
    module.c = nn.Linear(2, 2)
    module.missing = module.c.load_state_dict({"weight": module.a.weight}, strict=False).missing_keys
    own = module.a.state_dict()
    own["weight"].copy_(torch.ones(2, 2))


@constructor
def states_of_several_models(module: Any) -> None:
    models = [nn.Linear(2, 2) for _ in range(3)]
    params, _ = torch.func.stack_module_state(models)
    module.params = params
    module.out = torch.func.functional_call(models[0], {k: v[0] for k, v in params.items()}, torch.ones(1, 2)).detach()
    module.grad = torch.func.grad(lambda w: (w**2).sum())(torch.randn(3))
