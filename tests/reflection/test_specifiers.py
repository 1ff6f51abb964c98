"""What a class body binds to a name: records of specifiers, and values that generated code spells out."""

from __future__ import annotations

import inspect
from typing import NamedTuple
from unittest.mock import MagicMock

import pytest
import torch
from torch import nn

import qten_gen
from qten_gen.common.fingerprint_rows import recorded_call
from qten_gen.common.language import SEQUENTIAL, SPECIFIER_KEYWORDS, SUBMODULE
from qten_gen.common.python_text import written_as
from qten_gen.runtime.declaring import fields


class Parameter(NamedTuple):
    """Called like a record of the runtime."""

    dims: tuple[int, ...] = ()


@pytest.mark.parametrize("name", sorted(SPECIFIER_KEYWORDS.keys() - {SUBMODULE, SEQUENTIAL}))
def test_every_specifier_takes_the_keywords_that_the_readers_know(name: str) -> None:
    """`submodule` takes any keyword, for the class of the child, and `sequential` for the names of its members."""
    parameters = inspect.signature(getattr(qten_gen, name.rpartition(".")[2])).parameters.values()
    assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == list(SPECIFIER_KEYWORDS[name])


@pytest.mark.parametrize("value", [Parameter(), MagicMock(), fields.Parameter, 3, None, fields])
def test_other_objects_are_not_taken_for_records(value: object) -> None:
    assert recorded_call(value) is None


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
