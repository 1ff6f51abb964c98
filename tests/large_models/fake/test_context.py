"""What `fake_mode` makes fake, what it prints, and what it leaves behind: nothing."""

from __future__ import annotations

import copy
import gc
import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from weakref import ref

import numpy
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch._C import _len_torch_dispatch_stack, _len_torch_function_stack

from qten_gen import deferred_init, fake_mode, is_fake, materialize_module

REAL = torch.ones(3)

MAKERS: dict[str, Callable[[], Tensor]] = {
    "ones": lambda: torch.ones([10]),
    "as_tensor": lambda: torch.as_tensor([1, 2]),
    "legacy": lambda: torch.FloatTensor([1, 2]),
    "generator": lambda: torch.randn(3, generator=torch.Generator()),
    "numpy": lambda: torch.from_numpy(numpy.ones(3)),
    "parameter": lambda: nn.Parameter(torch.ones(2)),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "of-real": lambda: torch.ones_like(REAL) + REAL,
}


def state() -> tuple[object, ...]:
    """What a context could leave behind in this thread."""
    stacks = _len_torch_dispatch_stack(), _len_torch_function_stack()
    flags = torch._C._only_lift_cpu_tensors(), torch._C._meta_in_tls_dispatch_include()
    return (*stacks, *flags, torch.Tensor.__repr__, torch.utils.swap_tensors)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = state()
    yield
    assert state() == before
    assert not is_fake(torch.ones(2))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_tensor_made_in_the_context_is_fake(make: Callable[[], Tensor]) -> None:
    with fake_mode():
        made = make()
    assert is_fake(made) and made.device == torch.device("cpu")


def test_a_tensor_prints_as_documented() -> None:
    with fake_mode():
        b = torch.ones([10])
        assert f"{b}" == str(b) == repr(b) == "tensor(..., size=(10,), fake=True)"
        assert repr(b.double()) == "tensor(..., size=(10,), dtype=torch.float64, fake=True)"
        assert repr(torch.ones((), device="meta")) == "tensor(..., size=(), device='meta', fake=True)"
        needs = torch.ones(2, requires_grad=True)
        assert repr(needs) == "tensor(..., size=(2,), requires_grad=True, fake=True)"
        assert repr(needs * 2) == "tensor(..., size=(2,), grad_fn=<MulBackward0>, fake=True)"
        assert repr(torch.eye(3).to_sparse()) == "tensor(..., size=(3, 3), layout=torch.sparse_coo, fake=True)"
        layer = nn.Linear(20, 30)
    assert repr(layer.weight) == "Parameter containing:\ntensor(..., size=(30, 20), requires_grad=True, fake=True)"
    assert repr(layer) == repr(nn.Linear(20, 30))


def test_contexts_nest_and_their_tensors_meet() -> None:
    with fake_mode():
        first = torch.ones(2)
        with fake_mode(), fake_mode():
            second = torch.ones(2)
        assert is_fake(first + second)
    with fake_mode():
        assert is_fake(torch.ones(2) + first)
    real = nn.Linear(2, 2)
    assert is_fake(real(first)) and not is_fake(real.weight)


def test_an_exception_inside_ends_the_context() -> None:
    with pytest.raises(ZeroDivisionError), fake_mode(), fake_mode(fake_cuda=True):
        raise ZeroDivisionError
    with pytest.raises(RuntimeError, match="reduction dim"), fake_mode():
        _ = torch.ones(2, 3) @ torch.ones(2, 3)


def test_threads_compute_with_the_same_fakes_at_the_same_time() -> None:
    wrong: list[object] = []
    with fake_mode(fake_cuda=True):
        layer = nn.Linear(4, 4).cuda()
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        try:
            for _ in range(20):
                with fake_mode(fake_cuda=True):
                    out = layer(torch.ones(3, 4, device="cuda"))
                    if str(out.device) != "cuda:0" or out.shape != (3, 4):
                        wrong.append(out)
                if is_fake(torch.ones(1)):
                    wrong.append("left behind")
                layer(out).sum().backward()
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with fake_mode():  # which other threads are not in
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_drawing_fake_numbers_leaves_the_generators_alone() -> None:
    own = torch.Generator().manual_seed(1)
    before, of_torch = own.get_state(), torch.get_rng_state()
    with fake_mode():
        torch.randn(3, generator=own)
        nn.init.orthogonal_(torch.empty(3, 3))
        nn.init.trunc_normal_(torch.empty(3))
        nn.init.sparse_(torch.empty(4, 4), 0.5)
    assert torch.equal(own.get_state(), before) and torch.equal(torch.get_rng_state(), of_torch)


