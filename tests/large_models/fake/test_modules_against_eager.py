"""Layers of torch.nn on fake tensors and on real ones: the same shapes, strides and dtypes of outputs, gradients and state."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from qten_gen import fake_mode, is_fake

X1, X2, X3 = (2, 4, 8), (2, 4, 8, 8), (2, 4, 6, 6, 6)

LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]] = {
    "linear": (lambda: nn.Linear(8, 3), ((5, 8),)),
    "bilinear": (lambda: nn.Bilinear(3, 4, 5), ((2, 3), (2, 4))),
    "identity": (lambda: nn.Identity(), (X1,)),
    "flatten": (lambda: nn.Flatten(), (X2,)),
    "unflatten": (lambda: nn.Unflatten(1, (2, 2)), (X1,)),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1, stride=2), (X1,)),
    "conv2d": (lambda: nn.Conv2d(4, 8, 3, groups=2, dilation=2, padding_mode="circular", padding=2), (X2,)),
    "conv2d-same": (lambda: nn.Conv2d(4, 8, 3, padding="same", bias=False), (X2,)),
    "conv3d": (lambda: nn.Conv3d(4, 2, 3), (X3,)),
    "conv-transpose1d": (lambda: nn.ConvTranspose1d(4, 3, 3, stride=2), (X1,)),
    "conv-transpose2d": (lambda: nn.ConvTranspose2d(4, 3, 3, output_padding=1, stride=2), (X2,)),
    "conv-transpose3d": (lambda: nn.ConvTranspose3d(4, 3, 2), (X3,)),
    "fold": (lambda: nn.Fold((4, 5), (2, 2)), ((1, 3 * 2 * 2, 12),)),
    "unfold": (lambda: nn.Unfold((2, 3)), (X2,)),
    "max-pool1d": (lambda: nn.MaxPool1d(2), (X1,)),
    "max-pool2d": (lambda: nn.MaxPool2d(3, 2, return_indices=True), (X2,)),
    "max-pool3d": (lambda: nn.MaxPool3d(2), (X3,)),
    "avg-pool1d": (lambda: nn.AvgPool1d(2), (X1,)),
    "avg-pool2d": (lambda: nn.AvgPool2d(3, ceil_mode=True), (X2,)),
    "avg-pool3d": (lambda: nn.AvgPool3d(2), (X3,)),
    "lp-pool2d": (lambda: nn.LPPool2d(2, 3), (X2,)),
    "fractional-max-pool2d": (lambda: nn.FractionalMaxPool2d(3, output_size=(4, 4)), (X2,)),
    "adaptive-max-pool2d": (lambda: nn.AdaptiveMaxPool2d((3, 5)), (X2,)),
    "adaptive-avg-pool1d": (lambda: nn.AdaptiveAvgPool1d(3), (X1,)),
    "adaptive-avg-pool2d": (lambda: nn.AdaptiveAvgPool2d(1), (X2,)),
    "adaptive-avg-pool3d": (lambda: nn.AdaptiveAvgPool3d((None, 2, 2)), (X3,)),
    "reflection-pad": (lambda: nn.ReflectionPad2d(2), (X2,)),
    "replication-pad": (lambda: nn.ReplicationPad3d(1), (X3,)),
    "circular-pad": (lambda: nn.CircularPad1d(2), (X1,)),
    "constant-pad": (lambda: nn.ConstantPad2d((1, -1, 2, 0), 3.0), (X2,)),
    "batch-norm1d": (lambda: nn.BatchNorm1d(4), (X1,)),
    "batch-norm2d": (lambda: nn.BatchNorm2d(4, affine=False), (X2,)),
    "batch-norm3d": (lambda: nn.BatchNorm3d(4, track_running_stats=False), (X3,)),
    "group-norm": (lambda: nn.GroupNorm(2, 4), (X2,)),
    "instance-norm": (lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (X2,)),
    "layer-norm": (lambda: nn.LayerNorm([4, 8]), (X1,)),
    "rms-norm": (lambda: nn.RMSNorm(8), (X1,)),
    "local-response-norm": (lambda: nn.LocalResponseNorm(2), (X2,)),
    "rnn": (lambda: nn.RNN(8, 5, num_layers=2, nonlinearity="relu"), (X1,)),
    "lstm": (lambda: nn.LSTM(8, 5, batch_first=True, bidirectional=True), (X1,)),
    "lstm-proj": (lambda: nn.LSTM(8, 5, proj_size=3), (X1,)),
    "gru": (lambda: nn.GRU(8, 5, bias=False), (X1,)),
    "rnn-cell": (lambda: nn.RNNCell(8, 5), ((2, 8),)),
    "lstm-cell": (lambda: nn.LSTMCell(8, 5), ((2, 8),)),
    "gru-cell": (lambda: nn.GRUCell(8, 5), ((2, 8), (2, 5))),
    "attention": (lambda: nn.MultiheadAttention(8, 2), (X1, X1, X1)),
    "attention-dimensions": (lambda: nn.MultiheadAttention(8, 2, kdim=3, vdim=5), (X1, (2, 4, 3), (2, 4, 5))),
    "encoder-layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (X1,)),
    "decoder-layer": (lambda: nn.TransformerDecoderLayer(8, 2, 16, norm_first=True), (X1, X1)),
    "transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16), (X1, X1)),
    "dropout": (lambda: nn.Dropout(), (X1,)),
    "dropout2d": (lambda: nn.Dropout2d(), (X2,)),
    "alpha-dropout": (lambda: nn.AlphaDropout(), (X1,)),
    "pixel-shuffle": (lambda: nn.PixelShuffle(2), (X2,)),
    "pixel-unshuffle": (lambda: nn.PixelUnshuffle(2), (X2,)),
    "channel-shuffle": (lambda: nn.ChannelShuffle(2), (X2,)),
    "upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (X2,)),
    "upsample-nearest": (lambda: nn.UpsamplingNearest2d(size=(5, 7)), (X2,)),
    "cosine": (lambda: nn.CosineSimilarity(), (X1, X1)),
    "pairwise": (lambda: nn.PairwiseDistance(), (X1, X1)),
    "mse": (lambda: nn.MSELoss(), (X1, X1)),
    "huber": (lambda: nn.HuberLoss(reduction="none"), (X1, X1)),
    "kl": (lambda: nn.KLDivLoss(reduction="batchmean"), (X1, X1)),
    "bce": (lambda: nn.BCEWithLogitsLoss(), (X1, X1)),
    "triplet": (lambda: nn.TripletMarginLoss(), ((2, 8), (2, 8), (2, 8))),
    "poisson": (lambda: nn.PoissonNLLLoss(), (X1, X1)),
    "softmax": (lambda: nn.Softmax(-1), (X1,)),
    "softmax2d": (lambda: nn.Softmax2d(), (X2,)),
    "log-softmax": (lambda: nn.LogSoftmax(0), (X1,)),
    "softmin": (lambda: nn.Softmin(1), (X1,)),
    "prelu": (lambda: nn.PReLU(4), (X1,)),
    "rrelu": (lambda: nn.RReLU(), (X1,)),
    "glu": (lambda: nn.GLU(), (X1,)),
    "threshold": (lambda: nn.Threshold(0.1, 20.0), (X1,)),
    **{
        cls.__name__.lower(): (cls, (X1,))
        for cls in (
            nn.CELU,
            nn.ELU,
            nn.GELU,
            nn.Hardshrink,
            nn.Hardsigmoid,
            nn.Hardswish,
            nn.Hardtanh,
            nn.LeakyReLU,
            nn.LogSigmoid,
            nn.Mish,
            nn.ReLU,
            nn.ReLU6,
            nn.SELU,
            nn.SiLU,
            nn.Sigmoid,
            nn.Softplus,
            nn.Softshrink,
            nn.Softsign,
            nn.Tanh,
            nn.Tanhshrink,
        )
    },
}

INDEXED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "embedding": (lambda: nn.Embedding(9, 4, padding_idx=0), (2, 3)),
    "embedding-by-frequency": (lambda: nn.Embedding(9, 4, scale_grad_by_freq=True), (5,)),
    "embedding-bag": (lambda: nn.EmbeddingBag(9, 4), (2, 3)),
    "cross-entropy": (lambda: WithTarget(nn.CrossEntropyLoss(label_smoothing=0.1)), (5,)),
    "nll": (lambda: WithTarget(nn.NLLLoss()), (5,)),
    "multi-margin": (lambda: WithTarget(nn.MultiMarginLoss()), (5,)),
}


class WithTarget(nn.Module):
    """A loss of classes, with logits of its own."""

    def __init__(self, loss: nn.Module) -> None:
        super().__init__()
        self.loss = loss
        self.logits = nn.Parameter(torch.randn(5, 9))

    def forward(self, target: Tensor) -> Tensor:
        found: Tensor = self.loss(self.logits, target)
        return found


def described(tensor: Tensor | None) -> object:
    return None if tensor is None else (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad)


def run(
    make: Callable[[], nn.Module], inputs: Callable[[str], list[Tensor]], device: str, training: bool
) -> list[object]:
    """Describes what comes out of a layer, the gradients, and its state."""
    module = make().to(device).train(training)
    given = inputs(device)
    out = module(*given)
    found = [tensor for tensor in tree_leaves(out) if isinstance(tensor, Tensor)]
    sum((tensor.sum() for tensor in found if tensor.requires_grad), torch.zeros((), device=device)).backward()  # type: ignore[no-untyped-call] # torch leaves it untyped
    made = [*found, *(tensor.grad for tensor in (*given, *module.parameters())), *module.state_dict().values()]
    if device != "cpu":
        assert all(tensor is None or (is_fake(tensor) and str(tensor.device) == device) for tensor in made)
    return [described(tensor) for tensor in made]


CASES = [
    *((make, sizes, torch.float32, training) for make, sizes in LAYERS.values() for training in (True, False)),
    *((make, (size,), torch.long, True) for make, size in INDEXED.values()),
]
IDS = [*(f"{name}-{how}" for name in LAYERS for how in ("training", "evaluating")), *INDEXED]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "sizes", "dtype", "training"), CASES, ids=IDS)
def test_a_layer_does_the_same(
    make: Callable[[], nn.Module], sizes: tuple[tuple[int, ...], ...], dtype: torch.dtype, training: bool
) -> None:
    def inputs(device: str) -> list[Tensor]:
        return [torch.ones(size, dtype=dtype, device=device, requires_grad=dtype.is_floating_point) for size in sizes]

    expected = run(make, inputs, "cpu", training)
    for device in (
        ("cpu",) if make is INDEXED["multi-margin"][0] else ("cpu", "cuda:0")
    ):  # torch has no rule for this loss
        with fake_mode(fake_cuda=True):
            assert run(make, inputs, device, training) == expected
