"""The classes of other libraries that the generator knows: those no declaration can be combined with, and the layers of torch."""

from __future__ import annotations

import re
from functools import cache

CLASS_MAKERS = frozenset(
    "dataclasses.dataclass attr.s attr.attrs attr.define attr.frozen attr.mutable attrs.define attrs.frozen attrs.mutable "
    "pydantic.dataclasses.dataclass tensordict.tensorclass tensordict.prototype.tensorclass flax.struct.dataclass "
    "chex.dataclass".split()
)
"""Decorators that create the constructor of a class."""

OTHER_KINDS = frozenset(
    "typing.NamedTuple typing.TypedDict typing_extensions.NamedTuple typing_extensions.TypedDict "
    "enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag pydantic.BaseModel tensordict.TensorClass".split()
)
"""Bases that create their subclasses in their own way."""

PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
"""The base that makes a class a protocol. A declaration cannot be one, but it can derive from one."""


PLACED = frozenset(
    """
    BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding
    EmbeddingBag GRUCell GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTMCell LayerNorm Linear MultiheadAttention PReLU
    RMSNorm RNNCell
    """.split()
)
"""Layers whose constructors take `device` and `dtype`."""

WITHOUT_TENSORS = frozenset(
    """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout
    AvgPool1d AvgPool2d AvgPool3d CELU Dropout Dropout1d Dropout2d Dropout3d ELU Flatten GELU GLU Hardsigmoid Hardswish Hardtanh
    Identity LeakyReLU LogSigmoid LogSoftmax MaxPool1d MaxPool2d MaxPool3d Mish PixelShuffle PixelUnshuffle ReLU ReLU6 SELU SiLU
    Sigmoid Softmax Softplus Softsign Tanh Unflatten Upsample ZeroPad1d ZeroPad2d ZeroPad3d
    """.split()
)
"""Layers that hold no tensors, so that their constructors take neither."""

