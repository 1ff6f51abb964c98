"""Ways to initialise layers."""

# mypy: allow-untyped-calls
# torch leaves many functions untyped.

from __future__ import annotations

import math
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import constructor


@constructor
def a_truncated_normal_by_hand(module: Any) -> None:
    w = nn.Parameter(torch.empty(5, 5))
    with torch.no_grad():
        w.uniform_(2 * 0.02 - 1, 2 * 0.98 - 1)
        w.erfinv_()
        w.mul_(0.02 * math.sqrt(2.0))
        w.add_(0.0)
        w.clamp_(min=-0.04, max=0.04)
    module.w = w
    fan_in, _ = nn.init._calculate_fan_in_and_fan_out(w)
    module.v = nn.Parameter(torch.empty(5, 5).normal_(std=math.sqrt(1 / fan_in)))
    module.t = nn.Parameter(torch.fmod(torch.randn(4), 2) * 0.02)


@constructor
def weights_by_the_kind_of_module(module: Any) -> None:

    def init(x: nn.Module) -> None:
        if isinstance(x, nn.Linear):
            x.weight.data.normal_(mean=0.0, std=0.02)
            if x.bias is not None:
                x.bias.data.zero_()
        elif isinstance(x, nn.Embedding):
            x.weight.data.normal_(mean=0.0, std=0.02)
            if x.padding_idx is not None:
                x.weight.data[x.padding_idx].zero_()
        elif isinstance(x, nn.LayerNorm):
            nn.init.constant_(x.bias, 0)
            nn.init.constant_(x.weight, 1.0)
        elif isinstance(x, (nn.Conv2d,)):
            fan = x.kernel_size[0] * x.kernel_size[1] * x.out_channels // x.groups
            x.weight.data.normal_(0, math.sqrt(2.0 / fan))

    module.e = nn.Embedding(5, 4, padding_idx=0)
    module.body = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Conv2d(2, 2, 3), nn.Linear(4, 4, bias=False))
    module.apply(init)
    for name, p in module.named_parameters():
        if name.endswith("3.weight"):
            nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * 4))


@constructor
def gates_of_recurrent_layers(module: Any) -> None:
    module.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)
    module.gru = nn.GRU(3, 4)
    for name, p in module.lstm.named_parameters():
        if "bias" in name:
            n = p.size(0)
            p.data[n // 4 : n // 2].fill_(1.0)
        elif "weight_hh" in name:
            for chunk in p.data.chunk(4):
                nn.init.orthogonal_(chunk)
    module.gru.flatten_parameters()
    for names in module.gru._all_weights:
        for weight in names[:2]:
            nn.init.xavier_normal_(getattr(module.gru, weight))


@constructor
def a_kernel_that_interpolates(module: Any) -> None:
    layer = nn.ConvTranspose2d(2, 2, 4, 2, bias=False)
    w = layer.weight.data
    f = math.ceil(w.size(2) / 2)
    c = (2 * f - 1 - f % 2) / (2.0 * f)
    for i in range(w.size(2)):
        for j in range(w.size(3)):
            w[0, 0, i, j] = (1 - math.fabs(i / f - c)) * (1 - math.fabs(j / f - c))
    for k in range(1, w.size(0)):
        w[k, 0, :, :] = w[0, 0, :, :]
    module.layer = layer
    conv = nn.Conv2d(3, 3, 3, bias=False)
    conv.weight.data.zero_()
    for i in range(3):
        conv.weight.data[i, i, 1, 1] = 1
    module.conv = conv


@constructor
def scales(module: Any) -> None:
    module.gamma = nn.Parameter(1e-05 * torch.ones(4), requires_grad=True)
    module.logit_scale = nn.Parameter(torch.ones([]) * numpy.log(1 / 0.07))
    module.temperature = torch.tensor([1.0], requires_grad=True)
    module.alpha = nn.Parameter(torch.tensor(0.5))
    module.half_ = nn.Parameter(torch.full((2,), numpy.float64(0.5)))
    module.np = torch.tensor(numpy.float32(3))
    module.exp = module.logit_scale.exp().item()
    module.neg = nn.Parameter(-torch.ones(2))
    module.int = torch.tensor(True) + 1


@constructor
def weights_that_are_standardised(module: Any) -> None:
    layer = nn.Linear(4, 3)
    w = layer.weight.data
    w.sub_(w.mean(dim=1, keepdim=True)).div_(w.std(dim=1, keepdim=True) + 1e-05)
    layer.bias.data /= layer.bias.data.norm()
    module.layer = layer
    module.e = nn.Embedding(4, 3, max_norm=1.0)
    module.e.weight.data /= module.e.weight.data.norm(dim=1, keepdim=True)
    module.renormed = torch.renorm(torch.randn(3, 3), 2, 0, 1.0)


@constructor
def embeddings_of_given_vectors(module: Any) -> None:
    vectors = torch.randn(4, 3)
    vectors[0] = 0
    module.a = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=0)
    module.b = nn.Embedding.from_pretrained(torch.from_numpy(numpy.arange(6.0).reshape(2, 3)).float(), freeze=False)
    module.c = nn.EmbeddingBag(4, 3, mode="sum")
    module.c.weight.data.copy_(vectors)
    module.d = nn.Embedding(4, 3, _weight=torch.ones(4, 3))


