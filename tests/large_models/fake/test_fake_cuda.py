"""CUDA devices on a machine without CUDA: what runs there, what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from qten_gen import fake_mode, is_fake

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="CUDA is not emulated where it is available")

GPU, OTHER = torch.device("cuda", 0), torch.device("cuda", 1)


@pytest.fixture(autouse=True)
def cuda() -> Iterator[None]:
    with fake_mode(fake_cuda=True):
        yield


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(4, 3), (2, 4)),
    "conv": (lambda: nn.Conv2d(3, 4, 3), (2, 3, 8, 8)),
    "conv-transposed": (lambda: nn.ConvTranspose1d(3, 4, 3), (2, 3, 8)),
    "batch-norm": (lambda: nn.BatchNorm2d(3), (2, 3, 4, 4)),
    "group-norm": (lambda: nn.GroupNorm(2, 4), (2, 4, 5)),
    "lstm": (lambda: nn.LSTM(4, 5, num_layers=2, bidirectional=True), (3, 2, 4)),
    "gru": (lambda: nn.GRU(4, 5), (3, 2, 4)),
    "attention": (lambda: Attention(8), (2, 3, 8)),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), (2, 3, 8)),
    "dropout": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.GELU()), (2, 4)),
}

OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters),
    "foreach": lambda parameters: torch.optim.AdamW(parameters, foreach=True),
    "fused": lambda parameters: torch.optim.AdamW(parameters, fused=True),
}


class Attention(nn.Module):
    """Multi-head attention of a sequence with itself."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        out, weights = self.inner(x, x, x)
        return torch.cat([out.flatten(), weights.flatten()])


def devices(module: nn.Module) -> set[torch.device]:
    return {tensor.device for tensor in [*module.parameters(), *module.buffers()]}


@pytest.mark.filterwarnings("ignore:PyTorch was compiled without cuDNN", "ignore:enable_nested_tensor")
@pytest.mark.parametrize(
    ("name", "optimizer"),
    [*((name, "sgd") for name in MODELS), *(("encoder", each) for each in OPTIMIZERS if each != "sgd")],
)
def test_a_model_trains_and_moves(name: str, optimizer: str) -> None:
    make, size = MODELS[name]
    model = make().cuda()
    steps = OPTIMIZERS[optimizer](model.parameters())
    for _ in range(2):
        steps.zero_grad()
        out = model(torch.randn(size, device="cuda"))
        out = out[0] if isinstance(out, tuple) else out
        assert out.device == GPU
        out.square().mean().backward()
        assert {p.grad.device for p in model.parameters() if p.grad is not None} == {GPU}
        assert nn.utils.clip_grad_norm_(model.parameters(), 1.0).device == GPU
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        steps.step()
    weights = [*model.parameters()]
    assert devices(model.to(OTHER)) == {OTHER}
    assert {p.grad.device for p in model.parameters() if p.grad is not None} == {OTHER}
    assert all(new is old for new, old in zip(model.parameters(), weights, strict=True))
    assert devices(model.cpu()) == {torch.device("cpu")}
    assert devices(model.half().to(GPU)) == {GPU}
    assert {p.dtype for p in model.parameters()} == {torch.float16}


