"""CUDA devices on a machine without CUDA: what runs there, what is refused, in which words, and what is left of them outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, nn

from qten_gen import fake_mode, is_fake

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="CUDA is not emulated where it is available")

GPU, OTHER = torch.device("cuda", 0), torch.device("cuda", 1)


OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]] = {
    "adamw": lambda parameters: torch.optim.AdamW(parameters),
    "foreach": lambda parameters: torch.optim.AdamW(parameters, foreach=True),
}


@pytest.fixture(autouse=True)
def cuda(request: pytest.FixtureRequest) -> Iterator[None]:
    """A context with fake CUDA, unless a test enters contexts itself."""
    with fake_mode(fake_cuda=True) if "outside" not in request.function.__name__ else nullcontext():
        yield


def devices(module: nn.Module) -> set[torch.device]:
    return {tensor.device for tensor in [*module.parameters(), *module.buffers()]}


@pytest.mark.filterwarnings("ignore:PyTorch was compiled without cuDNN", "ignore:enable_nested_tensor")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_model_trains_and_moves(optimizer: str) -> None:
    model = nn.Sequential(
        nn.Conv1d(3, 8, 3, padding=1), nn.BatchNorm1d(8), nn.TransformerEncoderLayer(8, 2, 16), nn.GELU()
    ).cuda()
    steps = OPTIMIZERS[optimizer](model.parameters())
    for _ in range(2):
        steps.zero_grad()
        out = model(torch.randn(2, 3, 8, device="cuda"))
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


REAL = torch.ones(2)


@pytest.mark.parametrize("name", ["cuda", "cuda:0", 0, torch.device("cuda"), GPU], ids=str)
def test_a_device_is_named_in_every_way(name: str | int | torch.device) -> None:
    here = torch.ones(3)
    for made in (
        torch.tensor([1, 2], device=name),
        torch.as_tensor(here, device=name),
        torch.asarray(REAL, device=name),
        here.new_zeros(2, device=name),
        here.new_tensor([1, 2], device=name),
        here.to(device=name, dtype=torch.float64, non_blocking=True, copy=True),
        here.cuda(name),
        REAL.to(name),
        REAL.cuda(),
        nn.Linear(2, 2, device=name).weight,
    ):
        assert made.device == GPU and is_fake(made)


ALL = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
MIXED: dict[str, tuple[Callable[[Tensor, Tensor], object], str]] = {
    "add_": (lambda x, y: x.add_(y), ALL),
    "matmul": (lambda x, y: x @ y, ALL),
    "cat": (lambda x, y: torch.cat([x, y]), ALL),
    "embedding": (lambda x, y: nn.functional.embedding(y[0].long(), x), ALL),
    "convolution": (lambda x, y: nn.functional.conv1d(y, x[..., None]), "found at least two devices, cpu and cuda:0"),
    "two of CUDA": (lambda x, y: x + y.to(OTHER), "found at least two devices, cuda:0 and cuda:1!"),
    "attention": (
        lambda x, y: nn.functional.scaled_dot_product_attention(x[None], y[None], y[None]),
        "query.device: cuda:0 key.device: cpu and value.device: cpu",
    ),
    "out": (lambda x, y: torch.add(x, x, out=y), "cuda:0"),
    "a lazy layer": (lambda x, y: nn.LazyLinear(3, device="cuda"), "call it once, and move it then"),
    "a lazy layer that moves": (lambda x, y: nn.LazyLinear(3).cuda(), "call it once, and move it then"),
    "a move beyond": (lambda x, y: x.to("cuda:127"), "from cuda:0 to cuda:63, got cuda:127"),
}


@pytest.mark.parametrize(("mix", "message"), MIXED.values(), ids=MIXED.keys())
def test_devices_that_differ_are_refused_in_the_words_of_torch(
    mix: Callable[[Tensor, Tensor], object], message: str
) -> None:
    with pytest.raises((RuntimeError, ValueError), match=message):
        mix(torch.ones(3, 3, device="cuda"), torch.ones(3, 3))


def test_what_torch_lets_meet_meets() -> None:
    on_gpu, here = torch.ones(3, device=GPU), torch.ones(3)
    assert (on_gpu * torch.tensor(2.0)).device == GPU
    assert on_gpu[torch.tensor([0, 1])].device == GPU
    assert here.copy_(on_gpu).device == torch.device("cpu")
    assert on_gpu.to(here).device == torch.device("cpu")
    on_gpu[0] = here[0]
    assert torch.ones(2, device="cuda:63").device == torch.device("cuda:63")
    lazy = nn.LazyLinear(3)
    lazy(torch.ones(2, 5))
    assert lazy.cuda()(torch.ones(2, 5, device="cuda")).device == GPU


def test_a_tensor_knows_where_it_is() -> None:
    on_gpu, here = torch.ones(3, device=OTHER), torch.ones(3)
    assert (on_gpu.is_cuda, on_gpu.is_cpu, on_gpu.is_meta, on_gpu.get_device()) == (True, False, False, 1)
    assert (here.is_cuda, here.is_cpu, here.get_device()) == (False, True, -1)
    assert on_gpu.to(OTHER) is on_gpu and on_gpu.cuda(1) is on_gpu
    assert on_gpu.type(torch.float64).device == OTHER
    assert repr(on_gpu) == "tensor(..., size=(3,), device='cuda:1', fake=True)"
    with torch.device("cuda:1"):
        assert devices(nn.Linear(2, 2)) == {OTHER}
    assert torch.vmap(lambda row: row * 2)(on_gpu).device == OTHER
    assert on_gpu.new_zeros(2).device == torch.empty_like(on_gpu).device == on_gpu.new_tensor([1]).device == OTHER


def test_attributes_of_a_parameter_stay_when_its_module_moves_and_assigned_data_moves_it() -> None:
    layer = nn.Linear(2, 2)
    layer.weight.tag = "mine"  # type: ignore[attr-defined] # an attribute of the user
    view = layer.weight.view(-1)
    assert vars(layer.cuda().half().weight)["tag"] == "mine"
    assert view.device == torch.device("cpu"), "as a view of a real parameter keeps the data from before"
    tensor = torch.ones(2, requires_grad=True)
    tensor.data = torch.ones(3, device=OTHER)
    assert (tensor.device, tensor.shape, (tensor * 2).device) == (OTHER, (3,), OTHER)


ASKING: dict[str, Callable[[Tensor], object]] = {
    "factory": lambda x: torch.ones(2, device="cuda"),
    "cuda": lambda x: x.cuda(),
    "like": lambda x: torch.zeros_like(x, device="cuda:1"),
    "module": lambda x: nn.Linear(2, 2).cuda(),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING.keys())
def test_outside_a_device_that_does_not_exist_needs_fake_cuda(ask: Callable[[Tensor], object]) -> None:
    with fake_mode(fake_cuda=True), fake_mode():
        assert torch.ones(2, device="cuda").is_cuda, "the context above has it"
    with fake_mode(), pytest.raises(RuntimeError, match=r"got cuda:\d: .* enter fake_mode\(fake_cuda=True\)"):
        ask(torch.ones(2))


def test_outside_tensors_on_it_work_on() -> None:
    with fake_mode(fake_cuda=True):
        x, layer = torch.ones(2, device=OTHER), nn.Linear(2, 2, device=OTHER)
    out = layer(x)
    out.sum().backward()
    for tensor in (out, x + 1, torch.zeros_like(x), x.new_zeros(3), x.new_tensor([1.0]), layer.weight.grad):
        assert tensor is not None and tensor.device == OTHER and is_fake(tensor)
    assert x.to("cuda:0").device == GPU and x.cpu().device == torch.device("cpu")
    with pytest.raises(RuntimeError, match="fake_cuda=True"):
        x.cpu().cuda()
    assert devices(layer.to("cuda:0")) == {GPU}
