"""`lifted` gives the function itself where objects have a form of it, and refuses all others at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from qten_gen import lifted
from qten_gen.runtime.tensorclass.operations.table import torch_functions


@pytest.mark.parametrize("function", [torch.hypot, functional.hardtanh, torch.cummax, torch.stack, torch.autograd.grad])
def test_it_is_the_function_itself(function: Callable[..., Any]) -> None:
    assert lifted(function) is function


def test_every_function_of_the_table_is_accepted() -> None:
    for function in torch_functions():
        lifted(function)  # type: ignore[arg-type] # a program cannot ask for all of them


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (torch.unique, "torch.functional.unique is not defined for a TensorClass; use torch.unique on one field"),
        (len, "builtins.len is not defined for a TensorClass; apply it to the tensors"),
        ("hypot", "torch.hypot is not defined for a TensorClass"),
    ],
)
def test_what_has_no_form_for_objects_is_refused(given: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        lifted(given)
    assert str(caught.value).startswith(message)
