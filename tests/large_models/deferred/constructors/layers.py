"""Layers of every kind, and what is done with them."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from . import constructor


@constructor
def conversions(module: Any) -> None:
    module.a = nn.Linear(3, 3).half()
    module.b = nn.Linear(3, 3).double()
    module.c = nn.BatchNorm1d(2).to(torch.bfloat16)
    layer: Any = nn.Conv2d(2, 3, 3)
    module.d = layer.to(memory_format=torch.channels_last)
    module.e = nn.Linear(2, 2).type(torch.float16).float()
    module.e.weight.data = module.e.weight.data.to(torch.bfloat16)
    x = torch.randn(3)
    module.f, module.g, module.h = (x.type(torch.float64), torch.arange(2).type_as(x), x.new([1, 2, 3]))
    module.i = torch.randn(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    module.j = x.type("torch.DoubleTensor")
    module.k = nn.ModuleList([nn.Linear(2, 2)]).cpu()


@constructor
def hooks_of_every_kind(module: Any) -> None:
    module.layer = nn.Linear(2, 2)
    module.layer.register_forward_hook(lambda *a: None)
    module.layer.register_forward_pre_hook(lambda *a: None)
    module.layer.register_full_backward_hook(lambda *a: None)
    module.layer.register_load_state_dict_pre_hook(lambda *a: None)
    module._register_load_state_dict_pre_hook(lambda *a: None)
    mask = torch.rand(2, 2) > 0.5
    module.layer.weight.register_hook(lambda grad: grad * mask)
    module.mask = mask


@constructor
def closures_over_tensors(module: Any) -> None:
    w = torch.randn(2, 2)
    table = torch.arange(3.0)
    module.fn = lambda x: x @ w
    module.partial = functools.partial(torch.add, table)
    module.tables = {"a": w, "b": [table]}
    module.w = w


@dataclass
class Config:
    size: int
    table: Tensor


@constructor
def tensors_in_objects(module: Any) -> None:
    c = Config(3, torch.randn(2))
    module.config = c
    module.table = c.table
    module.pair = torch.max(torch.randn(3), 0)
    module.dist = torch.distributions.Normal(torch.tensor(0.0), torch.ones(2))
    module.scale = module.dist.scale
    cov = torch.eye(2) + 0.1
    module.mvn = torch.distributions.MultivariateNormal(torch.zeros(2), cov)
    module.tril = module.mvn.scale_tril
    module.categorical = torch.distributions.Categorical(logits=torch.randn(3))
    module.probs = module.categorical.probs


@constructor
def children_behind_other_names(module: Any) -> None:
    module.__dict__["hidden"] = nn.Linear(2, 2)
    object.__setattr__(module, "also", nn.Linear(2, 2))
    module.listed = [nn.Linear(2, 2)]
    module.ref = weakref.ref(module.listed[0])
    module.weights = [module.hidden.weight, module.also.weight, module.listed[0].weight]
    module.parent = [module]


@constructor
def layers_that_are_replaced(module: Any) -> None:
    module.body = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 2), nn.Linear(2, 2))
    module.body[1] = nn.GroupNorm(1, 2)
    del module.body[3]
    module.body.append(nn.PReLU())
    module.body.insert(0, nn.Linear(2, 2))
    module.front = nn.Sequential(*list(module.body.children())[:-2])
    module.last = module.body[-1:]
    module.names = nn.ModuleDict({"a": nn.Linear(2, 2)})
    module.taken = module.names.pop("a")
    module.register_parameter("none", None)
    module.register_buffer("nothing", None)
    module.nothing = torch.ones(2)
    module.weight = nn.Parameter(torch.ones(2))
    del module.weight
    module.register_buffer("weight", torch.zeros(3))


@constructor
def layers_that_get_a_size_by_running(module: Any) -> None:
    module.a = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    module.b = nn.LazyLinear(3)
    module.a(torch.randn(2, 1, 4, 4))


def twice(x: Tensor) -> Tensor:
    return x * 2


@constructor
def functions_that_are_compiled(module: Any) -> None:
    module.act = torch.compile(twice)
    module.layer = nn.Linear(2, 2)
    module.layer.compile()
    module.fn = torch.jit.script(twice)


@constructor
def a_traced_graph(module: Any) -> None:
    module.graph = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))


@constructor
def layers_for_several_devices(module: Any) -> None:
    module.a = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)))
    module.b = nn.DataParallel(nn.Linear(2, 2))


@constructor
def numbers_of_eight_bits(module: Any) -> None:
    module.a = torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8)


@constructor
def a_default_device(module: Any) -> None:
    torch.set_default_device("cpu")
    try:
        module.a, module.b = nn.Linear(2, 2), torch.tensor([1.0])
    finally:
        torch.set_default_device(None)


@constructor
def attention_of_torch(module: Any) -> None:
    module.a = nn.MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True)
    module.b = nn.TransformerDecoderLayer(4, 2, 8, norm_first=True)
    module.c = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)
    module.d = nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 4])
    module.e = nn.Bilinear(2, 2, 2)


@constructor
def a_scheduler_and_a_scaler(module: Any) -> None:
    module.layer = nn.Linear(2, 2)
    o = torch.optim.SGD(module.layer.parameters(), 0.1, momentum=0.9)
    module.optimizer = o
    module.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(o, 10)
    module.schedule.step()
    module.lr = o.param_groups[0]["lr"]
    module.scaler = torch.amp.GradScaler("cpu")


@constructor
def a_child_on_meta_that_is_loaded(module: Any) -> None:
    with torch.device("meta"):
        module.a = nn.Linear(2, 2)
    module.a.load_state_dict({"weight": torch.randn(2, 2), "bias": torch.zeros(2)}, assign=True)
    module.b = nn.Linear(2, 2, device="meta")


@constructor
def an_own_function_of_autograd(module: Any) -> None:

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:
            return grad_outputs[0]

    module.a = Twice.apply(torch.randn(2, requires_grad=True)).detach()


@constructor
def tensors_that_are_detached_in_place(module: Any) -> None:
    module.a = (torch.randn(2, requires_grad=True) * 2).detach_()
    module.b = torch.randn(2).requires_grad_()
    module.b.requires_grad = False
