"""What a model holds: as counted on the eager model, and by a real optimizer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from qten_gen import Module, param, submodule
from qten_gen.tools.inspect.model_building import build, on_fakes
from qten_gen.tools.inspect.model_tree import contents_of, totals_of

from .samples import Net, ReadsValues, Shared, Truncated

SIZES = st.integers(1, 5)


@st.composite
def layers(draw: st.DrawFn, depth: int = 2) -> Any:
    """A function that makes a random module."""
    a, b, bias = draw(SIZES), draw(SIZES), draw(st.booleans())
    makers: list[Any] = [
        partial(nn.Linear, a, b, bias=bias),
        partial(nn.Conv2d, a, b, 3, bias=bias),
        partial(nn.BatchNorm1d, a, affine=bias),
        partial(nn.LayerNorm, a),
        partial(nn.Embedding, a, b, dtype=torch.float16),
        partial(nn.LSTM, a, b),
        nn.Dropout,
    ]
    if depth:
        inner = draw(st.lists(layers(depth - 1), max_size=3))
        makers.append(partial(_sequence, inner, draw(st.booleans()), draw(st.booleans())))
    return draw(st.sampled_from(makers))


def _sequence(inner: list[Any], repeats: bool, freezes: bool) -> nn.Module:
    found = nn.Sequential(*(make() for make in inner))
    if repeats and inner:
        found.append(found[0])
    if freezes:
        found.requires_grad_(False)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(layers())
def test_totals_are_those_of_the_eager_model(make: Any) -> None:
    model = make()
    totals = totals_of(contents_of(build(make, {})))
    parameters, buffers = [*model.parameters()], [*model.buffers()]
    assert totals.parameters.elements == sum(tensor.numel() for tensor in parameters)
    assert totals.parameters.bytes == sum(tensor.nbytes for tensor in parameters)
    assert totals.trainable.elements == sum(tensor.numel() for tensor in parameters if tensor.requires_grad)
    assert totals.buffers.elements == sum(tensor.numel() for tensor in buffers)
    assert totals.buffers.bytes == sum(tensor.nbytes for tensor in buffers)
    kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in [*parameters, *buffers]}
    for name, held in totals.by_dtype.items():
        of_kind = [tensor for tensor in [*parameters, *buffers] if str(tensor.dtype) == f"torch.{name}"]
        assert held.bytes == sum(tensor.nbytes for tensor in of_kind)
    assert totals.by_dtype.keys() == kinds


def test_the_tree_names_what_the_state_dict_names() -> None:
    tree = contents_of(build(Net, {"width": 8}))
    eager = Net(8)
    saved = {entry.path: entry for entry in tree.all_tensors() if entry.kind != "attribute" and entry.persistent}
    assert saved.keys() == eager.state_dict().keys()
    assert {path: entry.shape for path, entry in saved.items()} == {
        path: tuple(tensor.shape) for path, tensor in eager.state_dict().items()
    }
    assert {entry.path for entry in tree.all_tensors() if not entry.persistent} == {
        f"blocks.{layer}.scale" for layer in range(3)
    }


def test_a_small_model_has_the_numbers_of_a_hand_calculation() -> None:
    totals = totals_of(contents_of(build(Net, {"width": 8, "depth": 2})))
    # The embedding, two blocks of a weight and a bias, a norm of a weight and a bias.
    assert totals.parameters.elements == 100 * 8 + 2 * (24 * 8 + 24) + 2 * 8 == 1248
    assert totals.parameters.bytes == 4 * 1248
    assert (totals.buffers.elements, totals.unsaved_buffers.bytes) == (2 * 4, 2 * 4 * 4)


def test_ties_are_counted_once_also_when_a_model_that_exists_gets_fakes() -> None:
    tree = contents_of(build(Shared, {}))
    assert {entry.path: entry.tied_to for entry in tree.all_tensors() if entry.tied_to} == {
        "tied.weight": "first.weight"
    }
    assert [module.same_as for module in tree.all_modules() if module.path == "again"] == ["first"]
    assert (totals_of(tree).parameters.elements, tree.bytes) == (16 + 1, 17 * 4)
    assert contents_of(on_fakes(Shared(), torch.device("cpu"), None)) == contents_of(Shared()) == tree


@pytest.mark.parametrize("kind", [ReadsValues, Truncated])
def test_a_constructor_that_reads_values_is_built_all_the_same(kind: type[nn.Module]) -> None:
    assert contents_of(on_fakes(build(kind, {}), torch.device("cpu"), None)) == contents_of(kind())


def test_values_that_a_constructor_read_are_right() -> None:
    assert vars(build(ReadsValues, {}))["rates"] == [0.0, 0.5, 1.0]


def test_a_cast_and_a_move_are_those_of_to() -> None:
    tree = contents_of(on_fakes(build(Truncated, {}), torch.device("cuda"), torch.bfloat16))
    found = {entry.name: (entry.device, entry.dtype, entry.kind) for entry in tree.tensors}
    assert found == {"weight": ("cuda:0", "bfloat16", "parameter"), "mask": ("cpu", "float32", "attribute")}


@pytest.mark.parametrize(("model", "frozen"), [(partial(Net, 8), False), (Shared, True)])
def test_states_are_those_of_a_real_step(model: Callable[[], nn.Module], frozen: bool) -> None:
    totals, real = totals_of(contents_of(build(model, {}))), model()
    trained = [parameter for parameter in real.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.grad = torch.ones_like(parameter)
    optimizer = torch.optim.AdamW(trained)
    optimizer.step()
    assert totals.adamw == sum(value.nbytes for state in optimizer.state.values() for value in state.values())
    assert totals.trainable.bytes == sum(parameter.nbytes for parameter in trained)
    assert (totals.trainable != totals.parameters) is frozen


class Tied(Module):
    """A head under the name of an embedding that comes after it in the order of state dicts."""

    width: int = 2
    embedding: nn.Embedding = submodule(nn.Embedding, 3, "width")
    head: nn.Parameter = param(tie="embedding.weight")


def test_a_declared_tie_is_shown_as_it_was_declared() -> None:
    model = Tied()
    found = {entry.path: (entry.tied_to, entry.elements) for entry in contents_of(model).all_tensors()}
    assert found == {"head": ("embedding.weight", 0), "embedding.weight": (None, 6)}

    model.head = nn.Parameter(torch.ones(3, 2))
    assert {entry.tied_to for entry in contents_of(model).all_tensors()} == {None}
