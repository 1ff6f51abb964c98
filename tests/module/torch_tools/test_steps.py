"""What tools of PyTorch do with a module: of a declared one they make what they make of a plain one, bit for bit.

A step is a function that does something with either module, and returns the tensors that are compared.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn.utils import parametrizations, parametrize, prune
from torch.optim import SGD, AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel
from torch.utils import swap_tensors
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from .pairs import Block, Input, Pair, Rows, agree, blocks, state, tower, train

Step = Callable[[nn.Module, Input], "Tensor | Sequence[Tensor]"]
Tensors = dict[str, Tensor]

STEPS: dict[str, Step] = {}
"""Each is tried with a tensor and with an object that has a handler."""


def step(function: Step) -> Step:
    STEPS[function.__name__] = function
    return function


def gradients(module: nn.Module) -> list[Tensor]:
    return [parameter.grad for parameter in module.parameters() if parameter.grad is not None]


# Training


@pytest.mark.parametrize("optimiser", [SGD, AdamW])
@pytest.mark.parametrize("form", [{"foreach": False}, {"foreach": True}, {"fused": True}], ids=str)
def test_an_optimiser_trains_it(pair: Pair, optimiser: Callable[..., Optimizer], form: dict[str, bool]) -> None:
    agree(pair, lambda module: train(module, pair.input, optimiser(module.parameters(), lr=0.01, **form)))


@step
def a_loop_with_accumulation_clipping_autocast_and_a_schedule(module: nn.Module, input: Input) -> list[Tensor]:
    """What a trainer does: nothing of it is special to a kind of module."""
    optimiser = AdamW(module.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=4)
    for number in range(4):
        with torch.autocast("cpu", torch.bfloat16):
            loss = module(input).square().mean()
        (loss / 2).backward()
        if number % 2:
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
    with torch.inference_mode():
        out: Tensor = module.eval()(input)
    return [*state(module), out.clone()]


@pytest.mark.parametrize("reentrant", [False, True])
def test_activations_are_recomputed(pair: Pair, reentrant: bool) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        factor = torch.ones((), requires_grad=True)
        checkpoint(lambda by: module(pair.input) * by, factor, use_reentrant=reentrant).sum().backward()
        return gradients(module)

    agree(pair, run)


@step
def every_kind_of_hook(module: nn.Module, input: Input) -> list[Tensor]:
    seen: list[Tensor] = []
    child = list(module.children())[-1]

    def add_one(module: nn.Module, args: object, out: Tensor) -> Tensor:
        return out + 1

    for hooked in (module, child):
        hooked.register_forward_pre_hook(lambda *_: seen.append(torch.tensor(1)))
        hooked.register_forward_hook(add_one)
    child.register_full_backward_pre_hook(lambda _, grads: seen.extend(grads))
    child.register_full_backward_hook(lambda _, __, grads: seen.extend(grads))
    seen.append(module(input))
    seen[-1].sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return [*seen, *gradients(module)]


@step
def averaged_weights(module: nn.Module, input: Input) -> Tensor:
    averaged = AveragedModel(module)
    for _ in range(2):
        averaged.update_parameters(module)
        train(module, input, SGD(module.parameters(), lr=0.01), steps=1)
    averaged.update_parameters(module)
    out: Tensor = averaged(input)
    return out


# Functions of the tensors of a module


@step
def a_functional_call(module: nn.Module, input: Input) -> list[Tensor]:
    before = [*map(id, state(module))]
    named = [*module.named_parameters(), *module.named_buffers()]
    out = functional_call(module, {name: 0.5 * tensor.detach() for name, tensor in named}, (input,))
    assert [*map(id, state(module))] == before
    return [out, module(input)]


@step
def an_ensemble_in_one_call(module: nn.Module, input: Input) -> list[Tensor]:
    modules = [module, copy.deepcopy(module)]
    with torch.no_grad():
        for tensor in state(modules[1]):
            tensor.mul_(0.5)
    parameters, buffers = stack_module_state(modules)
    base = copy.deepcopy(module).to("meta")

    def member(parameters: Tensors, buffers: Tensors) -> Tensor:
        out: Tensor = functional_call(base, (parameters, buffers), (input,))
        return out

    together: Tensor = vmap(member)(parameters, buffers)
    for row, each in zip(together, modules, strict=True):
        torch.testing.assert_close(row, each(input))
    return [together]


@step
def a_gradient_by_the_input(module: nn.Module, input: Input) -> Tensor:
    def loss(input: Input) -> Tensor:
        out: Tensor = module(input)
        return out.square().sum()

    found: Input = grad(loss)(input)
    return found.x if isinstance(found, Rows) else found


# Tools that put a computed tensor in a parameter's place


class Double(nn.Module):
    """A parametrization with an inverse."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x

    def right_inverse(self, x: Tensor) -> Tensor:
        return x / 2


