"""Moving and casting a declared module gives what nn.Module gives, for every kind of tensor and submodule."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from .pairs import Leaf, PlainLeaf, outcome, trees

Prepare = Callable[[nn.Module], object]


def nothing(module: nn.Module) -> None:
    pass


def gradients(module: nn.Module) -> None:
    for name in ("first.weight", "norm.bias"):
        parameter = module.get_parameter(name)
        parameter.grad = torch.full_like(parameter, 2)


def tied(module: nn.Module) -> None:
    module.get_submodule("second").register_parameter("weight", module.get_parameter("first.weight"))


def tied_in_one_module(module: nn.Module) -> None:
    module.get_submodule("first").register_parameter("again", module.get_parameter("first.weight"))


def shared(module: nn.Module) -> None:
    module.register_module("second", module.get_submodule("first"))
    module.get_submodule("rnn").register_module("third", module.get_submodule("first"))


def empty_names(module: nn.Module) -> None:
    module.get_submodule("first").register_parameter("bias", None)
    module.get_submodule("first").register_buffer("scale", None)
    module.register_module("second", None)


def parametrised(module: nn.Module) -> None:
    parametrize.register_parametrization(module.get_submodule("first"), "weight", nn.Identity())


def a_lazy_child(module: nn.Module) -> None:
    module.register_module("lazy", nn.LazyLinear(2))


def a_buffer_with_gradients(module: nn.Module) -> None:
    module.get_submodule("first").register_buffer("scale", torch.ones(3, requires_grad=True))


def partly_on_meta(module: nn.Module) -> None:
    module.get_submodule("second").to("meta")


PREPARATIONS = [
    nothing, gradients, tied, tied_in_one_module, shared, empty_names, parametrised, a_lazy_child,
    a_buffer_with_gradients, partly_on_meta,
]  # fmt: skip


def doubled(module: nn.Module) -> nn.Module:
    return module._apply(lambda tensor: tensor * 2)  # type: ignore[no-untyped-call, no-any-return] # torch gives no types


def only_itself(module: nn.Module) -> nn.Module:
    return module._apply(lambda tensor: tensor.double(), recurse=False)  # type: ignore[no-untyped-call, no-any-return]


def failing_halfway(module: nn.Module) -> nn.Module:
    def convert(tensor: Tensor) -> Tensor:
        if tensor.numel() == 9 and tensor.dtype is torch.float32 and tensor[0, 0] == 1:
            raise ValueError("no ones here")
        return tensor.double()

    return module._apply(convert)  # type: ignore[no-untyped-call, no-any-return] # torch gives no types


ACTIONS: dict[str, Callable[[nn.Module], object]] = {
    "to(float64)": lambda module: module.to(torch.float64),
    "half": lambda module: module.half(),
    "nothing to do": lambda module: module.to(torch.float32),
    "to meta": lambda module: module.to("meta"),
    "to_empty": lambda module: module.to_empty(device="meta"),
    "channels last": lambda module: getattr(module, "to")(memory_format=torch.channels_last),  # noqa: B009 # untyped
    "no floating dtype": lambda module: module.to(torch.int64),
    "share_memory": lambda module: module.share_memory(),
    "doubled": doubled,
    "only itself": only_itself,
    "failing halfway": failing_halfway,
}


def without_repr(module: nn.Module, action: str) -> object:
    return ACTIONS[action](module) is module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("flag", ["default", "overwrite", "swap"])
@pytest.mark.parametrize("prepare", PREPARATIONS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_declared_tree_moves_like_a_plain_one(
    action: str, prepare: Prepare, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.__future__, "_overwrite_module_params_on_conversion", flag == "overwrite")
    monkeypatch.setattr(torch.__future__, "_swap_module_params_on_conversion", flag == "swap")
    ours, plain = trees()
    for tree in (ours, plain):
        prepare(tree)
    assert outcome(ours, lambda module: without_repr(module, action)) == outcome(
        plain, lambda module: without_repr(module, action)
    )


def calls_of(module: nn.Module, prepare: Prepare) -> list[tuple[object, ...]]:
    """What `_apply` calls its function with, in order, and whether gradients are recorded meanwhile."""
    prepare(module)
    names = {id(tensor): name for name, tensor in module.state_dict(keep_vars=True).items()}
    calls: list[tuple[object, ...]] = []

    def convert(tensor: Tensor) -> Tensor:
        calls.append((names.get(id(tensor)), tuple(tensor.shape), torch.is_grad_enabled()))
        return tensor

    module._apply(convert)  # type: ignore[no-untyped-call] # torch gives no types
    return calls


@pytest.mark.parametrize("prepare", [nothing, gradients, tied, tied_in_one_module, shared, a_buffer_with_gradients])
def test_the_function_is_called_as_often_and_in_the_same_order(prepare: Prepare) -> None:
    ours, plain = trees()
    assert calls_of(ours, prepare) == calls_of(plain, prepare)


class Halved(Tensor):
    """A tensor of another class."""


@pytest.mark.parametrize("unusual", ["weight", "bias"])
def test_a_result_of_another_class_is_left_to_nn_module(unusual: str) -> None:
    def convert(module: nn.Module) -> object:
        chosen = module.get_parameter(unusual)

        def change(tensor: Tensor) -> Tensor:
            return (tensor * 3).as_subclass(Halved) if tensor is chosen else tensor * 2

        return module._apply(change) is module  # type: ignore[no-untyped-call] # torch gives no types

    assert outcome(Leaf(2), convert) == outcome(PlainLeaf(2), convert)


def test_a_child_with_its_own_apply_is_asked() -> None:
    class Fixed(nn.Linear):
        def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Fixed:
            return self

    ours, plain = trees()
    for tree in (ours, plain):
        tree.register_module("fixed", Fixed(2, 2))
        tree.double()
        assert tree.get_parameter("fixed.weight").dtype is torch.float32


def test_an_apply_in_an_instance_is_asked() -> None:
    ours, plain = trees()
    for tree in (ours, plain):
        first = tree.get_submodule("first")
        vars(first)["_apply"] = lambda fn, recurse=True, kept=first: kept
        tree.double()
        assert tree.get_parameter("first.weight").dtype is torch.float32


def test_a_patched_nn_module_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original: Callable[..., nn.Module] = nn.Module._apply

    def patched(self: nn.Module, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> nn.Module:
        asked.append(type(self).__name__.removeprefix("Plain"))
        return original(self, fn, recurse)

    monkeypatch.setattr(nn.Module, "_apply", patched)
    ours, plain = trees()
    ours.double()
    by_ours = list(asked)
    asked.clear()
    plain.double()
    assert by_ours == asked


def test_the_result_under_grad_mode_is_not_part_of_a_graph() -> None:
    leaf = Leaf(2)
    leaf.double()
    assert leaf.weight.is_leaf and leaf.weight.requires_grad and torch.is_grad_enabled()


def test_fake_tensors_replace_the_parameters() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    for leaf in (Leaf(2), PlainLeaf(2)):
        with FakeTensorMode() as mode:
            leaf._apply(mode.from_tensor)
        assert {type(tensor).__name__ for tensor in leaf.state_dict().values()} == {"FakeTensor"}
