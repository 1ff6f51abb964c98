"""Class statements to declarations, from what the metaclass hands over."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen.common.python_text import written_as


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        (0.001, "0.001", True),
        (1, "1.0", False),
        (True, "1", False),
        (torch.float32, "torch.float32", True),
        (nn.init.ones_, "torch.nn.init.ones_", True),
        (nn.init.zeros_, "torch.nn.init.ones_", False),
        (None, "torch.nn.init.gone_", False),
    ],
)
def test_a_spelled_out_value_is_compared_with_the_object(value: object, text: str, same: bool) -> None:
    assert written_as(value, text) is same
