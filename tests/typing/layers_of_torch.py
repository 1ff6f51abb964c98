"""How each public class of torch.nn is constructed and called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

Row = tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]
"""The arguments of the constructor, by position and by keyword, and those of the call; no call without arguments."""


def rows() -> dict[str, Row]:
    """A row for each class."""
    found: dict[str, Row] = {}

    def add(names: str, given: Iterable[object], *inputs: object, **keywords: object) -> None:
        for name in names.split():
            found[name] = (tuple(given), keywords, inputs)

    line, image, volume = torch.randn(2, 4, 8), torch.randn(2, 4, 8, 8), torch.randn(2, 4, 8, 8, 8)
    by_dimension = {1: line, 2: image, 3: volume}
    flat, target, sign = torch.rand(3, 4), torch.rand(3, 4), torch.ones(3)
    classes = torch.tensor([0, 1, 3])
    add(
        "AlphaDropout CELU Dropout ELU FeatureAlphaDropout Flatten GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity "
        "LeakyReLU LogSigmoid Mish PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink",
        (),
        flat,
    )
    add("Softmax LogSoftmax Softmin", (1,), flat)
    add("Softmax2d", (), image)
    add("Threshold", (0.5, 0.0), flat)
    for size, given in by_dimension.items():
        add(f"Conv{size}d ConvTranspose{size}d", (4, 6, 3), given)
        add(f"LazyConv{size}d LazyConvTranspose{size}d", (6, 3), given)
        add(f"BatchNorm{size}d", (4,), given)
        add(f"LazyBatchNorm{size}d LazyInstanceNorm{size}d Dropout{size}d", (), given)
        add(f"InstanceNorm{size}d", (4,), given, affine=True)
        add(f"MaxPool{size}d AvgPool{size}d", (2,), given)
        add(f"LPPool{size}d", (2, 2), given)
        add(f"AdaptiveAvgPool{size}d AdaptiveMaxPool{size}d", (3,), given)
        add(f"CircularPad{size}d ReflectionPad{size}d ReplicationPad{size}d ZeroPad{size}d", (1,), given)
        add(f"ConstantPad{size}d", (1, 0.5), given)
        pooled = given[tuple(slice(None, None, 2) if axis > 1 else slice(None) for axis in range(given.dim()))]
        add(f"MaxUnpool{size}d", (2,), pooled, torch.zeros(pooled.shape, dtype=torch.int64))
    add("FractionalMaxPool2d", (2,), image, output_size=4, _random_samples=torch.full((2, 4, 2), 0.5))
    add("FractionalMaxPool3d", (2,), volume, output_size=4, _random_samples=torch.full((2, 4, 3), 0.5))
    add("SyncBatchNorm", (4,))  # wants a GPU when it is called
    add("GroupNorm", (2, 4), image)
    add("LayerNorm RMSNorm", (4,), flat)
    add("LocalResponseNorm CrossMapLRN2d", (2,), image)
    add("PixelShuffle ChannelShuffle", (2,), image)
    add("PixelUnshuffle", (2,), image)
    add("Upsample UpsamplingNearest2d UpsamplingBilinear2d", (), image, scale_factor=2)
    add("Unfold", (2,), image)
    add("Fold", (4, 2), torch.randn(2, 8, 9))
    add("Unflatten", (1, (2, 2)), flat)
    add("Linear", (4, 5), flat)
    add("LazyLinear", (5,), flat)
    add("Bilinear", (4, 4, 5), flat, target)
    add("Embedding", (5, 3), classes)
    add("EmbeddingBag", (5, 3), classes.unsqueeze(0))
    add("CosineSimilarity PairwiseDistance", (), flat, target)
    add("RNN LSTM GRU", (8, 5), line)
    add("RNNBase", ("LSTM", 8, 5))
    add("RNNCell LSTMCell GRUCell", (4, 5), flat)
    add("RNNCellBase", (4, 5, True, 1))
    add("MultiheadAttention", (8, 2), line, line, line)
    add("TransformerEncoderLayer", (8, 2, 16, 0.0), line)
    add("TransformerDecoderLayer", (8, 2, 16, 0.0), line, line)
    add("TransformerEncoder", (nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2), line)
    add("TransformerDecoder", (nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2), line, line)
    add("Transformer", (8, 2, 1, 1, 16, 0.0), line, line)
    add("Sequential", (nn.Linear(4, 3), nn.ReLU()), flat)
    add("ModuleList", ([nn.Linear(4, 3)],))
    add("ModuleDict", ({"a": nn.Linear(4, 3)},))
    add("ParameterList", ([nn.Parameter(torch.ones(2))],))
    add("ParameterDict", ({"a": nn.Parameter(torch.ones(2))},))
    add("Container", (), a=nn.Linear(2, 2))
    add("DataParallel", (nn.Linear(4, 3),), flat)
    add("L1Loss MSELoss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss", (), flat, target)
    add("PoissonNLLLoss MultiLabelSoftMarginLoss", (), flat, target)
    add("MultiLabelMarginLoss", (), flat, torch.zeros(3, 4, dtype=torch.int64))
    add("CrossEntropyLoss NLLLoss MultiMarginLoss", (), flat, classes)
    add("NLLLoss2d", (), image, torch.zeros(2, 8, 8, dtype=torch.int64))
    add("GaussianNLLLoss", (), flat, target, torch.ones(3, 4))
    add("CosineEmbeddingLoss", (), flat, target, sign)
    add("MarginRankingLoss", (), flat[:, 0], target[:, 0], sign)
    add("HingeEmbeddingLoss", (), flat, torch.ones(3, 4))
    add("TripletMarginLoss TripletMarginWithDistanceLoss", (), flat, target, torch.rand(3, 4))
    lengths: Tensor = torch.tensor([2, 2, 2, 2])
    add(
        "CTCLoss",
        (),
        torch.randn(6, 4, 5).log_softmax(2),
        torch.ones(4, 2, dtype=torch.int64),
        torch.full((4,), 6),
        lengths,
    )
    add("LinearCrossEntropyLoss", (4, 5), flat, classes)
    add("AdaptiveLogSoftmaxWithLoss", (4, 8, [2, 4]), flat, classes)
    return found
