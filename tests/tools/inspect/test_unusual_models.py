"""Models that nest deeply, are lazy, or contain nested tensors."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen.tools.inspect.inspection import Inspection, inspect
from qten_gen.tools.inspect.model_building import on_fakes
from qten_gen.tools.inspect.request import InspectionError, Request
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


def test_modules_may_nest_sixty_deep() -> None:
    found = inspect(Request(f"{HERE}:nested", ("depth=60",), inputs=("Float[3,2]",)))
    assert found.run is not None and found.run.failure is None
    assert len(found.run.calls) == 61
    assert found.tree.parameters == 6
    for view in (as_text, as_json):
        assert len(view(found)) > 61


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


def test_a_run_gives_a_lazy_model_its_sizes_and_costs_as_much_as_with_sizes() -> None:
    found, expected = found_in("lazy", "Float[3,4]"), found_in("sized", "Float[3,4]")
    assert found.run is not None and expected.run is not None
    assert found.totals == expected.totals
    assert found.run.backward_flops == expected.run.backward_flops
    assert found.run.activation_bytes == expected.run.activation_bytes


def ragged(layout: torch.layout) -> nn.Module:
    model = nn.Linear(2, 2)
    model.register_buffer("rows", torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=layout))
    return model


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_a_nested_tensor_is_one_error(layout: torch.layout) -> None:
    with pytest.raises(InspectionError, match="contains a nested tensor"):
        on_fakes(ragged(layout), CPU, None)