def test_a_real_tensor_is_written_by_real_ones_only() -> None:
    real, other = torch.zeros(3), torch.ones(3)
    with fake_mode():
        real.add_(other)
        fake = torch.ones(3)
        for write in (
            lambda: real.add_(fake),
            lambda: torch.add(fake, fake, out=real),
            lambda: real.__setitem__(0, fake[0]),
            lambda: setattr(real, "data", fake),
            lambda: torch._foreach_add_([real], [fake]),  # pyright: ignore[reportPrivateImportUsage]
        ):
            with pytest.raises(RuntimeError, match="into the real tensor given as"):
                write()
    with pytest.raises(RuntimeError, match=r"aten\.add_ would write values of a fake tensor"):
        real.add_(fake)
    assert real.tolist() == [1, 1, 1]


def test_a_view_of_a_real_tensor_is_real_so_that_writing_to_it_arrives() -> None:
    real = torch.zeros(2, 2)
    with fake_mode():
        real[0] = 1
        real.view(-1)[3] = 4
        real.data.t()[0, 1].add_(5)
        assert real.detach().tolist() == [[1, 1], [5, 4]]
        assert is_fake(real + 1) and is_fake(real.clone()) and is_fake(real[[0]])


def test_a_checkpoint_is_loaded_without_its_data_and_a_state_dict_into_a_fake_module() -> None:
    file, real = io.BytesIO(), nn.BatchNorm1d(3)
    torch.save(real.state_dict(), file)
    file.seek(0)
    with fake_mode():
        loaded, fake = torch.load(file), nn.BatchNorm1d(3)
        assert all(map(is_fake, loaded.values()))
        for state_dict in (real.state_dict(), loaded):
            fake.load_state_dict(state_dict)
        fake.load_state_dict(loaded, assign=True)
        assert all(map(is_fake, fake.state_dict().values()))
    with pytest.raises(RuntimeError, match="size mismatch"):
        fake.load_state_dict(nn.BatchNorm1d(4).state_dict())
    with pytest.raises(RuntimeError, match="into the real tensor"):
        real.load_state_dict(fake.state_dict())


def test_values_that_are_known_stay_known(tmp_path: Path) -> None:
    """torch keeps numbers of one element, so that a constructor can compute with them; safetensors maps its files."""
    save_file({"weight": torch.arange(3.0)}, tmp_path / "model.safetensors")
    with fake_mode():
        assert (torch.tensor(3.0) * 2).item() == 6
        weight = load_file(tmp_path / "model.safetensors")["weight"]
        assert not is_fake(weight) and is_fake(weight + 1)
    assert weight.tolist() == [0, 1, 2]


def test_a_fake_module_is_exported_and_a_compiled_one_takes_fake_tensors() -> None:
    compiled = torch.compile(nn.Linear(3, 2), backend="eager")
    with fake_mode():
        layer, x = nn.Linear(3, 2), torch.ones(4, 3)
        assert compiled(x).shape == (4, 2)
    assert torch.export.export(layer, (x,)).graph_signature.user_outputs == ("linear",)


def lazy() -> nn.Sequential:
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))


def test_a_lazy_module_gets_its_sizes_from_its_first_call_and_is_fake_from_then_on() -> None:
    real = lazy()
    expected = real(torch.ones(2, 3, 8, 8))
    with fake_mode():
        model = lazy()
        weight = model[0].weight
        assert isinstance(weight, nn.UninitializedParameter) and not is_fake(weight)
        made = model(torch.ones(2, 3, 8, 8))
        made.sum().backward()
        assert is_fake(nn.Parameter()) and is_fake(nn.Buffer())
        other = copy.deepcopy(nn.LazyLinear(3).to(torch.float64))
        other.load_state_dict(nn.Linear(5, 3).state_dict())
    assert is_fake(other.weight) and (other.weight.shape, other.weight.dtype) == ((3, 5), torch.float64)
    assert model[0].weight is weight and isinstance(weight, nn.Parameter)
    assert weight.grad is not None and is_fake(weight.grad) and made.shape == expected.shape
    for (name, fake), (other_name, tensor) in zip(model.state_dict().items(), real.state_dict().items(), strict=True):
        assert is_fake(fake) and (name, fake.shape, fake.dtype) == (other_name, tensor.shape, tensor.dtype)


def test_no_mode_is_kept_alive() -> None:
    layer = deferred_init(nn.Linear, 3, 4)
    mode = ref(getattr(layer.weight, "fake_mode"))  # noqa: B009 # of the fake tensor
    materialize_module(layer)
    gc.collect()
    assert mode() is None
