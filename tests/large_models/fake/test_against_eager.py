"""Functions and layers on fake tensors and on real ones: the same shapes, strides, dtypes and gradients, on each device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

from qten_gen import fake_mode, is_fake, meta_like

FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "transpose": lambda x, y: x.transpose(0, -1),
    "double": lambda x, y: x.double(),
    "every second": lambda x, y: x[..., ::2],
    "softmax": lambda x, y: x.softmax(-1),
    "in place": lambda x, y: x.clone().sqrt_(),
    "sort": lambda x, y: x.sort(-1).values,
    "unfold": lambda x, y: x.unfold(0, 2, 1),
    "conj": lambda x, y: (x + 1j * x).conj(),
    "new_ones": lambda x, y: x.new_ones(2, 3),
    "layer_norm": lambda x, y: F.layer_norm(x, x.shape[-1:]),
    "channels_last": lambda x, y: x[None].contiguous(memory_format=torch.channels_last),
    "add": lambda x, y: x.clone().add_(y[:1]),
    "matmul": lambda x, y: x @ y.mT,
    "where": lambda x, y: torch.where(x > 0, x, 2.0),
    "cat": lambda x, y: torch.cat([x, x * 2]),
    "index": lambda x, y: x[y.long() * 0],
    "embedding": lambda x, y: F.embedding(y.long() * 0, x[0]),
    "gather": lambda x, y: x.gather(0, y.long() * 0),
    "einsum": lambda x, y: torch.einsum("bij,bkj->bik", x, y),
}


def facts(tensor: Tensor) -> object:
    return (
        tuple(tensor.shape),
        tensor.stride(),
        tensor.storage_offset(),
        tensor.dtype,
        tensor.requires_grad,
        tensor.is_conj(),
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_makes_the_same_tensor(name: str) -> None:
    def run(device: str) -> list[Tensor]:
        first = torch.zeros(4, 3, 2, device=device).permute(2, 1, 0).requires_grad_()
        made = FUNCTIONS[name](first, torch.ones(2, 6, 8, device=device)[:, ::2, ::2])
        if made.is_floating_point() and made.requires_grad:
            made.backward(torch.ones_like(made))  # type: ignore[no-untyped-call] # torch gives it no types
        return [made, *([] if first.grad is None else [first.grad])]

    real = run("cpu")
    for device in ("cpu", "cuda:1"):
        with fake_mode(fake_cuda=True):
            fake = run(device)
        assert list(map(facts, fake)) == list(map(facts, real))
        for tensor in fake:
            assert is_fake(tensor) and str(tensor.device) == device
            assert facts(meta_like(tensor))[:2] == facts(tensor)[:2]  # type: ignore[index] # tuples


X1, X2 = (2, 4, 8), (2, 4, 8, 8)
LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[tuple[int, ...], ...]]] = {
    "linear": (lambda: nn.Linear(8, 3), ((5, 8),)),
    "conv2d": (lambda: nn.Conv2d(4, 8, 3, groups=2, dilation=2, padding_mode="circular", padding=2), (X2,)),
    "conv-transpose2d": (lambda: nn.ConvTranspose2d(4, 3, 3, output_padding=1, stride=2), (X2,)),
    "max-pool2d": (lambda: nn.MaxPool2d(3, 2, return_indices=True), (X2,)),
    "adaptive-avg-pool2d": (lambda: nn.AdaptiveAvgPool2d(1), (X2,)),
    "batch-norm2d": (lambda: nn.BatchNorm2d(4), (X2,)),
    "instance-norm": (lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (X2,)),
    "group-norm": (lambda: nn.GroupNorm(2, 4), (X2,)),
    "lstm": (lambda: nn.LSTM(8, 5, batch_first=True, bidirectional=True), (X1,)),
    "gru-cell": (lambda: nn.GRUCell(8, 5), ((2, 8), (2, 5))),
    "attention": (lambda: nn.MultiheadAttention(8, 2, kdim=3, vdim=5), (X1, (2, 4, 3), (2, 4, 5))),
    "encoder-layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (X1,)),
    "dropout2d": (lambda: nn.Dropout2d(), (X2,)),
    "upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (X2,)),
    "bce": (lambda: nn.BCEWithLogitsLoss(), (X1, X1)),
    "rrelu": (lambda: nn.RReLU(), (X1,)),
}


def described(make: Callable[[], nn.Module], given: list[Tensor], training: bool) -> list[object]:
    """What comes out of a layer, the gradients, and its state."""
    module = make().to(given[0].device).train(training)
    found = [tensor for tensor in tree_leaves(module(*given)) if isinstance(tensor, Tensor)]
    total = sum((tensor.sum() for tensor in found if tensor.requires_grad), torch.zeros((), device=given[0].device))
    total.backward()  # type: ignore[no-untyped-call] # torch leaves it untyped
    gradients = [tensor.grad for tensor in (*given, *module.parameters())]
    made = [*found, *(tensor for tensor in gradients if tensor is not None), *module.state_dict().values()]
    assert {tensor.device for tensor in made} == {given[0].device}
    return [(tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad) for tensor in made]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_does_the_same(name: str) -> None:
    make, sizes = LAYERS[name]
    for training in (True, False):
        expected = described(make, [torch.ones(size, requires_grad=True) for size in sizes], training)
        for device in ("cpu", "cuda:0"):
            with fake_mode(fake_cuda=True):
                given = [torch.ones(size, device=device, requires_grad=True) for size in sizes]
                assert described(make, given, training) == expected