ALL = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
MIXED: dict[str, tuple[Callable[[Tensor, Tensor], object], str]] = {
    "add": (lambda x, y: x + y, ALL),
    "add_": (lambda x, y: x.add_(y), ALL),
    "matmul": (lambda x, y: x @ y, ALL),
    "cat": (lambda x, y: torch.cat([x, y]), ALL),
    "where": (lambda x, y: torch.where(x > 0, y, y), ALL),
    "lerp": (lambda x, y: x.lerp(y, 0.5), ALL),
    "loss": (lambda x, y: nn.functional.mse_loss(x, y), ALL),
    "linear": (lambda x, y: nn.functional.linear(x, y), ALL),
    "embedding": (lambda x, y: nn.functional.embedding(y[0].long(), x), ALL),
    "convolution": (lambda x, y: nn.functional.conv1d(y, x[..., None]), "found at least two devices, cpu and cuda:0"),
    "index": (
        lambda x, y: y[x[0].long()],
        r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)",
    ),
    "index-put": (
        lambda x, y: y.__setitem__(x[0].long(), y),
        r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)",
    ),
    "attention": (
        lambda x, y: nn.functional.scaled_dot_product_attention(x[None], y[None], y[None]),
        "query.device: cuda:0 key.device: cpu and value.device: cpu",
    ),
    "gradient": (lambda x, y: setattr(x, "grad", y), "assigned grad has data located on a different device"),
    "generator": (
        lambda x, y: x.normal_(generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "out": (lambda x, y: torch.add(x, x, out=y), "cuda:0"),
}


@pytest.mark.parametrize(("mix", "message"), MIXED.values(), ids=MIXED.keys())
def test_devices_that_differ_are_refused_in_the_words_of_torch(
    mix: Callable[[Tensor, Tensor], object], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        mix(torch.ones(3, 3, device="cuda"), torch.ones(3, 3))


def test_two_cuda_devices_differ() -> None:
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        _ = torch.ones(2, device=GPU) + torch.ones(2, device=OTHER)
    with pytest.raises(RuntimeError, match="same device"):
        nn.functional.conv1d(torch.ones(1, 1, 3, device=GPU), torch.ones(1, 1, 1, device=OTHER))


def test_what_torch_lets_meet_meets() -> None:
    on_gpu, here = torch.ones(3, device=GPU), torch.ones(3)
    assert (on_gpu * torch.tensor(2.0)).device == GPU
    assert on_gpu[torch.tensor([0, 1])].device == GPU
    assert here.copy_(on_gpu).device == torch.device("cpu")
    assert on_gpu.to(here).device == torch.device("cpu")
    on_gpu[0] = here[0]


NAMES = ["cuda", "cuda:0", 0, torch.device("cuda"), GPU]


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_a_device_is_named_in_every_way(name: str | int | torch.device) -> None:
    here, real = torch.ones(3), REAL
    for made in (
        torch.zeros(2, device=name),
        torch.tensor([1, 2], device=name),
        torch.tensor([], device=name),
        torch.as_tensor([1.0], device=name),
        torch.as_tensor(here, device=name),
        torch.asarray(real, device=name),
        torch.zeros_like(here, device=name),
        here.new_zeros(2, device=name),
        here.new_tensor([1, 2], device=name),
        here.to(name),
        here.to(device=name, dtype=torch.float64, non_blocking=True, copy=True),
        here.cuda(name),
        real.to(name),
        real.cuda(),
        nn.Linear(2, 2, device=name).weight,
    ):
        assert made.device == GPU and is_fake(made)


REAL = torch.ones(2)


def test_a_tensor_knows_where_it_is() -> None:
    on_gpu, here = torch.ones(3, device=OTHER), torch.ones(3)
    assert (on_gpu.is_cuda, on_gpu.is_cpu, on_gpu.is_meta, on_gpu.get_device()) == (True, False, False, 1)
    assert (here.is_cuda, here.is_cpu, here.get_device()) == (False, True, -1)
    assert on_gpu.to(OTHER) is on_gpu and on_gpu.cuda(1) is on_gpu
    assert on_gpu.type(torch.float64).device == OTHER
    assert repr(on_gpu) == "tensor(..., size=(3,), device='cuda:1', fake=True)"
    assert on_gpu.new_zeros(2).device == torch.empty_like(on_gpu).device == on_gpu.new_tensor([1]).device == OTHER


def test_assigning_data_moves_a_tensor() -> None:
    tensor = torch.ones(2, requires_grad=True)
    tensor.data = torch.ones(3, device=OTHER)
    assert (tensor.device, tensor.shape, (tensor * 2).device) == (OTHER, (3,), OTHER)


def test_a_device_context_is_followed() -> None:
    with torch.device("cuda:1"):
        assert devices(nn.Linear(2, 2)) == {OTHER}
    torch.set_default_device("cuda")
    try:
        assert torch.ones(2).device == GPU
    finally:
        torch.set_default_device(None)


def test_an_operation_without_a_rule_stays_on_its_device() -> None:
    found = torch.histogram(torch.ones(5, device=OTHER), bins=4)
    assert {tensor.device for tensor in found} == {OTHER}


def test_transforms_and_checkpoints_keep_the_device() -> None:
    x = torch.ones(3, device=OTHER, requires_grad=True)
    assert torch.vmap(lambda row: row * 2)(x).device == OTHER
    assert torch.func.grad(lambda row: row.sum())(x).device == OTHER
    layer = nn.Linear(3, 3, device=OTHER)
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    assert x.grad is not None and x.grad.device == OTHER


def test_attributes_of_a_parameter_stay_when_its_module_moves() -> None:
    layer = nn.Linear(2, 2)
    layer.weight.tag = "mine"  # type: ignore[attr-defined] # an attribute of the user
    view = layer.weight.view(-1)
    assert vars(layer.cuda().half().weight)["tag"] == "mine"
    assert view.device == torch.device("cpu"), "as a view of a real parameter keeps the data from before"


@pytest.mark.parametrize("device", ["cuda:64", "cuda:127"])
def test_a_device_beyond_those_that_are_emulated_is_refused_by_factories_and_moves(device: str) -> None:
    with fake_mode(fake_cuda=True):
        assert torch.ones(2, device="cuda:63").device == torch.device("cuda:63")
        makes: list[Callable[[], Tensor]] = [lambda: torch.ones(2, device=device), lambda: torch.ones(2).to(device)]
        for make in makes:
            with pytest.raises(ValueError, match=f"expected a CUDA device from cuda:0 to cuda:63, got {device}"):
                make()