@constructor
def norms_of_weights_by_hooks(module: Any) -> None:
    module.a = nn.utils.spectral_norm(nn.Conv2d(2, 3, 3))
    module.b = nn.utils.weight_norm(nn.Linear(3, 2))
    module.c = nn.utils.weight_norm(nn.ConvTranspose1d(2, 2, 3))
    nn.utils.remove_weight_norm(module.c)


@constructor
def norms_of_weights_by_parametrizations(module: Any) -> None:
    P = nn.utils.parametrizations
    module.a = P.spectral_norm(nn.Conv2d(2, 3, 3))
    module.b = P.weight_norm(nn.Linear(3, 2))
    module.c = P.orthogonal(nn.Linear(3, 3))
    module.d = P.orthogonal(nn.Linear(4, 3), orthogonal_map="householder")
    module.e = P.weight_norm(nn.Linear(2, 2))
    nn.utils.parametrize.remove_parametrizations(module.e, "weight")


class Symmetric(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x: Tensor) -> Tensor:
        return x.triu()


@constructor
def an_own_parametrization(module: Any) -> None:
    module.layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(module.layer, "weight", Symmetric())
    with torch.no_grad():
        module.layer.weight = torch.randn(3, 3)


@constructor
def pruned_layers(module: Any) -> None:
    from torch.nn.utils import prune

    module.a = prune.l1_unstructured(nn.Linear(4, 4), "weight", amount=0.5)
    module.b = prune.random_unstructured(nn.Linear(4, 4), "weight", amount=3)
    module.c = prune.ln_structured(nn.Linear(4, 4), "weight", amount=0.5, n=2, dim=0)
    prune.remove(module.c, "weight")


@constructor
def fused_layers(module: Any) -> None:
    conv: Any = nn.Conv2d(2, 3, 3)
    norm: Any = nn.BatchNorm2d(3)
    norm.running_var.uniform_(0.5, 1)
    module.fused = nn.utils.fuse_conv_bn_eval(conv.eval(), norm.eval())
    std = (norm.running_var + norm.eps).sqrt()
    kernel = F.pad(conv.weight * (norm.weight / std).reshape(-1, 1, 1, 1), [1, 1, 1, 1])
    module.kernel = nn.Parameter(kernel.detach())


@constructor
def layers_without_initialisation(module: Any) -> None:
    module.layer = layer = nn.utils.skip_init(nn.Linear, 3, 4)
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    module.meta = nn.Linear(3, 4, device="meta").to_empty(device="cpu")
    module.meta.reset_parameters()


@constructor
def layers_that_are_initialised_twice(module: Any) -> None:
    module.layers = nn.Sequential(nn.Linear(2, 2), nn.Embedding(3, 2))
    for layer in module.modules():
        if hasattr(layer, "reset_parameters"):
            layer.reset_parameters()


@constructor
def statistics_that_are_reset(module: Any) -> None:
    norm: Any = nn.BatchNorm1d(2, momentum=None)
    norm.num_batches_tracked += 3
    norm.running_mean.normal_()
    norm.reset_running_stats()
    norm.running_var = torch.full((2,), 2.0)
    module.norm = norm
    module.i = nn.InstanceNorm1d(2, track_running_stats=True, affine=True)


@constructor
def a_weight_split_into_length_and_direction(module: Any) -> None:
    layer: Any = nn.Linear(3, 4)
    weight = layer.weight
    del layer._parameters["weight"]
    layer.register_parameter("weight_g", nn.Parameter(torch.norm_except_dim(weight, 2, 0).data))
    layer.register_parameter("weight_v", nn.Parameter(weight.data))
    layer.weight = layer.weight_v * (layer.weight_g / layer.weight_v.norm(dim=1, keepdim=True))
    layer.register_forward_pre_hook(lambda module, args: None)
    module.layer = layer


@constructor
def resampled_positions(module: Any) -> None:
    old = nn.Parameter(torch.randn(1, 17, 4) * 0.02)
    cls, grid = (old[:, :1], old[:, 1:])
    grid = grid.reshape(1, 4, 4, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(6, 6), mode="bicubic", antialias=True, align_corners=False)
    module.table = nn.Parameter(torch.cat([cls, grid.permute(0, 2, 3, 1).reshape(1, 36, -1)], 1).detach())
