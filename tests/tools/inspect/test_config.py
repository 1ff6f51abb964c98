"""Arguments from the command line and from JSON have the types that the constructor's annotations say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from torch import nn

from qten_gen.tools.inspect.arguments import call, read_arguments
from qten_gen.tools.inspect.config_types import Text
from qten_gen.tools.inspect.request import InspectionError

from .samples import Color, Settings, Typed, of_settings


def given(*texts: str, document: str | None = None) -> dict[str, object]:
    """The arguments that reach the constructor of `Typed`."""
    tree, problems = read_arguments(texts, document)
    args, keywords = call(Typed, tree, problems)
    assert args == []
    return keywords


def problems_of(*texts: str, document: str | None = None) -> tuple[str, ...]:
    with pytest.raises(InspectionError) as caught:
        given(*texts, document=document)
    assert caught.value.is_misuse
    return caught.value.problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("number=48", 48),
        ("number=8_192", 8192),
        ("number=0x10", 16),
        ("number=-3", -3),
        ("rate=1e-3", 1e-3),
        ("rate=2", 2.0),
        ("flag=true", True),
        ("flag=False", False),
        ("name=12", "12"),
        ("name=a=b", "a=b"),
        ("name=", ""),
        ("sizes=[1, 2]", [1, 2]),
        ("sizes=1,2", [1, 2]),
        ("sizes=none", None),
        ("pair=3,1", (3, 1.0)),
        ("dtype=bfloat16", torch.bfloat16),
        ("dtype=torch.float64", torch.float64),
        ("dtype=none", None),
        ("mode=slow", "slow"),
        ("color=BLUE", Color.BLUE),
        ("color=blue", Color.BLUE),
        ('names={"a": 1}', {"a": 1}),
        ("activation=gelu", "gelu"),
        ("kind=torch.nn:GELU", nn.GELU),
        ("kind=torch.nn.GELU", nn.GELU),
        ("guess=3", 3),
        ("guess=(1, 2)", (1, 2)),
        ("guess=true", True),
        ("guess=abc", "abc"),
        ('settings={"width": 3}', Settings(3)),
    ],
)
def test_text_becomes_a_value_of_the_annotated_type(text: str, value: object) -> None:
    found = given(text)[text.partition("=")[0]]
    assert found == value
    assert type(found) is type(value)


def test_dotted_names_make_objects_within_objects() -> None:
    found = given("settings.width=3", "settings.inner.width=4", "settings.inner.dtype=float16")
    assert found == {"settings": Settings(3, inner=Settings(4, torch.float16))}


def test_json_has_the_types_of_json() -> None:
    found = given(document='{"number": 3, "rate": 1, "sizes": [4], "dtype": "float16", "settings": {"width": 2}}')
    assert found == {"number": 3, "rate": 1.0, "sizes": [4], "dtype": torch.float16, "settings": Settings(2)}
    assert type(found["rate"]) is float


def test_a_file_of_json_is_read_and_text_comes_before_it(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"number": 3, "settings": {"width": 2, "dtype": "float16"}}))
    found = given("number=4", "settings.width=5", document=str(path))
    assert found == {"number": 4, "settings": Settings(5, torch.float16)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("number=many", "number: expected an int, got 'many'"),
        ("number=1.5", "number: expected an int, got '1.5'"),
        ("rate=high", "rate: expected a float, got 'high'"),
        ("flag=1", "flag: expected true or false, got '1'"),
        ("sizes=1,b", "sizes: expected an int, got 'b'"),
        ("pair=1", "pair: expected 2 values, got 1: '1'"),
        ("dtype=bflot16", "dtype: expected a dtype such as bfloat16, got 'bflot16'; did you mean bfloat16?"),
        ("mode=quick", "mode: expected one of 'fast', 'slow', got 'quick'"),
        ("color=green", "color: expected one of RED, BLUE, got 'green'"),
        ("kind=torch.nn:Gelu", "kind: expected a class or function such as torch.nn:GELU; there is no torch.nn:Gelu"),
        ("numbr=3", "numbr: there is no such argument; did you mean number?"),
        ("settings.widht=3", "settings.widht: there is no such argument; did you mean width?"),
    ],
)
def test_a_value_of_another_type_is_one_clear_problem(text: str, problem: str) -> None:
    assert problems_of(text)[0] == f"Typed: {problem}"


def test_all_problems_are_listed() -> None:
    found = problems_of("number=x", "rate=y", "nam=z", "oops", "number=3", document='{"flag": 3, "color": 4}')
    assert found == (
        "--config oops: expected NAME=VALUE",
        "--config number: given twice",
        "Typed: flag: expected true or false, got 3",
        "Typed: color: expected one of RED, BLUE, got 4",
        "Typed: number: expected an int, got 'x'",
        "Typed: rate: expected a float, got 'y'",
        "Typed: nam: there is no such argument; did you mean name?",
    )


@dataclasses.dataclass
class Plain:
    depth: int = 3


def of_plain(plain: Plain) -> nn.Module:
    return nn.Linear(plain.depth, 1)


def test_what_is_missing_is_named_with_its_type() -> None:
    with pytest.raises(InspectionError) as caught:
        call(of_settings, {"layers": 2})
    expected = "of_settings: settings: missing (Settings); it has no default, pass --config settings.width=VALUE"
    assert caught.value.problems == (expected,)
    with pytest.raises(InspectionError) as caught:
        call(of_settings, {"settings": {}})
    expected = "of_settings: settings.width: missing (int); it has no default, pass --config settings.width=VALUE"
    assert caught.value.problems == (expected,)


def test_an_object_whose_arguments_all_have_defaults_is_named_as_an_empty_one() -> None:
    with pytest.raises(InspectionError) as caught:
        call(of_plain, {})
    advice = "pass --config plain.depth=VALUE, or plain={} for its defaults"
    assert caught.value.problems == (f"of_plain: plain: missing (Plain); it has no default, {advice}",)
    made = call(of_plain, {"plain": Text("{}")})[1]["plain"]
    assert made == Plain()


def test_what_is_no_json_is_said(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("[1]")
    assert problems_of(document=str(path)) == (f"--config-json {path}: expected an object, got [1]",)
    assert problems_of(document="{'a': 1}")[0].startswith("--config-json: it is not JSON: ")
    assert problems_of(document="absent.json") == (
        "--config-json absent.json: cannot read it: No such file or directory",
    )


class Even:
    """A size that is checked."""

    def __init__(self, width: int) -> None:
        if width % 2:
            raise ValueError("width has to be even")


def make_even(shape: Even) -> nn.Module:
    """Is never called."""
    raise AssertionError


def test_a_check_of_the_users_object_is_a_problem_with_its_message() -> None:
    with pytest.raises(InspectionError, match="make_even: shape: Even raised ValueError: width has to be even"):
        call(make_even, {"shape": {"width": 3}})
