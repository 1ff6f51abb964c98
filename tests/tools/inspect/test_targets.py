"""The arguments of a target are Python, which is evaluated in the module of what is built."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from qten_gen.tools.inspect.targets import arguments_for, split_call
from qten_gen.tools.inspect.user_code import InspectionError

from .samples import Settings, of_settings


def make(value: object = 1, *, other: object = None) -> nn.Module:
    """Is never called."""
    raise AssertionError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("2**4", 16),
        ("1e-3", 1e-3),
        ("true", True),
        ("False", False),
        ("none", None),
        ("a=b", "a=b"),
        ("", ""),
        ("gelu", "gelu"),
        ("small-v2", "small-v2"),
        ("[1, 2]", [1, 2]),
        ("3,1.5", (3, 1.5)),
        ("bfloat16", torch.bfloat16),
        ("torch.float64", torch.float64),
        ("nn.GELU", nn.GELU),
        ("Settings(width=3)", Settings(3)),
        ("{'a': 'x'}", {"a": "x"}),
    ],
)
def test_a_value_is_an_expression_or_else_text(text: str, value: object) -> None:
    found = arguments_for(make, [f"value={text}"])["value"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("texts", "problems"),
    [
        (["oops", "value=1", "value=2"], ["oops: expected NAME=VALUE", "value: given twice"]),
        (["value=Setings(3)"], ["value=Setings(3): NameError: name 'Setings' is not defined"]),
        (["value=1 // 0"], ["value=1 // 0: ZeroDivisionError: integer division or modulo by zero"]),
        (["value=exit(3)"], ["value=exit(3): SystemExit: 3"]),
        (["valu=3"], ["make(value=1, *, other=None): got an unexpected keyword argument 'valu'"]),
        (
            ["layers=2"],
            ["of_settings(settings, layers=1): missing a required argument: 'settings'; give it after --config"],
        ),
    ],
)
def test_what_cannot_be_an_argument_is_a_problem(texts: list[str], problems: list[str]) -> None:
    with pytest.raises(InspectionError) as caught:
        arguments_for(of_settings if texts == ["layers=2"] else make, texts)
    assert caught.value.is_misuse
    assert [*caught.value.problems] == problems


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("shop.model:Net", ("shop.model:Net", ())),
        ("shop.model:Net(a=[1, 2], b='x, y')", ("shop.model:Net", ("a=[1, 2]", "b='x, y'"))),
        ("src/my shop.py:Net.small( k=nn.GELU )", ("src/my shop.py:Net.small", ("k=nn.GELU",))),
        ("shop", ("shop", ())),
    ],
)
def test_a_target_is_a_name_with_the_arguments_of_a_call(target: str, parts: tuple[str, tuple[str, ...]]) -> None:
    assert split_call(target) == parts


@pytest.mark.parametrize(
    "target", ["shop:Net(3)", "shop:Net(**a)", "shop:Net(a=)", "shop:Net(a=1))", "shop:f(a=1)(b=2)", "shop:f(a=1).g()"]
)
def test_a_target_that_is_no_call_with_names_is_refused(target: str) -> None:
    with pytest.raises(InspectionError, match="is not of the form module:name"):
        split_call(target)
