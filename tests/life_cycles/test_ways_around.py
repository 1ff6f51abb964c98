"""Trainers that give memory, values or a dtype past the methods of a declared module."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

from qten_gen import Module, buffer, deferred_init, param, submodule

from .models import spoiled_memory
from .test_remade import Kinds, OfPlain, on_meta

STEPS = [0.0, 1.0, 2.0, 3.0]


class Reader(Module):
    steps: Tensor = buffer(4, persistent=False, value=lambda it: torch.arange(4).float())
    scale: nn.Parameter = param(4, initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.steps * self.scale


class PlainSteps(nn.Module):
    steps: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.empty(4), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.steps.copy_(torch.arange(4).float())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.steps


class Around(Module):
    """A declared module around a plain one."""

    inner: PlainSteps = submodule(PlainSteps)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.inner(x)
        return out


def given_memory(model: nn.Module) -> None:
    """What a trainer does that knows the registries alone."""
    for module in model.modules():
        module._parameters.update(
            {
                name: nn.Parameter(torch.ones(each.shape))
                for name, each in module._parameters.items()
                if each is not None
            }
        )
        module._buffers.update(
            {name: torch.full(each.shape, 9.0) for name, each in module._buffers.items() if each is not None}
        )


def emptied_alone(model: nn.Module) -> None:
    for module in model.modules():
        module.to_empty(device="cpu", recurse=False)


def emptied_below(model: nn.Module) -> None:
    for child in model.children():
        child.to_empty(device="cpu")
    model.to_empty(device="cpu")


@pytest.mark.parametrize("give", [given_memory, emptied_alone, emptied_below])
def test_a_plain_child_whose_method_fills_its_buffer_has_its_values(give: Callable[[nn.Module], None]) -> None:
    model = on_meta(Around)
    spoiled_memory()
    with pytest.warns(UserWarning, match=r"PlainSteps\.steps had other values"):
        give(model)
        assert model(torch.ones(4)).tolist() == STEPS
    assert model(torch.ones(4)).tolist() == STEPS


def test_a_plain_child_gets_what_an_assigning_load_leaves_on_meta() -> None:
    model = on_meta(Around)
    model.load_state_dict({}, assign=True)
    model.get_buffer("inner.steps").mul_(2)
    assert model.bfloat16()(torch.ones(4)).tolist() == [2.0 * each for each in STEPS]


def test_what_an_assigning_load_leaves_on_meta_goes_where_the_checkpoint_is() -> None:
    model, state = on_meta(WithLayer), WithLayer().state_dict()
    with torch.device("meta"):
        model.load_state_dict(state, assign=True)
    assert not any(tensor.is_meta for tensor in model.buffers())


def test_a_cast_on_meta_is_no_foreign_value_of_a_plain_child() -> None:
    assert on_meta(Around).bfloat16().to_empty(device="cpu")(torch.ones(4)).tolist() == STEPS


def test_a_value_that_is_computed_from_memory_that_nobody_has_written_replaces_nothing() -> None:
    model: nn.Module = on_meta(OfPlain)
    given_memory(model)
    with pytest.warns(match=r"PlainRotary\.inv_freq was on meta"), pytest.warns(match=r"OfPlain\.mask was on meta"):
        assert model(torch.ones(4)).tolist() == [9.0] * 4


def test_a_float8_buffer_is_compared() -> None:
    model = on_meta(Kinds)
    model._buffers["eights"] = torch.zeros(2, dtype=torch.float8_e4m3fn)
    with pytest.warns(UserWarning, match=r"Kinds\.eights had other values"):
        assert model.get_buffer("eights").float().tolist() == [1.0, 1.0]


def test_a_buffer_that_is_made_in_inference_mode_is_left_alone() -> None:
    model: nn.Module = on_meta(Reader)
    with torch.inference_mode():
        given_memory(model)
    assert model(torch.ones(4)).tolist() == [9.0] * 4


@pytest.mark.parametrize("way", [nn.Module.bfloat16, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_values_that_a_trainer_wrote_into_a_plain_child_survive_casts_and_copies(
    way: Callable[[nn.Module], nn.Module],
) -> None:
    model = on_meta(Around)
    given_memory(model)
    model.get_buffer("inner.steps").fill_(0.5)
    with pytest.warns(UserWarning, match="They are kept"):
        assert way(model)(torch.ones(4)).tolist() == [0.5] * 4


def test_a_method_that_somebody_has_set_on_a_module_initialises_it() -> None:
    model = Reader()
    vars(model)["reset_parameters"] = lambda: nn.init.zeros_(model.scale)
    model.to_empty(device="cpu").reset_parameters()
    assert model.scale.tolist() == [0.0] * 4


@pytest.mark.parametrize("lent", ["", "scale"])
def test_a_functional_call_compares_what_it_does_not_lend(lent: str) -> None:
    model = on_meta(Reader)
    given_memory(model)
    with pytest.warns(UserWarning, match="had other values"):
        called = torch.func.functional_call(model, {lent: torch.ones(4)} if lent else {}, torch.ones(4))
    assert called.tolist() == model(torch.ones(4)).tolist() == STEPS


def test_a_functional_call_that_lends_a_buffer_is_not_the_first_call_of_its_own() -> None:
    model = on_meta(Reader)
    given_memory(model)
    for _ in range(2):
        assert torch.func.functional_call(model, {"steps": torch.full((4,), 2.0)}, torch.ones(4)).tolist() == [2.0] * 4
    with pytest.warns(UserWarning, match="had other values"):
        assert model(torch.ones(4)).tolist() == STEPS


def test_memory_that_is_swapped_in_is_compared() -> None:
    model = on_meta(Reader)
    given: dict[str, Tensor] = {"steps": torch.full((4,), 9.0), "scale": nn.Parameter(torch.ones(4))}
    for name, value in given.items():
        torch.utils.swap_tensors(getattr(model, name), value)  # type: ignore[no-untyped-call] # torch gives it no types
    with pytest.warns(UserWarning, match="had other values"):
        assert model(torch.ones(4)).tolist() == STEPS


class Rounded(Module):
    thirds: Tensor = buffer(
        4, persistent=False, dtype=torch.float32, keep_dtype=True, value=lambda it: torch.ones(4) / 3
    )
    products: Tensor = buffer(
        4, 4, persistent=False, value=lambda it: torch.outer(torch.ones(4) / 3, torch.ones(4)) @ torch.eye(4)
    )


def test_neither_autocast_nor_the_default_dtype_of_a_trainer_rounds_what_is_made() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = on_meta(Rounded).to_empty(device="cpu")
    halved = on_meta(Rounded)
    torch.set_default_dtype(torch.bfloat16)
    try:
        halved.to_empty(device="cpu")
    finally:
        torch.set_default_dtype(torch.float32)
    for model in (cast, halved):
        assert all(map(torch.equal, model.buffers(), Rounded().buffers()))


@pytest.mark.parametrize("cast", [nn.Module.half, nn.Module.double, nn.Module.bfloat16])
def test_a_cast_does_not_hide_what_nobody_has_loaded(cast: Callable[[nn.Module], nn.Module]) -> None:
    model = nn.Sequential(cast(Reader().to_empty(device="cpu")))
    with pytest.raises(RuntimeError, match=r"nothing has written scale since to_empty"):
        model(torch.ones(4))


def test_a_declared_part_of_a_deferred_model_is_made_by_to_empty() -> None:
    made = deferred_init(lambda: nn.Sequential(Reader())).to_empty(device="cpu")
    assert made.get_buffer("0.steps").tolist() == STEPS


class Nothing(Module):
    nothing: Tensor = buffer(0, persistent=False, value=lambda it: torch.zeros(0))


def test_a_buffer_without_elements_leaves_meta_too() -> None:
    model = on_meta(Nothing)
    model.load_state_dict({}, assign=True)
    assert not model.get_buffer("nothing").is_meta


def test_a_plain_tensor_in_the_place_of_a_parameter_is_no_obstacle() -> None:
    """FSDP1 puts views of its flat parameter there."""
    model = on_meta(Reader)
    given_memory(model)
    vars(model)["scale"] = model._parameters.pop("scale")
    with pytest.warns(UserWarning, match="had other values"):
        assert model(torch.ones(4)).tolist() == STEPS


class WithLayer(Around):
    layer: nn.Linear = submodule(nn.Linear, 2, 2)


def test_a_move_makes_what_is_left_on_meta_and_refuses_what_has_no_values() -> None:
    model = on_meta(WithLayer)
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="WithLayer is on meta"):
            model.to("cpu")
    model.register_module("layer", nn.Linear(2, 2))
    assert model.to("cpu").get_buffer("inner.steps").tolist() == STEPS


class Tied(Module):
    embed: nn.Embedding = submodule(nn.Embedding, 3, 2)
    head: nn.Parameter = param(tie="embed.weight")


class TiedAgain(Module):
    inner: Tied = submodule(Tied)
    out: nn.Parameter = param(tie="inner.head")


@pytest.mark.parametrize("wrap", [checkpoint_wrapper, nn.Sequential])
def test_a_wrapper_of_the_other_module_cuts_no_tie(wrap: Callable[[nn.Module], nn.Module]) -> None:
    model = Tied()
    inner = model.embed
    model.register_module("embed", wrap(inner))
    inner.load_state_dict({"weight": torch.ones(3, 2)}, assign=True)
    assert model.head is inner.weight
    assert len([*model.parameters()]) == 1


def test_a_tie_to_a_tied_name_has_the_new_parameter_when_it_is_read() -> None:
    model = TiedAgain()
    model.inner.embed = nn.Embedding(4, 2)
    assert model.out is model.inner.head is model.inner.embed.weight
    model.inner.embed.load_state_dict({"weight": torch.ones(4, 2)}, assign=True)
    assert model.out is model.inner.head is model.inner.embed.weight


class Scaled(Module):
    factor: float = 2.0
    steps: Tensor = buffer(4, persistent=False, value=lambda it: torch.arange(4).float() * it.factor)


def test_the_error_of_a_method_is_named_where_its_buffer_is_read() -> None:
    model = on_meta(Scaled)
    del vars(model)["factor"]
    model.to_empty(device="cpu")
    with pytest.raises(
        RuntimeError, match=r"Scaled\.steps was never written.*It ended with AttributeError: .*'factor'"
    ):
        model.get_buffer("steps").tolist()


def test_tiny_values_are_compared_by_their_size() -> None:
    class Tiny(Module):
        rates: Tensor = buffer(3, persistent=False, value=lambda it: torch.tensor([1e-8, 2e-8, 5e-7]))

        def forward(self) -> Tensor:
            return self.rates

    model = on_meta(Tiny)
    model._buffers["rates"] = torch.zeros(3)
    with pytest.warns(UserWarning, match="had other values"):
        assert model().tolist() == Tiny()().tolist()


def test_names_behind_the_prefix_of_compile_are_the_declared_ones_and_a_missing_one_is_reported() -> None:
    model: Any = torch.compile(Reader(), backend="eager")
    assert [*model.state_dict()] == ["_orig_mod.scale"]
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: \"_orig_mod\.scale\""):
        model.load_state_dict({})
    assert model.load_state_dict({}, strict=False).missing_keys == ["_orig_mod.scale"]
