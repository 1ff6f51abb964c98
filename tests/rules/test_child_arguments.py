"""What rules report about the arguments of children whose classes are not declared, but have an `__init__` written by hand."""

import pytest

from tests.rules.reported import reported

HEAD = """\
import functools
from typing import overload
from torch import nn
from qten_gen import Module, const, sequential, submodule
"""

LAYERS = """
    from absent import Unknown

    class Takes(nn.Module):
        def __init__(self, width: int, name: str = "a") -> None: ...

    class Below(Takes): ...

    class Any(nn.Module):
        def __init__(self, *sizes, **options): ...

    @functools.cache
    class Decorated(Takes): ...

    class Wrapped(nn.Module):
        @functools.wraps(print)
        def __init__(self, dim): ...

    class Overloaded(nn.Module):
        @overload
        def __init__(self, dim): ...
        def __init__(self, dim, more): ...

    class Meta(type): ...
    class Made(nn.Module, metaclass=Meta):
        def __init__(self, dim): ...

    class BelowMeta(Made):
        def __init__(self, dim): ...

    class New(nn.Module):
        def __new__(cls, *args): ...
        def __init__(self, dim): ...

    class Wrapping(nn.Module):
        def __init_subclass__(cls): ...
    class BelowWrapping(Wrapping):
        def __init__(self, dim): ...

    class BelowUnknown(Unknown):
        def __init__(self, dim): ...

    class Second(nn.Module):
        def __init__(self, dim, more): ...
    class Mixed(Takes, Second): ...

    if nn:
        class Either(nn.Module):
            def __init__(self, dim): ...
    else:
        Either = None
"""
MAY_DECIDE = "Any Decorated Wrapped Overloaded Made BelowMeta New BelowWrapping BelowUnknown Mixed Either".split()


def said(call: str) -> list[str]:
    """What is reported about a child of these arguments."""
    text = f"""
    from .layers import {", ".join(["Takes", "Below", *MAY_DECIDE])}
    SIZES, LATER = [1], [4][0]
    class Net(Module):
        dim: int
        name: str = "a"
        a: nn.Module = {call}
    """
    return [item.message for item in reported(HEAD, text, layers=LAYERS) if item.code == "QG320"]


@pytest.mark.parametrize("cls", ["Takes", "Below"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", "{} requires the argument width"),
        ('"dim", nam=const("b")', "{} has no constructor argument nam"),
        ('"name"', "name has the type str, but {} takes width: int"),
        ('const("dim")', '{} takes width: int, got "dim"'),
        ("2.5", "{} takes width: int, got 2.5"),
        ("None", "{} takes width: int, got None"),
        ('"dim / 2"', "dim/2 has the type float, but {} takes width: int"),
        ('"dim", const("b"), 3', "{} takes 2 positional arguments, but 3 are given"),
        ('"dim", width=3', "{} gets width twice, by position and by keyword"),
        ("3, name=1", "{} takes name: str, got 1"),
        ('3, tie="dim"', "{} has no constructor argument tie"),
    ],
)
def test_a_wrong_argument_is_reported(cls: str, arguments: str, expected: str) -> None:
    assert said(f"submodule({cls}, {arguments})") == [expected.format(cls)]


@pytest.mark.parametrize("arguments", ['"dim"', '*SIZES, "dim"', "LATER"])
def test_what_may_be_right_is_not_reported(arguments: str) -> None:
    assert said(f"submodule(Takes, {arguments})") == []


def test_the_members_of_a_sequence_are_checked() -> None:
    assert said("sequential(submodule(Takes), nn.ReLU)") == ["Takes requires the argument width"]


@pytest.mark.parametrize("name", MAY_DECIDE)
def test_a_class_whose_call_something_else_may_decide_is_not_reported(name: str) -> None:
    assert said(f"submodule({name}, 1, 2, 3)") == []


def test_layers_of_torch_check_their_arguments_themselves() -> None:
    assert said('submodule(nn.Linear, "dim", baias=False)') == []