_CONSTRUCTORS = """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d(output_size)
    AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d(output_size, return_indices: bool=...)
    AlphaDropout Dropout Dropout1d Dropout2d Dropout3d(p: float=..., inplace: bool=...)
    AvgPool1d(kernel_size, stride=None, padding=..., ceil_mode: bool=..., count_include_pad: bool=...)
    AvgPool2d AvgPool3d(kernel_size, stride=None, padding=..., ceil_mode: bool=..., count_include_pad: bool=...,
        divisor_override: int | None=None) BCELoss(weight=None, size_average=None, reduce=None, reduction: str=...)
    BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction: str=..., pos_weight=None)
    BatchNorm1d BatchNorm2d BatchNorm3d(num_features: int, eps: float=..., momentum: float | None=..., affine:
        bool=..., track_running_stats: bool=..., device=None, dtype=None, *, bias: bool=...)
    Bilinear(in1_features: int, in2_features: int, out_features: int, bias: bool=..., device=None, dtype=None)
    CELU ELU(alpha: float=..., inplace: bool=...)
    ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d
        ZeroPad2d ZeroPad3d(padding) ConstantPad1d ConstantPad2d ConstantPad3d(padding, value: float)
    Conv1d Conv2d Conv3d(in_channels: int, out_channels: int, kernel_size, stride=..., padding=..., dilation=...,
        groups: int=..., bias: bool=..., padding_mode=..., device=None, dtype=None)
    ConvTranspose1d ConvTranspose2d ConvTranspose3d(in_channels: int, out_channels: int, kernel_size, stride=...,
        padding=..., output_padding=..., groups: int=..., bias: bool=..., dilation=..., padding_mode=..., device=None,
        dtype=None)
    CrossEntropyLoss(weight=None, size_average=None, ignore_index: int=..., reduce=None, reduction: str=...,
        label_smoothing: float=...)
    Embedding(num_embeddings: int, embedding_dim: int, padding_idx: int | None=None, max_norm: float | None=None,
        norm_type: float=..., scale_grad_by_freq: bool=..., sparse: bool=..., _weight=None, _freeze: bool=...,
        device=None, dtype=None)
    EmbeddingBag(num_embeddings: int, embedding_dim: int, max_norm: float | None=None, norm_type: float=...,
        scale_grad_by_freq: bool=..., mode: str=..., sparse: bool=..., _weight=None, include_last_offset: bool=...,
        padding_idx: int | None=None, device=None, dtype=None) Flatten(start_dim: int=..., end_dim: int=...)
    GELU(approximate: str=...) GLU(dim: int=...)
    GRUCell LSTMCell(input_size: int, hidden_size: int, bias: bool=..., device=None, dtype=None)
    GroupNorm(num_groups: int, num_channels: int, eps: float=..., affine: bool=..., device=None, dtype=None, *, bias:
        bool=...) Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU(inplace: bool=...)
    Hardtanh(min_val: float=..., max_val: float=..., inplace: bool=..., min_value: float | None=None, max_value: float
        | None=None)
    InstanceNorm1d InstanceNorm2d InstanceNorm3d(num_features: int, eps: float=..., momentum: float=..., affine:
        bool=..., track_running_stats: bool=..., device=None, dtype=None, *, bias: bool=...)
    KLDivLoss(size_average=None, reduce=None, reduction: str=..., log_target: bool=...)
    L1Loss MSELoss(size_average=None, reduce=None, reduction: str=...)
    LayerNorm(normalized_shape, eps: float=..., elementwise_affine: bool=..., bias: bool=..., device=None, dtype=None)
    LeakyReLU(negative_slope: float=..., inplace: bool=...)
    Linear(in_features: int, out_features: int, bias: bool=..., device=None, dtype=None)
    LogSoftmax Softmax(dim: int | None=None)
    MaxPool1d MaxPool2d MaxPool3d(kernel_size, stride=None, padding=..., dilation=..., return_indices: bool=...,
        ceil_mode: bool=...)
    MultiheadAttention(embed_dim, num_heads, dropout=..., bias=..., add_bias_kv=..., add_zero_attn=..., kdim=None,
        vdim=None, batch_first=..., device=None, dtype=None)
    NLLLoss(weight=None, size_average=None, ignore_index: int=..., reduce=None, reduction: str=...)
    PReLU(num_parameters: int=..., init: float=..., device=None, dtype=None) PixelShuffle(upscale_factor: int)
    PixelUnshuffle(downscale_factor: int)
    RMSNorm(normalized_shape, eps: float | None=None, elementwise_affine: bool=..., device=None, dtype=None)
    RNNCell(input_size: int, hidden_size: int, bias: bool=..., nonlinearity: str=..., device=None, dtype=None)
    SmoothL1Loss(size_average=None, reduce=None, reduction: str=..., beta: float=...)
    Softplus(beta: float=..., threshold: float=...)
    SyncBatchNorm(num_features: int, eps: float=..., momentum: float | None=..., affine: bool=...,
        track_running_stats: bool=..., process_group=None, device=None, dtype=None, *, bias: bool=...)
    Transformer(d_model: int=..., nhead: int=..., num_encoder_layers: int=..., num_decoder_layers: int=...,
        dim_feedforward: int=..., dropout: float=..., activation=..., custom_encoder=None, custom_decoder=None,
        layer_norm_eps: float=..., batch_first: bool=..., norm_first: bool=..., bias: bool=..., device=None,
        dtype=None) TransformerDecoder(decoder_layer, num_layers: int, norm=None)
    TransformerDecoderLayer TransformerEncoderLayer(d_model: int, nhead: int, dim_feedforward: int=..., dropout:
        float=..., activation=..., layer_norm_eps: float=..., batch_first: bool=..., norm_first: bool=..., bias:
        bool=..., device=None, dtype=None)
    TransformerEncoder(encoder_layer, num_layers: int, norm=None, enable_nested_tensor: bool=..., mask_check:
        bool=...) Unflatten(dim: int, unflattened_size)
    Upsample(size=None, scale_factor=None, mode: str=..., align_corners: bool | None=None, recompute_scale_factor:
        bool | None=None)
"""
"""The parameters of the layers that models use most, as the newest torch has them. Types are left out where an argument may have
many, or where its literals say little."""


def parameters_of(name: str) -> str | None:
    """The parameters of the constructor of a layer, by its qualified name; None for any other class.

    >>> parameters_of("torch.nn.Softmax")
    'dim: int | None=None'
    """
    module, _, layer = name.rpartition(".")
    return _constructors().get(layer) if module == "torch.nn" or module.startswith("torch.nn.modules.") else None


@cache
def _constructors() -> dict[str, str]:
    found = re.findall(r"([\w\s]+)\(([^()]*)\)", _CONSTRUCTORS)
    return {name: " ".join(parameters.split()) for names, parameters in found for name in names.split()}
