"""Tools of PyTorch that reach into modules."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.utils import parametrizations, parametrize, prune

from qten_gen import Module, buffer, param

from .declared import Block, PlainBlock, batch


class Linear(Module):
    """A module that TorchScript understands: it takes no annotation of a child, nor one that is a string."""

    rows: int
    cols: int
    weight: nn.Parameter = param("rows", "cols", initializer=nn.init.ones_)
    scale: Tensor = buffer("rows", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight.t()) * self.scale / self.rows


@pytest.mark.parametrize("foreach", [False, True])
def test_optimisers_train_it_as_they_train_a_plain_module(foreach: bool) -> None:
    results = []
    for module in (Block(4), PlainBlock(4)):
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.1, foreach=foreach)
        for _ in range(3):
            optimiser.zero_grad()
            module(batch()).square().mean().backward()
            optimiser.step()
        results.append(module(batch()))
    assert torch.equal(*results)


def test_compile_traces_the_whole_call() -> None:
    block = Block(4)
    compiled = torch.compile(block, fullgraph=True, backend="eager")
    assert torch.equal(compiled(batch()), block(batch()))


def test_compiled_code_sees_changed_weights() -> None:
    block = Block(4)
    compiled = torch.compile(block, fullgraph=True, backend="eager")
    compiled(batch())
    with torch.no_grad():
        block.weight.mul_(3)
    assert torch.equal(compiled(batch()), block(batch()))


@pytest.mark.parametrize("strict", [False, True])
def test_export_gives_the_same_result_and_the_same_state(strict: bool) -> None:
    block = Block(4)
    program = torch.export.export(block, (batch(),), strict=strict)
    assert torch.equal(program.module()(batch()), block(batch()))
    plain = torch.export.export(PlainBlock(4), (batch(),), strict=strict)
    assert list(program.state_dict) == list(plain.state_dict)
    assert len(list(program.graph.nodes)) == len(list(plain.graph.nodes))


@pytest.mark.filterwarnings(
    "ignore:`torch.jit.script` is:DeprecationWarning", "ignore:`torch.jit.script_method` is:DeprecationWarning"
)
def test_a_plain_module_can_be_scripted() -> None:
    linear = Linear(3, 4)
    assert torch.equal(torch.jit.script(linear)(batch()), linear(batch()))


def test_a_module_can_be_traced_symbolically() -> None:
    linear = Linear(3, 4)
    assert torch.equal(torch.fx.symbolic_trace(linear)(batch()), linear(batch()))


def test_functional_call_uses_the_tensors_given() -> None:
    block = Block(4)
    replaced = {"weight": torch.zeros(12, 4), "noise": torch.zeros(4)}
    assert not functional_call(block, replaced, (batch(),)).any()
    assert block(batch()).any()


def test_an_ensemble_is_run_with_vmap() -> None:
    blocks = [Block(4), Block(4)]
    with torch.no_grad():
        blocks[1].weight.mul_(2)
    parameters, buffers = stack_module_state(blocks)
    base = copy.deepcopy(blocks[0]).to("meta")

    def run(parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
        out: Tensor = functional_call(base, (parameters, buffers), (batch(),))
        return out

    together = vmap(run)(parameters, buffers)
    for row, block in zip(together, blocks, strict=True):
        torch.testing.assert_close(row, block(batch()))


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


def test_a_parametrization_can_be_added_and_removed() -> None:
    block = Block(4)
    parametrize.register_parametrization(block, "weight", Double())
    assert torch.equal(block.weight, torch.full((12, 4), 2.0))
    assert isinstance(block, Block)
    parametrize.remove_parametrizations(block, "weight")
    assert torch.equal(block.weight, torch.full((12, 4), 2.0))
    assert type(block) is Block
    assert "weight" in dict(block.named_parameters())


def test_a_parametrized_module_can_be_deep_copied() -> None:
    block = Block(4)
    parametrize.register_parametrization(block, "weight", Double())
    assert torch.equal(copy.deepcopy(block)(batch()), block(batch()))


@pytest.mark.filterwarnings("ignore:.*weight_norm.*is deprecated:FutureWarning")
def test_the_old_weight_norm_computes_the_attribute() -> None:
    block = Block(4)
    expected = block(batch())
    nn.utils.weight_norm(block, "weight")
    torch.testing.assert_close(block(batch()), expected)
    with torch.no_grad():
        block.get_parameter("weight_g").mul_(2)
    assert not torch.allclose(block(batch()), expected)
    nn.utils.remove_weight_norm(block, "weight")
    assert "weight" in dict(block.named_parameters())


@pytest.mark.parametrize("norm", [parametrizations.weight_norm, parametrizations.spectral_norm])
def test_the_parametrized_norms_train(norm: object) -> None:
    block = Block(4)
    assert callable(norm)
    norm(block, "weight")
    gradients = torch.autograd.grad(block(batch()).sum(), list(block.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_pruning_masks_the_attribute_and_can_be_made_permanent() -> None:
    block = Block(4)
    prune.l1_unstructured(block, "weight", amount=0.5)  # type: ignore[no-untyped-call] # torch gives it no types
    assert int(block.weight.eq(0).sum()) == 24
    block(batch())
    prune.remove(block, "weight")  # type: ignore[no-untyped-call] # torch gives it no types
    assert isinstance(block.weight, nn.Parameter)


def test_a_replica_computes_with_the_tensors_it_is_given() -> None:
    block = Block(4)
    replica = block._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
    for name, parameter in block.named_parameters(recurse=False):
        setattr(replica, name, parameter * 2)
    for name, child in block.named_children():
        setattr(replica, name, child)
    assert torch.equal(replica.weight, block.weight * 2)
    assert replica(batch()).shape == block(batch()).shape


def test_a_class_made_from_a_finished_one_is_finished() -> None:
    """What `fully_shard` does: a subclass by `type(...)`, and `__class__` assigned."""

    class Marker:
        pass

    block = Block(4)
    block.__class__ = type("ShardedBlock", (Marker, Block), {})
    assert torch.equal(block(batch()), Block(4)(batch()))
    assert block.causal.shape == (4, 4)


def test_hooks_run() -> None:
    seen: list[str] = []
    block = Block(4)
    block.register_forward_pre_hook(lambda module, args: seen.append("before"))
    block.register_forward_hook(lambda module, args, out: seen.append("after"))
    block.register_full_backward_hook(lambda module, grads, outs: seen.append("back"))
    torch.autograd.backward(block(batch().requires_grad_()).sum())
    assert seen == ["before", "after", "back"]


def test_memory_can_be_shared() -> None:
    block = Block(4).share_memory()
    assert all(tensor.untyped_storage().is_shared() for tensor in (block.weight, block.scale))


def test_children_are_found_in_containers() -> None:
    stack = nn.Sequential(Linear(4, 4), Linear(2, 4))
    assert stack(batch()).shape == (3, 2)
    assert [name for name, _ in stack.named_parameters()][:2] == ["0.weight", "1.weight"]
