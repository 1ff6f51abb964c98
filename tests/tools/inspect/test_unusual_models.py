"""Models that nest deeply, contain themselves, are lazy, or take arguments of unusual types."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from qten_gen.tools.inspect.arguments import call, read_arguments
from qten_gen.tools.inspect.construction import build, on_fakes
from qten_gen.tools.inspect.inspection import Inspection, inspect
from qten_gen.tools.inspect.request import InspectionError, Request
from qten_gen.tools.inspect.running import run
from qten_gen.tools.inspect.silence import room_for_nesting
from qten_gen.tools.inspect.views.json_document import as_json
from qten_gen.tools.inspect.views.text import as_text

HERE = "tests.tools.inspect.test_unusual_models"
CPU = torch.device("cpu")


def nested(depth: int) -> nn.Module:
    """A layer in modules in modules."""
    model: nn.Module = nn.Linear(2, 2)
    for _ in range(depth):
        model = nn.Sequential(model)
    return model


def test_modules_may_nest_five_hundred_deep() -> None:
    with room_for_nesting():
        found = inspect(Request(f"{HERE}:nested", ("depth=500",), inputs=("Float[3,2]",)))
        assert found.run is not None and found.run.failure is None
        assert len(found.run.calls) == 501
        assert found.tree.parameters == 6
        for view in (as_text, as_json):
            assert len(view(found)) > 501


class Child(nn.Module):
    """Knows its parent, which is a submodule of it then."""

    def __init__(self, parent: nn.Module) -> None:
        super().__init__()
        self.parent = parent
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        found: Tensor = self.layer(x)
        return found


class Parent(nn.Module):
    """A module in a circle of modules."""

    def __init__(self) -> None:
        super().__init__()
        self.child = Child(self)

    def forward(self, x: Tensor) -> Tensor:
        """Call the child."""
        found: Tensor = self.child(x)
        return found


def test_a_module_that_contains_itself_is_run_and_counted_once() -> None:
    found = inspect(Request(f"{HERE}:Parent", inputs=("Float[3,2]",)))
    assert found.run is not None and found.run.failure is None
    assert [call.path for call in found.run.calls] == ["", "child", "child.layer"]
    assert found.tree.parameters == 6
    assert found.run.forward_flops == 2 * 3 * 2 * 2


def test_moving_such_a_module_is_one_error() -> None:
    with pytest.raises(InspectionError, match="moving the model raised RecursionError"):
        on_fakes(build(Parent, [], {}), CPU, torch.bfloat16)


def lazy() -> nn.Module:
    """Sizes of these layers are known after a call."""
    return nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.Linear(8, 2))


def sized() -> nn.Module:
    """The same layers with their sizes."""
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))


def found_in(name: str, *inputs: str) -> Inspection:
    return inspect(Request(f"{HERE}:{name}", inputs=inputs or None))


def test_a_lazy_model_is_shown_without_sizes_before_a_run() -> None:
    found = found_in("lazy")
    text = as_text(found)
    assert "weight  (uninitialised)" in text
    assert found.tree.parameters == 8 * 2 + 2
    assert '"shape": null' in as_json(found)


def test_a_run_gives_a_lazy_model_its_sizes_and_costs_as_much_as_with_sizes() -> None:
    found, expected = found_in("lazy", "Float[3,4]"), found_in("sized", "Float[3,4]")
    assert found.run is not None and expected.run is not None
    assert found.totals == expected.totals
    assert found.memory == expected.memory
    assert found.run.backward_flops == expected.run.backward_flops
    assert found.run.activation_bytes == expected.run.activation_bytes


class Typed(nn.Module):
    """Keeps its keywords, which are all of one type."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.sizes = sizes


def test_keywords_that_a_type_is_given_for_are_read_as_that_type() -> None:
    assert call(Typed, *read_arguments(["depth=3"], None))[1] == {"depth": 3}


def test_a_keyword_that_is_not_of_its_type_is_refused() -> None:
    with pytest.raises(InspectionError) as caught:
        call(Typed, *read_arguments(["depth=deep"], None))
    assert caught.value.problems == ("Typed: depth: expected an int, got 'deep'",)


def test_arguments_that_a_class_hands_on_to_its_base_are_named_if_they_are_missing() -> None:
    with pytest.raises(InspectionError) as caught:
        build(nn.LSTM, [], {})
    assert caught.value.is_misuse
    assert caught.value.problems == (
        "LSTM: input_size: missing (int); it has no default, pass --config input_size=VALUE",
        "LSTM: hidden_size: missing (int); it has no default, pass --config hidden_size=VALUE",
    )


def test_a_type_error_of_the_users_code_stays_what_it_is() -> None:
    def make(**sizes: int) -> nn.Module:
        return nn.Linear(**sizes)  # type: ignore[arg-type] # one is missing on purpose

    with pytest.raises(
        InspectionError, match="make.* raised TypeError: Linear.__init__.. missing 1 required"
    ) as caught:
        build(make, [], {"in_features": 3})
    assert not caught.value.is_misuse


def ragged(layout: torch.layout) -> nn.Module:
    model = nn.Linear(2, 2)
    model.register_buffer("rows", torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=layout))
    return model


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_a_nested_tensor_is_one_error(layout: torch.layout) -> None:
    with pytest.raises(InspectionError, match="contains a nested tensor"):
        on_fakes(ragged(layout), CPU, None)
    with pytest.raises(InspectionError, match="nested"):
        build(partial(ragged, layout), [], {})


class Ragged(nn.Module):
    """Makes a nested tensor of its input."""

    def forward(self, x: Tensor) -> Tensor:
        """Two parts."""
        return torch.nested.nested_tensor_from_jagged(x, torch.tensor([0, 2, 6]))


def test_a_nested_tensor_in_a_run_is_the_error_of_the_run() -> None:
    failure = run(on_fakes(build(Ragged, [], {}), CPU, None), ("Float[6,3]",), CPU).failure
    assert failure is not None
    assert failure.problem.startswith("NestedTensorError: the sizes of a nested tensor are values of a fake tensor")
