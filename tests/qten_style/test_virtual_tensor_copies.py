"""Modules with virtual tensors are copied, saved, loaded, compiled and moved as others are."""

import copy
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from qten_gen import VirtualTensor
from tests import fresh_process

from .test_virtual_tensor import Decay, twice


def pickled(module: Decay) -> Decay:
    loaded: Decay = pickle.loads(pickle.dumps(module))
    return loaded


def saved(module: Decay) -> Decay:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded: Decay = torch.load(file, weights_only=False)
    return loaded


@pytest.mark.parametrize("persist", [False, True])
@pytest.mark.parametrize("copied", [copy.deepcopy, pickled, saved])
def test_a_copy_has_a_virtual_tensor_of_its_own(copied: Callable[[Decay], Decay], persist: bool) -> None:
    decay = Decay(persist)
    VirtualTensor.create(decay, "other", twice)
    made = copied(decay)
    with torch.no_grad():
        made.rate.zero_()
    made.double()
    assert made.factor.owner is made
    assert torch.equal(made.factor.value, torch.ones(3, dtype=torch.float64))
    assert torch.equal(getattr(made, "other").value, torch.full((2,), 2.0, dtype=torch.float64))  # noqa: B009
    assert torch.equal(decay.factor.value, torch.exp(-torch.ones(3)))
    del made.factor
    assert decay.factor.owner is decay


def test_a_copy_of_the_virtual_tensor_belongs_to_a_copy_of_the_module() -> None:
    decay = Decay()
    made = copy.deepcopy(decay.factor)
    assert isinstance(made.owner, Decay) and made.owner is not decay
    assert torch.equal(made.value, decay.factor.value)


def test_a_process_that_never_made_one_reads_a_pickled_module(tmp_path: Path) -> None:
    linear = nn.Linear(1, 1)
    VirtualTensor.create(linear, "v", ones)
    (tmp_path / "module.pickle").write_bytes(pickle.dumps(linear))
    program = "import pickle; m = pickle.load(open('module.pickle', 'rb')); print(m.double().v.value)"
    paths = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])
    done = fresh_process.run("-c", program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths})
    assert done.stdout == "tensor([1.], dtype=torch.float64)\n", done.stderr


def ones(module: nn.Module, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.ones(1, dtype=dtype, device=device)


def test_only_a_persistent_reference_is_in_the_state_dict() -> None:
    assert list(Decay().state_dict()) == ["rate"]
    assert list(Decay(persist=True).state_dict()) == ["rate", "_factor_ref"]


@pytest.mark.parametrize("assign", [False, True])
def test_loading_restores_dtype_and_device_of_a_persistent_reference(assign: bool) -> None:
    """ "persist: if the buffer which stores the dtype and device should persist across the state dictionary." """
    source = Decay(persist=True)
    source.factor.dtype = torch.float64
    target = nn.Sequential(Decay(persist=True), Decay(persist=True))
    state = {f"{index}.{name}": value for index in (0, 1) for name, value in source.state_dict().items()}
    target.load_state_dict(state, assign=assign)
    for child in target:
        assert isinstance(child, Decay)
        assert child.factor.value.dtype == torch.float64
        assert child.rate.dtype == torch.float32


def test_the_reference_survives_to_empty() -> None:
    decay = Decay().to("meta").to_empty(device="cpu")
    with torch.no_grad():
        decay.rate.zero_()
    assert torch.equal(decay.factor.value, torch.ones(3))


def test_compiled_code_reads_the_value_without_a_break() -> None:
    decay, x = Decay(), torch.ones(3)
    compiled = torch.compile(decay, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), decay(x))
    with torch.no_grad():
        decay.rate.zero_()
    assert torch.equal(compiled(x), x)


@pytest.mark.parametrize("strict", [False, True])
def test_it_can_be_exported(strict: bool) -> None:
    decay, x = Decay(), torch.ones(3)
    assert torch.equal(torch.export.export(decay, (x,), strict=strict).module()(x), decay(x))


def test_a_functional_call_computes_from_the_tensors_given() -> None:
    decay, x = Decay(), torch.ones(3)
    assert torch.equal(torch.func.functional_call(decay, {"rate": torch.zeros(3)}, (x,)), x)


def test_it_outlives_a_parametrization_that_it_was_made_under() -> None:
    linear = nn.Linear(2, 2)
    parametrizations.weight_norm(linear)
    VirtualTensor.create(linear, "v", twice)
    nn.utils.parametrize.remove_parametrizations(linear, "weight")
    assert torch.equal(getattr(linear, "v").value, torch.full((2,), 2.0))  # noqa: B009
