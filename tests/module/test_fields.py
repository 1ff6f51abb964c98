"""Specifiers record their arguments."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from qten_gen import buffer, const, field, param, submodule, virtual
from qten_gen.runtime.declaring.children import Submodule
from qten_gen.runtime.declaring.fields import Const, Field
from qten_gen.runtime.declaring.parameters import Buffer, Parameter
from qten_gen.runtime.declaring.virtual_fields import Virtual


def record(specifier: object) -> object:
    """What a specifier is at run time; a type checker sees the type of the field."""
    return specifier


def test_param_records_dimensions_and_options() -> None:
    given = record(param("3*dim", 4, initializer=nn.init.ones_, requires_grad=False))
    assert given == Parameter(("3*dim", 4), nn.init.ones_, None, False)


def test_buffer_is_persistent_unless_told_otherwise() -> None:
    assert record(buffer("n")) == Buffer(("n",), None, None, True)
    assert record(buffer("n", persistent=False, dtype=torch.int64)) == Buffer(("n",), None, torch.int64, False)


def test_submodule_records_the_class_and_its_arguments() -> None:
    given = record(submodule(nn.Linear, "dim", 3, bias=False))
    assert given == Submodule(nn.Linear, ("dim", 3), {"bias": False})


def test_const_records_its_value() -> None:
    assert record(const("circular")) == Const("circular")


def test_field_records_a_default_or_a_factory() -> None:
    assert record(field(default=None)) == Field(None, None, False)
    assert record(field(default_factory=list, kw_only=True)) == Field(MISSING, list, True)


def test_field_refuses_a_default_and_a_factory_together() -> None:
    with pytest.raises(TypeError, match="takes default= or default_factory=, not both"):
        field(default=1, default_factory=int)  # type: ignore[call-overload] # what the test is about


@pytest.mark.parametrize("cached", ["may_be_stale", True])
def test_virtual_records_the_function(cached: Literal[True, "may_be_stale"]) -> None:
    def mask(self: nn.Module, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2, dtype=dtype, device=device)

    assert virtual(cached=cached, sources=("dim",))(mask) == Virtual(mask, cached, ("dim",))


def test_virtual_works_without_parentheses() -> None:
    def mask(self: nn.Module, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2, dtype=dtype, device=device)

    assert virtual(mask) == Virtual(mask, False)
