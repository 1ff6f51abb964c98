"""A wrapper shows the storage that the module has now, whatever replaced it.

"After assignment to a Module attribute, the wrapper becomes module-bound: its data points at module-owned storage".
"""

from __future__ import annotations

import copy
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.distributed
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.nn.utils import parametrize

from qten_gen import Module
from tests import fresh_process

from .declared import Framed, Model, Outer, labelled


def loaded_by_assignment(model: nn.Module) -> None:
    model.load_state_dict({name: torch.zeros_like(value) for name, value in model.state_dict().items()}, assign=True)


def swapped(model: nn.Module) -> None:
    for parameter in model.parameters():
        new = nn.Parameter(torch.zeros_like(parameter))
        torch.utils.swap_tensors(parameter, new)  # type: ignore[no-untyped-call] # torch gives it no types


def moved_with(flag: Callable[[bool], None]) -> Callable[[nn.Module], object]:
    def move(model: nn.Module) -> None:
        flag(True)
        try:
            model.double()
        finally:
            flag(False)

    return move


CHANGES: dict[str, Callable[[nn.Module], object]] = {
    "double": lambda m: m.double(),
    "to": lambda m: m.to(torch.bfloat16),
    "to meta": lambda m: m.to("meta"),
    "to_empty": lambda m: m.to_empty(device="cpu"),
    "load": lambda m: m.load_state_dict({name: value * 2 for name, value in m.state_dict().items()}),
    "assign": loaded_by_assignment,
    "swap_tensors": swapped,
    "overwrite flag": moved_with(torch.__future__.set_overwrite_module_params_on_conversion),
    "swap flag": moved_with(torch.__future__.set_swap_module_params_on_conversion),
    "requires_grad_": lambda m: m.requires_grad_(False),
    "share_memory": lambda m: m.share_memory(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", [Model, lambda: Framed(labelled())], ids=["own __init__", "generated"])
def test_a_wrapper_that_somebody_holds_follows_the_module(
    make: Callable[[], Module], change: Callable[[nn.Module], object]
) -> None:
    module = make()
    held = {name.split(":")[1]: name for name in module.state_dict() if ":" in name}
    wrappers = {name: getattr(module, name) for name in held}
    change(module)
    registered = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, key in held.items():
        assert wrappers[name].data is registered[key]
        assert getattr(module, name).data is registered[key]


def test_a_functional_call_sees_the_tensors_that_it_was_given() -> None:
    model, x = Model(), torch.ones(2, 3)
    replaced = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    assert torch.equal(torch.func.functional_call(model, replaced, (x,)), torch.zeros(2, 3))
    assert not torch.equal(model(x), torch.zeros(2, 3))


class Doubled(nn.Module):
    """A parametrization that doubles, and can be undone."""

    def forward(self, tensor: Tensor) -> Tensor:
        return tensor * 2

    def right_inverse(self, tensor: Tensor) -> Tensor:
        return tensor / 2


def test_a_parametrization_is_seen_and_can_be_assigned_through() -> None:
    model = Model()
    held = model.weight
    parametrize.register_parametrization(model, "tensor:weight", Doubled())
    assert torch.equal(held.data, torch.eye(3) * 2)
    with torch.no_grad():
        model.get_parameter("parametrizations.tensor:weight.original").fill_(4.0)
    assert torch.equal(held.data, torch.full((3, 3), 8.0))
    model.weight = labelled(6.0)
    assert torch.equal(model.get_parameter("parametrizations.tensor:weight.original"), torch.eye(3) * 3)
    parametrize.remove_parametrizations(model, "tensor:weight")
    assert held.data is model.get_parameter("tensor:weight")
    assert torch.equal(held.data, torch.eye(3) * 6)


def test_deleting_a_parametrized_tensor_removes_the_parametrization() -> None:
    model = Model()
    parametrize.register_parametrization(model, "tensor:weight", Doubled())
    del model.weight
    assert list(model.state_dict()) == ["buffer:basis", "linear.weight", "linear.bias"]


def pickled(module: Module) -> Module:
    loaded: Module = pickle.loads(pickle.dumps(module))
    return loaded


def saved(module: Module) -> Module:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded: Module = torch.load(file, weights_only=False)
    return loaded


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled, saved])
def test_a_copy_of_a_module_shows_its_own_storage(copied: Callable[[Module], Module]) -> None:
    outer = copied(Outer())
    exported = outer.export_all()
    assert set(exported) == {"gain", "inner.weight", "inner.basis", "layers.0.weight", "layers.0.basis"}
    outer.double()
    assert {tensor.dtype for tensor in outer.export_all().values()} == {torch.float64}


def test_a_copy_of_a_wrapper_belongs_to_nobody() -> None:
    model = Model()
    copies = [copy.deepcopy(model.weight), pickle.loads(pickle.dumps(model.weight))]
    model.double()
    assert [copied.dtype for copied in copies] == [torch.float32] * 2
    assert [copied.dims for copied in copies] == [model.weight.dims] * 2


def test_a_process_that_never_assigned_reads_a_pickled_module(tmp_path: Path) -> None:
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(Model()))
    program = "import pickle; m = pickle.load(open('model.pickle', 'rb')); print(m.double().weight.dtype, m.basis.dims)"
    paths = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])
    done = fresh_process.run("-c", program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths})
    assert done.stdout == "torch.float64 ('row', 'column')\n", done.stderr


def test_compiled_code_sees_the_storage_of_now() -> None:
    model, x = Model(), torch.ones(2, 3)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), model(x))
    model.weight = labelled(9.0)
    assert torch.equal(compiled(x), model(x))
    model.double()
    assert torch.equal(compiled(x.double()), model(x.double()))


def test_fully_sharded_parameters_are_seen(tmp_path: Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model, x = Model(), torch.ones(2, 3)
        expected = model(x)
        held = model.weight
        fully_shard(model)
        assert held.data is model.get_parameter("tensor:weight")
        assert type(held.data.data).__name__ == "DTensor"
        out = model(x)
        assert torch.equal(out, expected)
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        assert held.grad is not None
    finally:
        torch.distributed.destroy_process_group()