def double(block: nn.Module, name: str = "weight") -> None:
    parametrize.register_parametrization(block, name, Double())


def twice(block: nn.Module) -> None:
    double(block)
    double(block)


def assigned(block: nn.Module) -> None:
    double(block)
    block.weight = torch.full((4, 4), 6.0)
    assert torch.equal(block.weight, torch.full((4, 4), 6.0))


def there_and_back(leave: bool) -> Callable[[nn.Module], None]:
    def change(block: nn.Module) -> None:
        before = type(block)
        double(block)
        parametrize.remove_parametrizations(block, "weight", leave_parametrized=leave)
        assert type(block) is before
        assert "weight" in dict(block.named_parameters())

    return change


def weight_norm(block: nn.Module) -> None:
    nn.utils.weight_norm(block, "weight")


def spectral_norm(block: nn.Module) -> None:
    nn.utils.spectral_norm(block, "weight")


def pruned(block: nn.Module) -> None:
    prune.l1_unstructured(block, "weight", amount=0.5)  # type: ignore[no-untyped-call] # torch gives it no types


def pruned_rows(block: nn.Module) -> None:
    prune.ln_structured(block, "weight", amount=0.5, n=2, dim=0)  # type: ignore[no-untyped-call] # torch gives it no types


CHANGES: dict[str, Callable[[nn.Module], object]] = {
    **{name: lambda block, name=name: double(block, name) for name in ("weight", "shift", "scale")},  # type: ignore[misc]
    "stacked": twice,
    "assigned": assigned,
    "removed, the original": there_and_back(False),
    "removed, parametrized": there_and_back(True),
    "weight norm": lambda block: parametrizations.weight_norm(block, "weight"),
    "spectral norm": lambda block: parametrizations.spectral_norm(block, "weight"),
    "orthogonal": lambda block: parametrizations.orthogonal(block, "weight"),
    "old weight norm": weight_norm,
    "old spectral norm": spectral_norm,
    "pruned": pruned,
    "pruned rows": pruned_rows,
}
MADE_PERMANENT: dict[str, Callable[[nn.Module], object]] = {
    "old weight norm": lambda block: nn.utils.remove_weight_norm(block, "weight"),
    "old spectral norm": lambda block: nn.utils.remove_spectral_norm(block, "weight"),
    **dict.fromkeys(("pruned", "pruned rows"), lambda block: prune.remove(block, "weight")),  # type: ignore[no-untyped-call]
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.*is deprecated:FutureWarning")
@pytest.mark.parametrize("name", CHANGES)
def test_every_block_is_changed_then_trained_and_changed_back(pair: Pair, name: str) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        torch.manual_seed(0)
        for block in blocks(module):
            CHANGES[name](block)
        module(pair.input).sum().backward()
        found = [module(pair.input), *gradients(module), *state(module), *(block.weight for block in blocks(module))]
        if name in MADE_PERMANENT:
            for block in blocks(module):
                MADE_PERMANENT[name](block)
                assert isinstance(block.weight, nn.Parameter) and "weight" in dict(block.named_parameters())
                assert not name.startswith("pruned") or int(block.weight.eq(0).sum()) == 8
        return [*found, *state(module), module(pair.input)]

    agree(pair, run)


def test_a_parametrized_class_is_still_the_declared_one(pair: Pair) -> None:
    for block in blocks(pair.declared):
        double(block)
        assert isinstance(block, Block) and type(block) is not Block
        assert parametrize.is_parametrized(block, "weight")


def test_a_class_that_a_tool_makes_of_a_declared_one_is_complete(pair: Pair) -> None:
    """What parametrizations and `fully_shard` do: a subclass by a call, and `__class__` assigned."""

    class Marker:
        pass

    before = pair.declared(pair.input)
    for block in blocks(pair.declared):
        object.__setattr__(block, "__class__", type("MarkedBlock", (Marker, Block), {}))
        assert isinstance(block, Marker)
    assert torch.equal(pair.declared(pair.input), before)


@step
def a_parametrized_module_is_cached_copied_moved_and_loaded(module: nn.Module, input: Input) -> list[Tensor]:
    for block in blocks(module):
        double(block)
    with parametrize.cached():
        assert all(block.weight is block.weight for block in blocks(module))
        out: Tensor = module(input)
    twin = copy.deepcopy(module).double().float()
    twin.load_state_dict(module.state_dict())
    return [out, *state(twin), twin(input)]


@step
def swapped_tensors(module: nn.Module, input: Input) -> list[Tensor]:
    for block in blocks(module):
        swap_tensors(block.weight, nn.Parameter(torch.zeros(4, 4)))  # type: ignore[no-untyped-call] # torch gives it no types
    return [*(block.weight for block in blocks(module)), module(input)]


# Replicas, as DataParallel makes them: registered tensors become plain attributes, parameters no leaves


def replica(module: nn.Module) -> nn.Module:
    made: nn.Module = module._replicate_for_data_parallel()  # type: ignore[no-untyped-call] # torch gives it no types
    for name, parameter in module.named_parameters(recurse=False):
        setattr(made, name, 2 * parameter)
    for name, buffer in module.named_buffers(recurse=False):
        setattr(made, name, buffer.clone())
    for name, child in module.named_children():
        setattr(made, name, replica(child))
    return made


@step
def a_replica_with_tensors_of_its_own(module: nn.Module, input: Input) -> list[Tensor]:
    out: Tensor = replica(module)(input)
    out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    return [out, *gradients(module), nn.DataParallel(module)(input)]


@pytest.mark.parametrize("found", STEPS.values(), ids=STEPS)
def test_a_step_gives_what_it_gives_of_a_plain_module(pair: Pair, found: Step) -> None:
    agree(pair, lambda module: found(module, pair.input))


def loader() -> DataLoader[tuple[Tensor, ...]]:
    """Four rows, two at a time."""
    return DataLoader(TensorDataset(torch.linspace(-1, 1, 16).view(4, 4)), batch_size=2)


@pytest.fixture
def no_accelerator() -> Iterator[None]:
    """No settings of an Accelerator, which a process keeps: transformers' Trainer makes one with others."""
    reset = importlib.import_module("accelerate.state").AcceleratorState._reset_state
    reset(True)
    yield
    reset(True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is not installed")
@pytest.mark.usefixtures("no_accelerator")
def test_accelerate_prepares_and_trains_it() -> None:
    def run(module: nn.Module) -> list[Tensor]:
        accelerator = importlib.import_module("accelerate").Accelerator(cpu=True, mixed_precision="bf16")
        optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
        model, optimiser, batches = accelerator.prepare(module, optimiser, loader())
        for (batch,) in batches:
            with accelerator.accumulate(model):
                optimiser.zero_grad()
                accelerator.backward(model(batch).square().mean())
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
        found = accelerator.unwrap_model(model, keep_fp32_wrapper=False)
        assert found is module
        return [*state(found), *accelerator.get_state_dict(model).values()]

    agree(tower(), run)
