"""What constructors do beside calling layers is the same deferred as eager."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from .comparing import assert_same_as_eager
from .constructors import CONSTRUCTORS, Written


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_constructor_gives_the_same_deferred_as_eager(name: str) -> None:
    assert_same_as_eager(lambda: Written(CONSTRUCTORS[name]))


def test_deterministic_algorithms_of_a_constructor_are_used_when_it_is_carried_out() -> None:
    def make() -> nn.Module:
        torch.use_deterministic_algorithms(True)
        try:
            return nn.ParameterList([torch.empty(4)])  # which they fill with nan
        finally:
            torch.use_deterministic_algorithms(False)

    assert_same_as_eager(make)
    assert not torch.are_deterministic_algorithms_enabled()
