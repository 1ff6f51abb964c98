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
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d(output_size) AdaptiveMaxPool1d AdaptiveMaxPool2d
    AdaptiveMaxPool3d(output_size, return_indices=...) AlphaDropout Dropout Dropout1d Dropout2d Dropout3d(p=...,
    inplace=...) AvgPool1d(kernel_size, stride=None, padding=..., ceil_mode=..., count_include_pad=...) AvgPool2d
    AvgPool3d(kernel_size, stride=None, padding=..., ceil_mode=..., count_include_pad=..., divisor_override=None)
    BCELoss(weight=None, size_average=None, reduce=None, reduction=...) BCEWithLogitsLoss(weight=None,
    size_average=None, reduce=None, reduction=..., pos_weight=None) BatchNorm1d BatchNorm2d BatchNorm3d
    InstanceNorm1d InstanceNorm2d InstanceNorm3d(num_features, eps=..., momentum=..., affine=...,
    track_running_stats=..., device=None, dtype=None, *, bias=...) Bilinear(in1_features, in2_features,
    out_features, bias=..., device=None, dtype=None) CELU ELU(alpha=..., inplace=...) ReflectionPad1d
    ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d
    ZeroPad3d(padding) ConstantPad1d ConstantPad2d ConstantPad3d(padding, value) Conv1d Conv2d Conv3d(in_channels,
    out_channels, kernel_size, stride=..., padding=..., dilation=..., groups=..., bias=..., padding_mode=...,
    device=None, dtype=None) ConvTranspose1d ConvTranspose2d ConvTranspose3d(in_channels, out_channels, kernel_size,
    stride=..., padding=..., output_padding=..., groups=..., bias=..., dilation=..., padding_mode=..., device=None,
    dtype=None) CrossEntropyLoss(weight=None, size_average=None, ignore_index=..., reduce=None, reduction=...,
    label_smoothing=...) Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=...,
    scale_grad_by_freq=..., sparse=..., _weight=None, _freeze=..., device=None, dtype=None)
    EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=..., scale_grad_by_freq=..., mode=...,
    sparse=..., _weight=None, include_last_offset=..., padding_idx=None, device=None, dtype=None)
    Flatten(start_dim=..., end_dim=...) GELU(approximate=...) GLU(dim=...) GRUCell LSTMCell(input_size, hidden_size,
    bias=..., device=None, dtype=None) GroupNorm(num_groups, num_channels, eps=..., affine=..., device=None,
    dtype=None, *, bias=...) Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU(inplace=...) Hardtanh(min_val=...,
    max_val=..., inplace=..., min_value=None, max_value=None) KLDivLoss(size_average=None, reduce=None,
    reduction=..., log_target=...) L1Loss MSELoss(size_average=None, reduce=None, reduction=...)
    LayerNorm(normalized_shape, eps=..., elementwise_affine=..., bias=..., device=None, dtype=None)
    LeakyReLU(negative_slope=..., inplace=...) Linear(in_features, out_features, bias=..., device=None, dtype=None)
    LogSoftmax Softmax(dim=None) MaxPool1d MaxPool2d MaxPool3d(kernel_size, stride=None, padding=..., dilation=...,
    return_indices=..., ceil_mode=...) MultiheadAttention(embed_dim, num_heads, dropout=..., bias=...,
    add_bias_kv=..., add_zero_attn=..., kdim=None, vdim=None, batch_first=..., device=None, dtype=None)
    NLLLoss(weight=None, size_average=None, ignore_index=..., reduce=None, reduction=...) PReLU(num_parameters=...,
    init=..., device=None, dtype=None) PixelShuffle(upscale_factor) PixelUnshuffle(downscale_factor)
    RMSNorm(normalized_shape, eps=None, elementwise_affine=..., device=None, dtype=None) RNNCell(input_size,
    hidden_size, bias=..., nonlinearity=..., device=None, dtype=None) SmoothL1Loss(size_average=None, reduce=None,
    reduction=..., beta=...) Softplus(beta=..., threshold=...) SyncBatchNorm(num_features, eps=..., momentum=...,
    affine=..., track_running_stats=..., process_group=None, device=None, dtype=None, *, bias=...)
    Transformer(d_model=..., nhead=..., num_encoder_layers=..., num_decoder_layers=..., dim_feedforward=...,
    dropout=..., activation=..., custom_encoder=None, custom_decoder=None, layer_norm_eps=..., batch_first=...,
    norm_first=..., bias=..., device=None, dtype=None) TransformerDecoder(decoder_layer, num_layers, norm=None)
    TransformerDecoderLayer TransformerEncoderLayer(d_model, nhead, dim_feedforward=..., dropout=...,
    activation=..., layer_norm_eps=..., batch_first=..., norm_first=..., bias=..., device=None, dtype=None)
    TransformerEncoder(encoder_layer, num_layers, norm=None, enable_nested_tensor=..., mask_check=...)
    Unflatten(dim, unflattened_size) Upsample(size=None, scale_factor=None, mode=..., align_corners=None,
    recompute_scale_factor=None)
"""
"""The parameters of the layers that models use most, as the newest torch has them."""


def parameters_of(name: str) -> str | None:
    """The parameters of the constructor of a layer, by its qualified name; None for any other class.

    >>> parameters_of("torch.nn.Softmax")
    'dim=None'
    """
    module, _, layer = name.rpartition(".")
    return _constructors().get(layer) if module == "torch.nn" or module.startswith("torch.nn.modules.") else None


@cache
def _constructors() -> dict[str, str]:
    found = re.findall(r"([\w\s]+)\(([^()]*)\)", _CONSTRUCTORS)
    return {name: " ".join(parameters.split()) for names, parameters in found for name in names.split()}
