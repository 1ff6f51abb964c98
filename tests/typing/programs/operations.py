# Made of tests/typing/operation_rows.py: each operation of the table.

from typing import assert_type

import torch
from shop.model import Batch as C
from shop.model import Point
from torch import Tensor

from qten_gen.runtime.tensorclass.operations.reduction_table import ValuesAndIndices

x = torch.ones(2)
p = Point(x)


def operations(v: C) -> None:
    assert_type(v + v, C)
    assert_type(v - v, C)
    assert_type(v * v, C)
    assert_type(v / v, C)
    assert_type(v // v, C)
    assert_type(v % v, C)
    assert_type(v**v, C)
    assert_type(v & v, C)
    assert_type(v | v, C)
    assert_type(v ^ v, C)
    assert_type(v << v, C)
    assert_type(v >> v, C)
    assert_type(v == v, C)
    assert_type(v != v, C)
    assert_type(v < v, C)
    assert_type(v <= v, C)
    assert_type(v > v, C)
    assert_type(v >= v, C)
    assert_type(-v, C)
    assert_type(+v, C)
    assert_type(abs(v), C)
    assert_type(~v, C)
    assert_type(v.add(v, alpha=2), C)
    assert_type(v.add_(v, alpha=2), C)
    assert_type(v.add(0.5), C)
    assert_type(v.add_(0.5), C)
    v.add(p)  # E
    v.add_(p)  # E
    assert_type(v.sub(v, alpha=2), C)
    assert_type(v.sub_(v, alpha=2), C)
    assert_type(v.sub(0.5), C)
    assert_type(v.sub_(0.5), C)
    v.sub(p)  # E
    v.sub_(p)  # E
    assert_type(v.rsub(v, alpha=2), C)
    assert_type(v.rsub(0.5), C)
    v.rsub(p)  # E
    assert_type(v.mul(v), C)
    assert_type(v.mul_(v), C)
    assert_type(v.mul(x), C)
    assert_type(v.mul_(x), C)
    assert_type(v.mul(2), C)
    assert_type(v.mul_(2), C)
    v.mul("s")  # E
    v.mul_("s")  # E
    assert_type(v.div(v, rounding_mode="floor"), C)
    assert_type(v.div_(v, rounding_mode="floor"), C)
    v.div(2, rounding_mode="up")  # E
    v.div_(2, rounding_mode="up")  # E
    assert_type(v.mod(v), C)
    assert_type(v.mod(x), C)
    assert_type(v.mod(2), C)
    v.mod("s")  # E
    assert_type(v.pow(v), C)
    assert_type(v.pow_(v), C)
    assert_type(v.pow(x), C)
    assert_type(v.pow_(x), C)
    assert_type(v.pow(2), C)
    assert_type(v.pow_(2), C)
    v.pow("s")  # E
    v.pow_("s")  # E
    assert_type(v.maximum(v), C)
    assert_type(v.maximum_(v), C)
    assert_type(v.maximum(x), C)
    assert_type(v.maximum_(x), C)
    assert_type(v.maximum(2), C)
    assert_type(v.maximum_(2), C)
    v.maximum("s")  # E
    v.maximum_("s")  # E
    assert_type(v.minimum(v), C)
    assert_type(v.minimum_(v), C)
    assert_type(v.minimum(x), C)
    assert_type(v.minimum_(x), C)
    assert_type(v.minimum(2), C)
    assert_type(v.minimum_(2), C)
    v.minimum("s")  # E
    v.minimum_("s")  # E
    assert_type(v.clamp_min(v), C)
    assert_type(v.clamp_min_(v), C)
    assert_type(v.clamp_min(x), C)
    assert_type(v.clamp_min_(x), C)
    assert_type(v.clamp_min(2), C)
    assert_type(v.clamp_min_(2), C)
    v.clamp_min("s")  # E
    v.clamp_min_("s")  # E
    assert_type(v.clamp_max(v), C)
    assert_type(v.clamp_max_(v), C)
    assert_type(v.clamp_max(x), C)
    assert_type(v.clamp_max_(x), C)
    assert_type(v.clamp_max(2), C)
    assert_type(v.clamp_max_(2), C)
    v.clamp_max("s")  # E
    v.clamp_max_("s")  # E
    assert_type(v.bitwise_and(v), C)
    assert_type(v.bitwise_and(x), C)
    assert_type(v.bitwise_and(2), C)
    v.bitwise_and("s")  # E
    assert_type(v.logical_and(v), C)
    assert_type(v.logical_and(x), C)
    assert_type(v.logical_and(2), C)
    v.logical_and("s")  # E
    assert_type(v.addcmul(v, x, value=2), C)
    assert_type(v.addcmul_(v, x, value=2), C)
    v.addcmul(v)  # E
    v.addcmul_(v)  # E
    assert_type(v.addcdiv(v, x, value=2), C)
    assert_type(v.addcdiv_(v, x, value=2), C)
    v.addcdiv(v)  # E
    v.addcdiv_(v)  # E
    assert_type(v.lerp(v, 0.5), C)
    assert_type(v.lerp_(v, 0.5), C)
    v.lerp(v)  # E
    v.lerp_(v)  # E
    assert_type(v.clamp(0, max=v), C)
    assert_type(v.clamp_(0, max=v), C)
    v.clamp("s")  # E
    v.clamp_("s")  # E
    assert_type(v.round(decimals=2), C)
    assert_type(v.round_(decimals=2), C)
    v.round(2)  # E
    v.round_(2)  # E
    assert_type(v.fill_(0), C)
    v.fill_("x", 0)  # E
    assert_type(v.zero_(), C)
    assert_type(v.abs(), C)
    assert_type(v.abs_(), C)
    assert_type(v.neg(), C)
    assert_type(v.neg_(), C)
    assert_type(v.sign(), C)
    assert_type(v.sign_(), C)
    assert_type(v.reciprocal(), C)
    assert_type(v.reciprocal_(), C)
    assert_type(v.sqrt(), C)
    assert_type(v.sqrt_(), C)
    assert_type(v.exp(), C)
    assert_type(v.exp_(), C)
    assert_type(v.expm1(), C)
    assert_type(v.expm1_(), C)
    assert_type(v.log(), C)
    assert_type(v.log_(), C)
    assert_type(v.log2(), C)
    assert_type(v.log2_(), C)
    assert_type(v.log10(), C)
    assert_type(v.log10_(), C)
    assert_type(v.log1p(), C)
    assert_type(v.log1p_(), C)
    assert_type(v.sin(), C)
    assert_type(v.sin_(), C)
    assert_type(v.cos(), C)
    assert_type(v.cos_(), C)
    assert_type(v.tan(), C)
    assert_type(v.tan_(), C)
    assert_type(v.asin(), C)
    assert_type(v.asin_(), C)
    assert_type(v.acos(), C)
    assert_type(v.acos_(), C)
    assert_type(v.atan(), C)
    assert_type(v.atan_(), C)
    assert_type(v.sinh(), C)
    assert_type(v.sinh_(), C)
    assert_type(v.cosh(), C)
    assert_type(v.cosh_(), C)
    assert_type(v.tanh(), C)
    assert_type(v.tanh_(), C)
    assert_type(v.sigmoid(), C)
    assert_type(v.sigmoid_(), C)
    assert_type(v.erf(), C)
    assert_type(v.erf_(), C)
    assert_type(v.erfc(), C)
    assert_type(v.erfc_(), C)
    assert_type(v.lgamma(), C)
    assert_type(v.lgamma_(), C)
    assert_type(v.ceil(), C)
    assert_type(v.ceil_(), C)
    assert_type(v.floor(), C)
    assert_type(v.floor_(), C)
    assert_type(v.trunc(), C)
    assert_type(v.trunc_(), C)
    assert_type(v.frac(), C)
    assert_type(v.frac_(), C)
    assert_type(v.isfinite(), C)
    assert_type(v.isnan(), C)
    assert_type(v.isposinf(), C)
    assert_type(v.isneginf(), C)
    assert_type(v.isreal(), C)
    assert_type(v.sum("feature"), C)
    assert_type(v.sum(0, True, dtype=torch.float64), C)
    assert_type(v.sum(reduce=True), Tensor)
    v.sum(1.5)  # E
    assert_type(v.mean("feature"), C)
    assert_type(v.mean(0, True, dtype=torch.float64), C)
    assert_type(v.mean(reduce=True), Tensor)
    v.mean(1.5)  # E
    assert_type(v.prod("feature"), C)
    assert_type(v.prod(0, True, dtype=torch.float64), C)
    assert_type(v.prod(reduce=True), Tensor)
    v.prod(1.5)  # E
    assert_type(v.nansum("feature"), C)
    assert_type(v.nansum(0, True, dtype=torch.float64), C)
    assert_type(v.nansum(reduce=True), Tensor)
    v.nansum(1.5)  # E
    assert_type(v.nanmean("feature"), C)
    assert_type(v.nanmean(0, True, dtype=torch.float64), C)
    assert_type(v.nanmean(reduce=True), Tensor)
    v.nanmean(1.5)  # E
    assert_type(v.std(-1, correction=0), C)
    assert_type(v.std(0, reduce=True), Tensor)
    v.std(0, True)  # E
    assert_type(v.var(-1, correction=0), C)
    assert_type(v.var(0, reduce=True), Tensor)
    v.var(0, True)  # E
    assert_type(v.amin(), C)
    assert_type(v.amin((0, 1), keepdim=True), C)
    assert_type(v.amin(0, reduce=True), Tensor)
    assert_type(v.amax(), C)
    assert_type(v.amax((0, 1), keepdim=True), C)
    assert_type(v.amax(0, reduce=True), Tensor)
    assert_type(v.logsumexp(), C)
    assert_type(v.logsumexp((0, 1), keepdim=True), C)
    assert_type(v.logsumexp(0, reduce=True), Tensor)
    assert_type(v.min(), C)
    assert_type(v.min(0), ValuesAndIndices[C])
    assert_type(v.min(0, keepdim=True).values, C)
    assert_type(v.min(0)[1], C)
    assert_type(v.min(reduce=True), Tensor)
    v.min((0, 1))  # E
    assert_type(v.max(), C)
    assert_type(v.max(0), ValuesAndIndices[C])
    assert_type(v.max(0, keepdim=True).values, C)
    assert_type(v.max(0)[1], C)
    assert_type(v.max(reduce=True), Tensor)
    v.max((0, 1))  # E
    assert_type(v.all(), bool)
    assert_type(v.all(0), C)
    assert_type(v.all(reduce=True), Tensor)
    assert_type(v.any(), bool)
    assert_type(v.any(0), C)
    assert_type(v.any(reduce=True), Tensor)
    assert_type(v.norm(1, 0), C)
    assert_type(v.norm(reduce=True), Tensor)
    assert_type(v.quantile(0.5, 0), C)
    assert_type(v.quantile(x, reduce=True), Tensor)
    v.quantile()  # E
    assert_type(v.cumsum(0), C)
    assert_type(v.cumsum(-1, dtype=torch.float64), C)
    v.cumsum()  # E
    assert_type(v.cumprod(0), C)
    assert_type(v.cumprod(-1, dtype=torch.float64), C)
    v.cumprod()  # E
    assert_type(v.cummin(0), ValuesAndIndices[C])
    assert_type(v.cummin(0).indices, C)
    assert_type(v.cummax(0), ValuesAndIndices[C])
    assert_type(v.cummax(0).indices, C)
    assert_type(v.softmax(0), C)
    assert_type(v.softmax(-1, dtype=torch.float64), C)
    v.softmax()  # E
    assert_type(v.reshape(2, -1), C)
    assert_type(v.reshape(torch.Size([2])), C)
    v.reshape("s")  # E
    assert_type(v.view(2, -1), C)
    assert_type(v.view([2, 3]), C)
    assert_type(v.flatten(0, -1), C)
    assert_type(v.unflatten(0, (2, -1)), C)
    assert_type(v.permute(1, 0), C)
    assert_type(v.permute(["time", 0]), C)
    assert_type(v.transpose(0, 1), C)
    v.transpose(0)  # E
    assert_type(v.swapaxes(0, 1), C)
    assert_type(v.swapdims(0, 1), C)
    assert_type(v.movedim(0, 1), C)
    assert_type(v.movedim((0, 1), (1, 0)), C)
    assert_type(v.moveaxis(0, 1), C)
    assert_type(v.squeeze(), C)
    assert_type(v.squeeze(0), C)
    assert_type(v.unsqueeze(0), C)
    v.unsqueeze()  # E
    assert_type(v.expand(2, -1), C)
    assert_type(v.expand([2, -1]), C)
    assert_type(v.expand_as(p), C)
    assert_type(v.expand_as(x), C)
    v.expand_as(2)  # E
    assert_type(v.broadcast_to((2, 3)), C)
    assert_type(v.atleast_1d(), C)
    assert_type(v.atleast_2d(), C)
    assert_type(v.atleast_3d(), C)
    assert_type(v.repeat(2, 1), C)
    assert_type(v.repeat((2, 1)), C)
    assert_type(v.tile(2), C)
    assert_type(v.repeat_interleave(2, dim=0), C)
    assert_type(v.repeat_interleave(x, 0, output_size=4), C)
    assert_type(v.roll(1, 0), C)
    assert_type(v.roll((1, 2), (0, 1)), C)
    assert_type(v.flip(0, 1), C)
    assert_type(v.flip([0]), C)
    assert_type(v.fliplr(), C)
    assert_type(v.flipud(), C)
    assert_type(v.rot90(1, (0, 1)), C)
    assert_type(v.pad((0, 1), 0.5), C)
    v.pad(1)  # E
    assert_type(C.stack([v, v], 1), C)
    C.stack([v, x])  # E
    assert_type(C.cat([v, v], dim=1), C)
    C.cat(v)  # E
    assert_type(v.split(2), tuple[C, ...])
    assert_type(v.split([2, 1], dim=1), tuple[C, ...])
    assert_type(v.chunk(2), tuple[C, ...])
    assert_type(v.unbind(), tuple[C, ...])
    assert_type(v.tensor_split(2), tuple[C, ...])
    assert_type(v.tensor_split([1], 0), tuple[C, ...])
    assert_type(v.narrow(0, 1, 2), C)
    assert_type(v.gather(0, x), C)
    v.gather(0, [1])  # E
    assert_type(v.masked_select(x > 0), C)
    v.masked_select(v > 0)  # E
    assert_type(v.masked_fill(v > 0, 2), C)
    assert_type(v.masked_fill_(v > 0, 2), C)
    assert_type(v.masked_fill(x, 2), C)
    assert_type(v.masked_fill_(x, 2), C)
    v.masked_fill(0, 2)  # E
    v.masked_fill_(0, 2)  # E
    assert_type(v.where(v > 0, v), C)
    assert_type(v.where(x, 0), C)
    v.where(x)  # E
    assert_type(v.new_zeros(2, 3), C)
    assert_type(v.new_zeros((2,), dtype=torch.int64, device="cpu"), C)
    v.new_zeros("s")  # E
    assert_type(v.new_ones(2, 3), C)
    assert_type(v.new_ones((2,), dtype=torch.int64, device="cpu"), C)
    v.new_ones("s")  # E
    assert_type(v.new_empty(2, 3), C)
    assert_type(v.new_empty((2,), dtype=torch.int64, device="cpu"), C)
    v.new_empty("s")  # E
    assert_type(v.new_full((2,), 7), C)
    v.new_full(2)  # E
    assert_type(C.zeros_like(v), C)
    assert_type(C.zeros_like(v, dtype=torch.float64), C)
    C.zeros_like(p)  # E
    assert_type(C.ones_like(v), C)
    assert_type(C.ones_like(v, dtype=torch.float64), C)
    C.ones_like(p)  # E
    assert_type(C.empty_like(v), C)
    assert_type(C.empty_like(v, dtype=torch.float64), C)
    C.empty_like(p)  # E
    assert_type(C.full_like(v, 3), C)
    C.full_like(v)  # E
    assert_type(C.rand_like(v), C)
    assert_type(C.rand_like(v, dtype=torch.float64), C)
    C.rand_like(p)  # E
    assert_type(C.randn_like(v), C)
    assert_type(C.randn_like(v, dtype=torch.float64), C)
    C.randn_like(p)  # E
    assert_type(v.float(), C)
    assert_type(v.float(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.float(0)  # E
    assert_type(v.double(), C)
    assert_type(v.double(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.double(0)  # E
    assert_type(v.half(), C)
    assert_type(v.half(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.half(0)  # E
    assert_type(v.bfloat16(), C)
    assert_type(v.bfloat16(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.bfloat16(0)  # E
    assert_type(v.float16(), C)
    assert_type(v.float16(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.float16(0)  # E
    assert_type(v.float32(), C)
    assert_type(v.float32(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.float32(0)  # E
    assert_type(v.float64(), C)
    assert_type(v.float64(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.float64(0)  # E
    assert_type(v.complex64(), C)
    assert_type(v.complex64(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.complex64(0)  # E
    assert_type(v.complex128(), C)
    assert_type(v.complex128(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.complex128(0)  # E
    assert_type(v.int(), C)
    assert_type(v.int(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.int(0)  # E
    assert_type(v.int8(), C)
    assert_type(v.int8(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.int8(0)  # E
    assert_type(v.int16(), C)
    assert_type(v.int16(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.int16(0)  # E
    assert_type(v.int32(), C)
    assert_type(v.int32(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.int32(0)  # E
    assert_type(v.int64(), C)
    assert_type(v.int64(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.int64(0)  # E
    assert_type(v.uint8(), C)
    assert_type(v.uint8(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.uint8(0)  # E
    assert_type(v.bool(), C)
    assert_type(v.bool(cast_filter=lambda key, tensor: tensor.dim() > 1), C)
    v.bool(0)  # E
    assert_type(v.clone(), C)
    assert_type(v.clone(recurse=False), C)
    assert_type(v.detach(), C)
    assert_type(v.detach_(), C)
    assert_type(v.contiguous(), C)
