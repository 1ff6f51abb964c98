"""The content of a model, as counted on the eager model, and by a real optimizer; and unusual models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from qten_gen.tools.inspect.model_building import build
from qten_gen.tools.inspect.model_tree import Entry, ModuleEntry, TensorEntry, contents_of, tensors_of, totals_of
from qten_gen.tools.inspect.user_code import InspectionError
from qten_gen.tools.inspect.views import as_json, as_text

from .samples import Net, Shared, Tied, Truncated

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


@settings(max_examples=40)
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
    by_dtype: dict[str, int] = {}
    for tensor in [*parameters, *buffers]:
        name = str(tensor.dtype).removeprefix("torch.")
        by_dtype[name] = by_dtype.get(name, 0) + tensor.nbytes
    assert {name: held.bytes for name, held in totals.by_dtype.items()} == by_dtype


def test_the_tree_names_what_the_state_dict_names() -> None:
    tensors = tensors_of(contents_of(build(Net, {"width": 8})))
    eager = Net(8)
    saved = {entry.path: entry.shape for entry in tensors if entry.kind != "attribute" and entry.persistent}
    assert saved == {path: tuple(tensor.shape) for path, tensor in eager.state_dict().items()}
    assert {entry.path for entry in tensors if not entry.persistent} == {f"blocks.{layer}.scale" for layer in range(3)}


def test_ties_are_counted_once() -> None:
    entries = contents_of(build(Shared, {}))
    assert {each.path: each.tied_to for each in tensors_of(entries) if each.tied_to} == {"tied.weight": "first.weight"}
    modules = [entry for entry in entries if isinstance(entry, ModuleEntry)]
    assert [entry.same_as for entry in modules if entry.path == "again"] == ["first"]
    assert (totals_of(entries).parameters.elements, modules[0].parameters, modules[0].bytes) == (17, 17, 17 * 4)
    assert contents_of(Shared()) == entries


def test_a_constructor_that_reads_values_is_built_all_the_same() -> None:
    made = build(Truncated, {})
    assert (contents_of(made), vars(made)["rates"]) == (contents_of(Truncated()), [0.0, 0.5, 1.0])


@pytest.mark.parametrize("kind", [Truncated, Net])
def test_a_cast_is_that_of_to(kind: type[nn.Module]) -> None:
    arguments: dict[str, Any] = {"width": 8} if kind is Net else {}
    cast = contents_of(build(kind, arguments, torch.bfloat16))
    assert cast == contents_of(kind(**arguments).to(dtype=torch.bfloat16))


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


def test_a_declared_tie_is_shown_as_it_was_declared() -> None:
    model = Tied()
    found = {entry.path: (entry.tied_to, entry.elements) for entry in tensors_of(contents_of(model))}
    assert found == {"head": ("embedding.weight", 0), "embedding.weight": (None, 6)}

    model.head = nn.Parameter(torch.ones(3, 2))  # what is assigned to one of the names is under both
    assert {entry.path: entry.tied_to for entry in tensors_of(contents_of(model))} == {
        "head": "embedding.weight",
        "embedding.weight": None,
    }


def test_modules_may_nest_sixty_deep() -> None:
    model = reduce(lambda inner, _: nn.Sequential(inner), range(60), cast("nn.Module", nn.Linear(2, 2)))
    entries = contents_of(model)
    assert isinstance(entries[0], ModuleEntry) and entries[0].parameters == 6
    assert as_text(entries).count("Sequential") == as_json("nested", entries).count("Sequential") == 60


def test_a_lazy_model_is_shown_without_sizes() -> None:
    entries = contents_of(nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.Linear(8, 2)))
    assert "weight  (uninitialised)" in as_text(entries)
    assert totals_of(entries).parameters.elements == 8 * 2 + 2


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_a_nested_tensor_is_one_error(layout: torch.layout) -> None:
    model = nn.Linear(2, 2)
    model.register_buffer("rows", torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=layout))
    with pytest.raises(InspectionError, match="rows is a nested tensor"):
        contents_of(model)


def test_equal_tensors_of_a_list_are_one_line() -> None:
    model = nn.ParameterList(torch.ones(2) for _ in range(3))
    assert "└─ 0-2  (3 equal)  [2]    float32           6    24 B\n" in as_text(contents_of(model))


def test_layers_that_differ_are_not_folded() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 3), nn.Linear(2, 2))
    lines = as_text(contents_of(model)).splitlines()
    assert [line.split()[1] for line in lines if "Linear" in line] == ["0-1", "2", "3"]


def test_control_characters_of_a_name_are_not_sent_to_the_terminal() -> None:
    entries: list[Entry] = [ModuleEntry("", "Net"), TensorEntry("a\x1b[31m\nb", "buffer", (), "float32", "cpu", 1, 4)]
    assert "└─ a\\x1b[31m\\nb  (buffer)" in as_text(entries)
