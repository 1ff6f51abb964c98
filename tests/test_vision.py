"""The example `vision`: `qten-gen adopt` makes the one file of the other, and both compute the same, to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from vision import after, before

from qten_gen.tools.adopt.adoption import Level
from tests.tools.adopt.adopted import adopted

FOLDER = Path(after.__file__).parent


def source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_adopt_gives_the_committed_file() -> None:
    assert adopted(source("before.py"), Level.DECLARE) == source("after.py")


def test_a_second_run_has_nothing_to_do() -> None:
    assert adopted(source("after.py"), Level.DECLARE) == source("after.py")


def assert_equal(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    """The same names in the same order, and the same bits."""
    assert list(found) == list(wanted)
    assert [name for name in found if not torch.equal(found[name], wanted[name])] == []


def gradients(module: nn.Module) -> dict[str, Tensor]:
    return {name: weight.grad for name, weight in module.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize("sizes", [{}, {"depth": 3, "heads": 4, "classes": 2}, {"side": 8, "patch": 2, "width": 6}])
def test_values_scores_and_gradients_are_equal(sizes: dict[str, int]) -> None:
    torch.manual_seed(0)
    old, drawn = before.Vision(**sizes), torch.get_rng_state()
    torch.manual_seed(0)
    new = after.Vision.from_config(sizes)
    assert torch.equal(torch.get_rng_state(), drawn)
    assert_equal(new.state_dict(), old.state_dict())
    assert_equal(dict(new.named_buffers()), dict(old.named_buffers()))
    images = torch.rand(2, 3, sizes.get("side", 16), sizes.get("side", 16))
    found, wanted = new(images), old(images)
    assert torch.equal(found, wanted)
    torch.autograd.backward([found.square().sum(), wanted.square().sum()])
    assert_equal(gradients(new), gradients(old))


def test_a_size_that_does_not_fit_is_refused_by_both() -> None:
    with pytest.raises(AssertionError):
        before.Vision(width=5)
    with pytest.raises(ValueError, match=r"expected width % heads == 0, got width = 5, heads = 2"):
        after.Vision(width=5)
