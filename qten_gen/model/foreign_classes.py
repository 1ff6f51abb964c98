"""Lists decorators and classes of other libraries that a declaration cannot be combined with, by qualified name."""

from __future__ import annotations

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

TENSORDICT_DECORATORS = frozenset({"tensordict.tensorclass", "tensordict.prototype.tensorclass"})
TENSORDICT_BASES = frozenset({"tensordict.TensorClass", "tensordict.tensorclass.TensorClass"})
"""What makes a class one of tensordict's."""

PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
"""The base that makes a class a protocol. A declaration cannot be one, but it can derive from one."""

LAYERS_WITH_ARGUMENTS = frozenset(
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d BatchNorm3d Bilinear ChannelShuffle "
    "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d "
    "ConvTranspose1d ConvTranspose2d ConvTranspose3d CrossMapLRN2d DataParallel Embedding EmbeddingBag Fold "
    "FractionalMaxPool2d FractionalMaxPool3d GRU GRUCell GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LPPool1d "
    "LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d "
    "LazyConvTranspose3d LazyLinear Linear LinearCrossEntropyLoss LocalResponseNorm MaxPool1d MaxPool2d MaxPool3d "
    "MaxUnpool1d MaxUnpool2d MaxUnpool3d MultiheadAttention PReLU PixelShuffle PixelUnshuffle RMSNorm RNN RNNBase RNNCell "
    "RNNCellBase ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
    "SyncBatchNorm Threshold TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer "
    "Unflatten Unfold ZeroPad1d ZeroPad2d ZeroPad3d".split()
)
"""Classes of torch.nn that a constructor without arguments cannot set up: they require some, or call `reset_parameters`."""
