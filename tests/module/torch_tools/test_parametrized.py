"""Parametrizations and quantisation, which put other modules in the place of tensors and children."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.ao import quantization
from torch.ao.nn.quantized import dynamic
from torch.nn.utils import parametrizations, parametrize, prune

from .pairs import Block, Pair, agree, blocks, state

Apply = Callable[[nn.Module, str], object]

NORMS: dict[str, Apply] = {
    "weight-norm": parametrizations.weight_norm,
    "spectral-norm": parametrizations.spectral_norm,
    "orthogonal": parametrizations.orthogonal,
}
OLD_NORMS: dict[str, tuple[Apply, Apply]] = {
    "weight-norm": (nn.utils.weight_norm, nn.utils.remove_weight_norm),
    "spectral-norm": (nn.utils.spectral_norm, nn.utils.remove_spectral_norm),
}
PRUNINGS: dict[str, Callable[[nn.Module], object]] = {
    "l1": lambda block: prune.l1_unstructured(block, "weight", amount=0.5),  # type: ignore[no-untyped-call]
    "rows": lambda block: prune.ln_structured(block, "weight", amount=0.5, n=2, dim=0),  # type: ignore[no-untyped-call]
}


class Double(nn.Module):
    """A parametrization with an inverse."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x

    def right_inverse(self, x: Tensor) -> Tensor:
        return x / 2


def after(pair: Pair, change: Callable[[nn.Module], object]) -> Callable[[nn.Module], list[Tensor]]:
    """The step that changes every block, then trains once and computes."""

    def run(module: nn.Module) -> list[Tensor]:
        torch.manual_seed(0)
        for block in blocks(module):
            change(block)
        module(pair.input).sum().backward()
        gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
        return [module(pair.input), *gradients, *state(module), *(block.weight for block in blocks(module))]

    return run


@pytest.mark.parametrize("name", ["weight", "shift", "scale"])
def test_a_parametrization_computes_a_parameter_or_a_buffer(pair: Pair, name: str) -> None:
    agree(pair, after(pair, lambda block: parametrize.register_parametrization(block, name, Double())))


def test_parametrizations_are_stacked(pair: Pair) -> None:
    def twice(block: nn.Module) -> None:
        for _ in range(2):
            parametrize.register_parametrization(block, "weight", Double())

    agree(pair, after(pair, twice))


def test_a_parametrized_attribute_can_be_assigned(pair: Pair) -> None:
    def assign(block: nn.Module) -> None:
        parametrize.register_parametrization(block, "weight", Double())
        block.weight = torch.full((4, 4), 6.0)

    agree(pair, after(pair, assign))
    assert all(torch.equal(block.weight, torch.full((4, 4), 6.0)) for block in blocks(pair.declared))


def test_a_parametrized_class_is_still_the_declared_one(pair: Pair) -> None:
    for block in blocks(pair.declared):
        parametrize.register_parametrization(block, "weight", Double())
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


@pytest.mark.parametrize("leave", [False, True], ids=["original", "parametrized"])
def test_a_parametrization_can_be_removed(pair: Pair, leave: bool) -> None:
    def there_and_back(block: nn.Module) -> None:
        before = type(block)
        parametrize.register_parametrization(block, "weight", Double())
        parametrize.remove_parametrizations(block, "weight", leave_parametrized=leave)
        assert type(block) is before
        assert "weight" in dict(block.named_parameters())

    agree(pair, after(pair, there_and_back))


def test_a_parametrized_module_can_be_copied_moved_and_loaded(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        for block in blocks(module):
            parametrize.register_parametrization(block, "weight", Double())
        twin = copy.deepcopy(module).double().float()
        twin.load_state_dict(module.state_dict())
        return [*state(twin), twin(pair.input)]

    agree(pair, run)


def test_the_computed_value_is_cached_where_plain_torch_caches(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        for block in blocks(module):
            parametrize.register_parametrization(block, "weight", Double())
        with parametrize.cached():
            assert all(block.weight is block.weight for block in blocks(module))
            out: Tensor = module(pair.input)
        return out

    agree(pair, run)


@pytest.mark.parametrize("apply", NORMS.values(), ids=NORMS.keys())
def test_a_parametrized_norm_trains(pair: Pair, apply: Apply) -> None:
    agree(pair, after(pair, lambda block: apply(block, "weight")))


@pytest.mark.filterwarnings("ignore:.*weight_norm.*is deprecated:FutureWarning")
@pytest.mark.parametrize(("apply", "remove"), OLD_NORMS.values(), ids=OLD_NORMS.keys())
def test_an_old_norm_trains_and_can_be_removed(pair: Pair, apply: Apply, remove: Apply) -> None:
    agree(pair, after(pair, lambda block: apply(block, "weight")))

    def unwrapped(module: nn.Module) -> list[Tensor]:
        for block in blocks(module):
            remove(block, "weight")
            assert "weight" in dict(block.named_parameters())
        return [*state(module), module(pair.input)]

    agree(pair, unwrapped)


@pytest.mark.parametrize("apply", PRUNINGS.values(), ids=PRUNINGS.keys())
def test_pruning_masks_a_parameter_and_can_be_made_permanent(pair: Pair, apply: Callable[[nn.Module], object]) -> None:
    agree(pair, after(pair, apply))

    def permanent(module: nn.Module) -> list[Tensor]:
        for block in blocks(module):
            prune.remove(block, "weight")  # type: ignore[no-untyped-call] # torch gives it no types
            assert isinstance(block.weight, nn.Parameter)
            assert int(block.weight.eq(0).sum()) == 8
        return [*state(module), module(pair.input)]

    agree(pair, permanent)


# All of torch.ao.quantization is deprecated, works, and is what many models are still deployed with.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def quantised(module: nn.Module) -> nn.Module:
    """A copy with dynamically quantised linear layers."""
    made: nn.Module = quantization.quantize_dynamic(module, {nn.Linear})  # type: ignore[no-untyped-call]
    return made


def test_dynamic_quantisation_swaps_the_linear_children(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        made = quantised(module)
        assert all(isinstance(block.proj, dynamic.Linear) for block in blocks(made))
        assert all(type(block.proj) is nn.Linear for block in blocks(module))
        out: Tensor = made(pair.input)
        return out

    agree(pair, run)


def test_a_quantised_module_is_saved_and_loaded(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        made = quantised(module)
        other = quantised(module)
        for block in blocks(other):
            nn.init.zeros_(block.weight)
        other.load_state_dict(made.state_dict())
        out: Tensor = other(pair.input)
        return out

    agree(pair, run)


def test_training_aware_quantisation_swaps_children_in_place(pair: Pair) -> None:
    def run(module: nn.Module) -> list[Tensor]:
        module.train()
        for block in blocks(module):
            setattr(block.proj, "qconfig", quantization.get_default_qat_qconfig())  # type: ignore[no-untyped-call] # noqa: B010
        quantization.prepare_qat(module, inplace=True)  # type: ignore[no-untyped-call] # torch gives it no types
        assert all(type(block.proj) is not nn.Linear for block in blocks(module))
        out: Tensor = module(pair.input)
        out.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
        return [out, *(parameter.grad for parameter in module.parameters() if parameter.grad is not None)]

    agree(pair, run)


def test_an_observer_stub_can_wrap_it(pair: Pair) -> None:
    def run(module: nn.Module) -> Tensor:
        for block in blocks(module):
            block.register_module("proj", quantization.QuantWrapper(block.proj))
        out: Tensor = module(pair.input)
        return out

    agree(pair, run)
