"""Layers of torch that a generated constructor calls as a person writes them: `_nn.Linear(4, 2, device=device, dtype=dtype)`.

Any other class is constructed by the runtime, which looks at what its constructor takes. Stubs know the tensors in these layers.
"""

from __future__ import annotations

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

_WITHOUT_BIAS = frozenset({"Embedding", "EmbeddingBag", "PReLU", "RMSNorm"})


def tensors_in(name: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The parameters and buffers that a layer without children may have, by its qualified name; None for any other class.

    >>> tensors_in("torch.nn.Linear"), tensors_in("torch.nn.Embedding"), tensors_in("torch.nn.Transformer")
    ((('weight', 'bias'), ()), (('weight',), ()), None)
    """
    layer = name.removeprefix("torch.nn.")
    if layer in WITHOUT_TENSORS:
        return (), ()
    if layer not in PLACED or layer == "MultiheadAttention":
        return None
    if layer in _WITHOUT_BIAS:
        return ("weight",), ()
    if layer.endswith("Cell"):
        return ("weight_ih", "weight_hh", "bias_ih", "bias_hh"), ()
    statistics = ("running_mean", "running_var", "num_batches_tracked")
    return ("weight", "bias"), statistics if layer.startswith(("BatchNorm", "InstanceNorm")) else ()
