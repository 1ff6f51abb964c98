"""`load_state_dict` of a declared module gives what nn.Module's gives, for every kind of state dict and module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from qten_gen.runtime.module.fast_paths import loading

from .pairs import Outcome, Tree, outcome, trees

State = dict[str, Tensor]
Edit = Callable[[State], object]


def saved() -> State:
    """A state dict of a tree with other values."""
    tree = Tree(3)
    with torch.no_grad():
        for number, tensor in enumerate(tree.state_dict().values()):
            tensor.fill_(number)
    return tree.state_dict()


def both(action: Callable[[nn.Module], object], prepare: Callable[[nn.Module], object] | None = None) -> list[Outcome]:
    """What an action does to the declared tree and to the plain one, after `prepare`."""
    outcomes = []
    for tree in trees():
        if prepare is not None:
            prepare(tree)
        outcomes.append(outcome(tree, action))
    return outcomes


def untyped(value: Any) -> Any:
    """A module whose untyped methods can be called."""
    return value


def drop(state: State) -> object:
    return state.pop("first.weight")


def add(state: State) -> object:
    return state.setdefault("second.extra", torch.ones(1))


def add_deep(state: State) -> object:
    return state.setdefault("first.weight.deeper", torch.ones(1))


def misshape(state: State) -> object:
    return state.update({"first.weight": torch.ones(2, 3), "second.bias": torch.ones(4)})


def one_for_a_scalar(state: State) -> object:
    return state.update({"first.steps": torch.tensor([7])})


def another_dtype(state: State) -> object:
    return state.update({"first.weight": torch.full((3, 3), 0.1, dtype=torch.float64)})


def complex_values(state: State) -> object:
    return state.update({"first.scale": torch.full((3,), 2 + 0j)})


def no_tensor(state: State) -> object:
    return state.update({"first.weight": [1.0]})  # type: ignore[dict-item] # what is to be refused


def a_meta_tensor(state: State) -> object:
    return state.update({"first.weight": torch.ones(3, 3, device="meta")})


def a_sparse_tensor(state: State) -> object:
    return state.update({"first.weight": torch.eye(3).to_sparse()})


def an_expanded_tensor(state: State) -> object:
    return state.update({"first.weight": torch.ones(1, 3).expand(3, 3)})


def a_parameter(state: State) -> object:
    return state.update({"first.weight": nn.Parameter(torch.eye(3))})


def without_the_counter(state: State) -> object:
    return state.pop("norm.num_batches_tracked")


def nothing(state: State) -> object:
    return None


EDITS = [
    nothing, drop, add, add_deep, misshape, one_for_a_scalar, another_dtype, complex_values, no_tensor, a_meta_tensor,
    a_sparse_tensor, an_expanded_tensor, a_parameter, without_the_counter,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("edit", EDITS)
def test_it_loads_or_refuses_what_nn_module_does(edit: Edit, strict: bool, assign: bool) -> None:
    def load(module: nn.Module) -> object:
        state = saved()
        edit(state)
        return module.load_state_dict(state, strict=strict, assign=assign)

    ours, plain = both(load)
    assert ours == plain


@pytest.mark.parametrize("convert", [dict, lambda state: list(state.items()), lambda state: None])
def test_it_takes_what_nn_module_takes(convert: Callable[[State], State]) -> None:
    ours, plain = both(lambda module: module.load_state_dict(convert(saved())))
    assert ours == plain


def test_the_mark_that_assign_leaves_in_a_state_dict_is_followed() -> None:
    def load(module: nn.Module) -> object:
        state = saved()
        Tree(3).load_state_dict(state, assign=True)
        return module.load_state_dict(state)

    ours, plain = both(load)
    assert ours == plain


def freeze_values(module: nn.Module) -> None:
    module.get_submodule("first")._parameters["weight"] = nn.Parameter(torch.ones(1, 3).expand(3, 3))


def on_meta(module: nn.Module) -> None:
    module.get_submodule("first").to("meta")


def tie(module: nn.Module) -> None:
    module.get_submodule("second").register_parameter("weight", module.get_parameter("first.weight"))


def share(module: nn.Module) -> None:
    module.register_module("second", module.get_submodule("first"))


def remove_a_parameter(module: nn.Module) -> None:
    module.get_submodule("first").register_parameter("bias", None)


def parametrise(module: nn.Module) -> None:
    parametrize.register_parametrization(module.get_submodule("first"), "weight", nn.Identity())


def make_persistent(module: nn.Module) -> None:
    module.get_submodule("first")._non_persistent_buffers_set.clear()


def with_a_pre_hook(module: nn.Module) -> None:
    def rename(module: nn.Module, state: State, prefix: str, *rest: object) -> None:
        state[f"{prefix}weight"] = state[f"{prefix}weight"] + 1

    untyped(module.get_submodule("first")).register_load_state_dict_pre_hook(rename)


def with_a_post_hook(module: nn.Module) -> None:
    def forgive(module: nn.Module, keys: tuple[list[str], list[str]]) -> None:
        keys[0].append("said by the hook")

    untyped(module).register_load_state_dict_post_hook(forgive)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "prepare",
    [
        freeze_values, on_meta, tie, share, remove_a_parameter, parametrise, make_persistent, with_a_pre_hook,
        with_a_post_hook,
    ],
)  # fmt: skip
def test_an_unusual_module_loads_like_a_plain_one(prepare: Callable[[nn.Module], object]) -> None:
    ours, plain = both(lambda module: module.load_state_dict(saved()), prepare)
    assert ours == plain


@contextmanager
def swapping() -> Iterator[None]:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        yield
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def test_the_flag_that_swaps_tensors_is_honoured() -> None:
    with swapping():
        ours, plain = both(lambda module: module.load_state_dict(saved()))
    assert ours == plain


def test_a_child_with_its_own_loading_is_asked() -> None:
    class Doubling(nn.Linear):
        def _load_from_state_dict(self, state_dict: State, prefix: str, *rest: Any, **others: Any) -> None:
            state_dict[f"{prefix}weight"] = 2 * state_dict[f"{prefix}weight"]
            super()._load_from_state_dict(state_dict, prefix, *rest, **others)

    def load(module: nn.Module) -> object:
        module.register_module("own", Doubling(2, 2))
        return module.load_state_dict({**saved(), "own.weight": torch.ones(2, 2), "own.bias": torch.ones(2)})

    ours, plain = both(load)
    assert ours == plain and ours.tensors["own.weight"][4] == [[2, 2], [2, 2]]


def test_extra_state_is_asked_for() -> None:
    class Extra(nn.Identity):
        def set_extra_state(self, state: object) -> None:
            raise ValueError(f"got {state}")

    def load(module: nn.Module) -> object:
        module.register_module("own", Extra())
        return module.load_state_dict({**saved(), "own._extra_state": torch.ones(1)})

    ours, plain = both(load)
    assert ours == plain and ours.said == "ValueError: got tensor([1.])"


def test_a_patched_nn_module_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.Module, "load_state_dict", lambda *arguments, **keywords: "patched")
    ours, plain = both(lambda module: module.load_state_dict(saved()))
    assert ours == plain and ours.said == "patched"


def test_values_that_share_memory_are_copied_one_after_the_other() -> None:
    def rotate(module: nn.Module) -> object:
        state = module.state_dict()
        state["first.scale"], state["second.scale"] = state["second.scale"], state["first.scale"]
        return module.load_state_dict(state)

    ours, plain = both(rotate, lambda module: module.get_buffer("first.scale").fill_(5))
    assert ours == plain


def test_every_tensor_that_is_loaded_gets_a_new_version() -> None:
    tree = Tree(3)
    versions = [tensor._version for tensor in tree.state_dict(keep_vars=True).values()]
    tree.load_state_dict(saved())
    assert all(new._version > old for new, old in zip(tree.state_dict(keep_vars=True).values(), versions, strict=True))


def test_the_usual_case_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[object] = []
    original = loading.load_plainly

    def noted(*given: Any) -> object:
        results.append(original(*given))
        return results[-1]

    monkeypatch.setattr(loading, "load_plainly", noted)
    Tree(3).load_state_dict(saved())
    assert results == [([], [])]
