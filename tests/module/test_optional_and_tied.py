"""Fields that may be None, and parameters under two names: moves, copies and loading keep both."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize, prune

from qten_gen import Module, ModuleDict, ModuleList, Sequential, buffer, param, retie, sequential, submodule


class Layer(Module):
    """A projection with an optional bias, gate and norm."""

    dim: int
    use_bias: bool = True
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.eye_)
    bias: nn.Parameter | None = param("dim", when="use_bias", initializer=partial(nn.init.constant_, val=0.5))
    gate: Tensor | None = buffer("dim", when="use_bias", initializer=partial(nn.init.constant_, val=2.0))
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="use_bias")

    def forward(self, x: Tensor) -> Tensor:
        y = nn.functional.linear(x, self.weight, self.bias)
        y = y if self.gate is None else y * self.gate
        return y if self.norm is None else self.norm(y)


class Tower(Module):
    """A small language model: tied embeddings, repeated layers, a head for each task."""

    vocab: int
    dim: int
    depth: int = 2
    tasks: tuple[str, ...] = ("topic", "tone")
    embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
    layers: ModuleList[Layer] = submodule(Layer, "dim", repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")

    def forward(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        scores = torch.cat([head(x) for head in self.heads.values()], -1)
        return nn.functional.linear(x, self.head) * scores.sum(-1, keepdim=True)


def tokens() -> Tensor:
    """Some tokens, the same in every test."""
    return torch.tensor([[0, 1, 2], [3, 6, 5]])


MOVES: dict[str, Callable[[Tower], Any]] = {
    "double": lambda tower: tower.double(),
    "half": lambda tower: tower.half(),
    "to meta": lambda tower: tower.to("meta"),
    "to_empty": lambda tower: tower.to_empty(device="cpu"),
    "to meta and back": lambda tower: nn.ModuleList([tower]).to("meta").to_empty(device="cpu")[0],
    "share_memory": lambda tower: tower.share_memory(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda tower: pickle.loads(pickle.dumps(tower)),
}


@pytest.fixture(params=["plain", "overwrite", "swap"])
def future_flags(request: pytest.FixtureRequest) -> Iterator[None]:
    """Moves as they are, and as the flags of torch.__future__ make them."""
    flags = torch.__future__
    flags.set_overwrite_module_params_on_conversion(request.param == "overwrite")
    flags.set_swap_module_params_on_conversion(request.param == "swap")
    yield
    flags.set_overwrite_module_params_on_conversion(False)
    flags.set_swap_module_params_on_conversion(False)


def is_tied(tower: Tower) -> bool:
    return tower.head is tower.embed.weight and tower._parameters["head"] is tower.head


@pytest.mark.usefixtures("future_flags")
@pytest.mark.parametrize("move", MOVES.values(), ids=list(MOVES))
def test_a_tie_is_kept_by_every_move(move: Callable[[Tower], Tower]) -> None:
    ours = Tower(7, 4)

    assert is_tied(move(ours))


@pytest.mark.usefixtures("future_flags")
@pytest.mark.parametrize("assign", [False, True])
def test_a_tie_is_kept_by_loading(assign: bool) -> None:
    ours = Tower(7, 4)
    given = {name: torch.full_like(value, 3.0) for name, value in ours.state_dict().items()}
    ours.load_state_dict(given, assign=assign)

    assert is_tied(ours)
    torch.testing.assert_close(ours.head.detach(), given["embed.weight"])


@pytest.mark.parametrize("assign", [False, True])
def test_a_state_dict_with_different_values_for_a_tie_is_refused(assign: bool) -> None:
    ours = Tower(7, 4)
    given = {name: value.clone() for name, value in ours.state_dict().items()}
    given["head"] += 1

    expected = "head is tied to embed.weight, and the state dict has different values for them"
    with pytest.raises(RuntimeError, match=expected):
        ours.load_state_dict(given, strict=False, assign=assign)
    with pytest.raises(RuntimeError, match=f"0.{expected.replace('to ', 'to 0.')}"):
        nn.Sequential(ours).load_state_dict({f"0.{name}": value for name, value in given.items()})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float8_e4m3fn])
def test_copies_of_a_tied_tensor_are_loaded_even_where_they_are_not_a_number(dtype: torch.dtype) -> None:
    ours = Tower(7, 4)
    given = {name: value.clone() for name, value in ours.state_dict().items()}
    given["head"] = torch.full((7, 4), float("nan")).to(dtype)
    given["embed.weight"] = given["head"].clone()

    ours.load_state_dict(given)
    assert ours.head.isnan().all()


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_values_that_cannot_be_compared_are_left_to_torch() -> None:
    ours = Tower(7, 4)
    given = {name: value.clone() for name, value in ours.state_dict().items()}
    quantized = {name: torch.quantize_per_tensor(value, 0.1, 0, torch.qint8) for name, value in given.items()}

    ours.load_state_dict({name: value.to_sparse() for name, value in given.items()}, assign=True)
    with pytest.raises(RuntimeError, match="Copying from quantized Tensor"):
        Tower(7, 4).load_state_dict(quantized)


@pytest.mark.parametrize("parameters", [False, True])
def test_a_tie_is_kept_where_a_module_on_meta_is_filled(parameters: bool) -> None:
    other, ours = Tower(7, 4), Tower(7, 4, device="meta")
    ours.load_state_dict(other.state_dict(keep_vars=parameters), assign=True)

    assert is_tied(ours)
    torch.testing.assert_close(ours(tokens()), other(tokens()), rtol=0, atol=0)


@pytest.mark.parametrize("missing", ["head", "embed.weight"])
def test_one_of_the_two_names_is_enough_and_the_other_is_reported(missing: str) -> None:
    ours = Tower(7, 4)
    given = {name: torch.ones_like(value) for name, value in ours.state_dict().items() if name != missing}
    for assign in (False, True):
        assert ours.load_state_dict(given, strict=False, assign=assign).missing_keys == [missing]
        assert is_tied(ours)
        torch.testing.assert_close(ours.head.detach(), torch.ones(7, 4))


def test_what_is_assigned_to_one_of_the_names_is_under_both() -> None:
    ours = Tower(7, 4)
    ours.head = nn.Parameter(torch.zeros(7, 4))
    assert not ours.embed.weight.any() and is_tied(ours)
    ours.embed.weight = nn.Parameter(torch.ones(7, 4))
    assert len({*ours.parameters()}) == len([*ours.parameters()]) and is_tied(ours)
    assert torch.equal(ours.head, torch.ones(7, 4))


class Adapter(nn.Module):
    """Stands in the place of a layer, as those of peft do."""

    def __init__(self, base: nn.Module) -> None:
        super().__init__()
        self.base = base


def adapted(tower: Tower) -> None:
    tower.embed = Adapter(tower.embed)  # type: ignore[assignment] # what adapters do


def parametrized(tower: Tower) -> None:
    parametrize.register_parametrization(tower.embed, "weight", nn.Identity())


def parametrized_itself(tower: Tower) -> None:
    parametrize.register_parametrization(tower, "head", nn.Identity())


def pruned(tower: Tower) -> None:
    prune.identity(tower.embed, "weight")  # type: ignore[no-untyped-call] # torch leaves it untyped


def pruned_itself(tower: Tower) -> None:
    prune.identity(tower, "head")  # type: ignore[no-untyped-call] # torch leaves it untyped


@pytest.mark.parametrize(
    ("change", "path", "own"),
    [
        (adapted, "embed.base.weight", "head"),
        (parametrized, "embed.parametrizations.weight.original", "head"),
        (parametrized_itself, "embed.weight", "parametrizations.head.original"),
        (pruned, "embed.weight_orig", "head"),
        (pruned_itself, "embed.weight", "head_orig"),
    ],
)
def test_a_tie_to_a_parameter_that_has_moved_is_kept(change: Callable[[Tower], None], path: str, own: str) -> None:
    ours = Tower(7, 4)
    change(ours)
    for assign in (False, True):
        ours.load_state_dict({name: tensor + 1 for name, tensor in ours.state_dict().items()}, assign=assign)
        assert ours.get_parameter(own) is ours.get_parameter(path)
    nn.Sequential(ours).to("meta").to_empty(device="cpu")
    assert ours.get_parameter(own) is ours.get_parameter(path) and not ours.get_parameter(own).is_meta


def test_a_tie_to_a_parameter_that_deepspeed_has_emptied_is_made() -> None:
    class Emptied(nn.Embedding):
        def __init__(self, vocab: int, dim: int) -> None:
            super().__init__(vocab, dim)
            self.weight.ds_shape = self.weight.shape  # type: ignore[attr-defined] # as DeepSpeed notes it
            self.weight.data = torch.empty(0)

    class OfEmptied(Module):
        embed: Emptied = submodule(Emptied, 7, 4)
        head: nn.Parameter = param(7, 4, tie="embed.weight")

    ours = OfEmptied()
    assert ours.head is ours.embed.weight


class Inner(Module):
    embed: nn.Embedding = submodule(nn.Embedding, 5, 3)
    head: nn.Parameter = param(tie="embed.weight")


class Around(Module):
    """Ties to a tied name, and twice to one parameter."""

    inner: Inner = submodule(Inner)
    deep: nn.Parameter = param(tie="inner.head")
    left: nn.Parameter = param(tie="inner.embed.weight")
    right: nn.Parameter = param(tie="inner.embed.weight")


def fresh() -> nn.Parameter:
    return nn.Parameter(torch.full((5, 3), 2.0))


def assigned(child: nn.Module, *names: str) -> None:
    child.load_state_dict(dict.fromkeys(names, fresh().detach()), assign=True, strict=False)


REPLACED: dict[str, Callable[[Around], object]] = {
    "the first tie": lambda outer: setattr(outer, "deep", fresh()),
    "one of two": lambda outer: setattr(outer, "left", fresh()),
    "the other one": lambda outer: setattr(outer, "right", fresh()),
    "a tie of the child": lambda outer: setattr(outer.inner, "head", fresh()),
    "the source": lambda outer: setattr(outer.inner.embed, "weight", fresh()),
    "the source by its registry": lambda outer: outer.inner.embed._parameters.update(weight=fresh()),
    "the layer": lambda outer: setattr(outer.inner, "embed", nn.Embedding.from_pretrained(fresh().detach(), False)),  # type: ignore[no-untyped-call] # torch gives it no types
    "the layer, loaded alone": lambda outer: assigned(outer.inner.embed, "weight"),
    "the child, loaded alone": lambda outer: assigned(outer.inner, "embed.weight", "head"),
    "all, by one name": lambda outer: assigned(outer, "deep"),
}


@pytest.mark.parametrize("way", REPLACED)
@pytest.mark.parametrize("again", ["deep", "right"])
def test_all_names_have_what_replaces_one_of_them(way: str, again: str) -> None:
    outer = Around()
    for replace in (REPLACED[way], lambda outer: setattr(outer, again, fresh()), REPLACED[way]):
        replace(outer)
        assert len([*nn.Sequential(outer).parameters()]) == 1
        found = {id(each) for each in (outer.deep, outer.left, outer.right, outer.inner.head, outer.inner.embed.weight)}
        assert len(found) == 1 and torch.equal(outer.deep, fresh())
    assert all(torch.equal(saved, fresh()) for saved in outer.state_dict().values())
    assert (
        retie(outer) is outer
        and len({*map(id, retie(outer.to("meta").to_empty(device="cpu"))._parameters.values())}) == 1
    )


def test_a_tie_whose_parameter_is_gone_is_an_error_until_another_one_is_given() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.ones(7, 4))

    ours = Tower(7, 4)
    ours.embed = Table()  # type: ignore[assignment] # what a program may do
    with pytest.raises(
        RuntimeError, match=r"Tower.head is tied to embed.weight, which is not there any more, and nothing"
    ):
        [*nn.Sequential(ours).parameters()]
    ours.head = ours.get_parameter("embed.table")
    ours.to("meta").to_empty(device="cpu")
    assert ours.head is ours.get_parameter("embed.table")


def test_a_change_that_fails_leaves_the_tie() -> None:
    ours = Tower(7, 4)

    def fail(tensor: Tensor) -> Tensor:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        ours._apply(fail)
    assert is_tied(ours)


@pytest.mark.usefixtures("future_flags")
@pytest.mark.parametrize("start", ["cpu", "meta"])
@pytest.mark.parametrize("reads", [False, True])
def test_a_move_changes_a_tied_parameter_once_and_its_names_are_never_gone(start: str, reads: bool) -> None:
    outer = Around(device=start)
    changed: list[Tensor] = []

    def emptied(tensor: Tensor) -> Tensor:
        # As another thread may.
        assert None not in (outer._parameters["left"], outer.inner._parameters["head"])
        assert not reads or outer.deep.shape == outer.inner.head.shape == (5, 3)
        changed.append(tensor)
        return torch.empty_like(tensor, device="cpu")

    outer._apply(emptied)

    assert len(changed) == len([*outer.parameters()]) == 1
    assert outer.deep is outer.right is outer.inner.head is outer.inner.embed.weight


def test_functional_call_replaces_both_names_or_lends_one() -> None:
    ours = Tower(7, 4)
    cases: list[dict[str, Tensor]] = [{"embed.weight": torch.zeros(7, 4)}, {"head": nn.Parameter(torch.zeros(7, 4))}]
    for lent in cases:
        for both in {True, "head" not in lent}:
            assert not torch.func.functional_call(ours, lent, (tokens(),), tie_weights=both).any() and is_tied(ours)


def test_a_child_without_such_a_parameter_is_an_error_of_the_constructor() -> None:
    class Wide(Module):
        dim: int
        embed: nn.Embedding = submodule(nn.Embedding, "dim", "2*dim")
        head: nn.Parameter = param("dim", "dim", tie="embed.weight")

    class Misspelt(Module):
        norm: Adapter = submodule(Adapter, submodule(nn.Identity))
        head: nn.Parameter = param(tie="norm.wieght")

    with pytest.raises(ValueError, match=r"Wide: embed.weight has shape \(2, 4\), and is tied to \(2, 2\)"):
        Wide(2)
    with pytest.raises(AttributeError, match="wieght"):
        Misspelt()


class Switched(Module):
    """Has no parameter of its own."""

    dim: int
    wide: bool
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="wide")
    body: Sequential | None = sequential(submodule(nn.Linear, "dim", "dim"), nn.ReLU, when="wide")


class Outer(Module):
    """Holds a child that has children."""

    dim: int
    wide: bool = False
    only: Switched = submodule(Switched, "dim", "wide")


def test_what_is_not_wanted_is_registered_as_none() -> None:
    layer = Layer(4, use_bias=False)

    assert (layer.bias, layer.gate, layer.norm) == (None, None, None)
    assert (layer._parameters["bias"], layer._buffers["gate"], layer._modules["norm"]) == (None, None, None)


@pytest.mark.parametrize("use_bias", [True, False])
def test_moves_copies_and_loading_keep_what_is_there(use_bias: bool) -> None:
    layer = Layer(4, use_bias).double()
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), layer.to("meta").to_empty(device="cpu")):
        assert (twin.bias is None, twin.gate is None, twin.norm is None) == (not use_bias,) * 3
        assert twin.weight.dtype == torch.float64

    target = Layer(4, use_bias)
    target.load_state_dict(Layer(4, use_bias).state_dict(), assign=True)
    assert (target.bias is None) == (not use_bias)


@pytest.mark.parametrize("assign", [True, False])
def test_the_weights_of_a_child_that_is_switched_off_are_unexpected(assign: bool) -> None:
    found = Outer(2).load_state_dict(Outer(2, wide=True).state_dict(), strict=False, assign=assign)

    assert found == ([], ["only.norm.weight", "only.norm.bias", "only.body.0.weight", "only.body.0.bias"])
