"""Static values in JSON: what comes back equals what went in, type by type; the rest is refused."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from qten_gen.runtime.tensorclass.storage.json_values import decode, encode
from qten_gen.runtime.tensorclass.storage.metadata import StorageError

from .declared import Colour, Noted

EXACT = [
    None,
    True,
    1,
    -(2**100),
    2.5,
    -0.0,
    1e300,
    math.inf,
    -math.inf,
    "",
    "é\n\0\ud800",
    [],
    [1, "a", None],
    {},
    {"a": {"b": [1]}},
    {"$": 1},
    {"$": "tuple", "value": [1]},
    {1: "a", (2, 3): "b", None: "c", False: 4.0},
    (),
    (1, (2, [3])),
    {1, 2},
    frozenset({"a"}),
    b"\0\xff",
    3 - 2j,
    Path("data/train.txt"),
    torch.bfloat16,
    torch.device("cuda", 1),
    torch.Size([2, 3]),
]


def same(left: object, right: object) -> bool:
    """Equal, and of the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return same(list(left), list(right)) and same(list(left.values()), list(right.values()))
    return repr(left) == repr(right) and (left == right or left != left)


@pytest.mark.parametrize("value", EXACT, ids=lambda value: re.sub(r"\W+", "_", ascii(value))[:30])
def test_a_value_comes_back_exactly(tmp_path: Path, value: object) -> None:
    Noted(torch.zeros(1), value).memmap(tmp_path)
    assert same(Noted.load_memmap(tmp_path).note, value)


def test_nan_comes_back(tmp_path: Path) -> None:
    Noted(torch.zeros(1), (math.nan, [complex(math.nan, math.inf)])).memmap(tmp_path)
    (number, [both]) = Noted.load_memmap(tmp_path).note
    assert math.isnan(number) and math.isnan(both.real) and both.imag == math.inf


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.sampled_from(["$", "value"]), inner)
        | st.dictionaries(st.integers() | st.text(), inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_of_these_types_comes_back_exactly(value: object) -> None:
    assert same(decode(encode(value, "here"), "here"), value)


TAGS = "PerItem tuple set frozenset Size dict float complex bytes path dtype device module".split()

TAMPERED = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["load", "RED"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries({"$": st.sampled_from(TAGS)}, optional={"value": inner, "name": inner})
    ),
    max_leaves=6,
)


@settings(max_examples=500)
@given(TAMPERED)
def test_any_json_is_a_value_or_is_refused(value: Any) -> None:
    try:
        decode(value, "here")
    except StorageError as error:
        assert str(error).startswith("here: ")


def test_a_member_of_an_enum_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Noted\.note: a [\w.]*Colour cannot be saved as JSON"):
        Noted(torch.zeros(1), Colour.RED).memmap(tmp_path)


@dataclass
class Settings:
    """A value of a class."""

    rate: float


class Text(str):
    """A str, and not quite."""


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Settings(0.1), r"a [\w.]*Settings"),
        ([1, {"a": Settings(0.1)}], r"a [\w.]*Settings"),
        (Text("a"), r"a [\w.]*Text"),
        (datetime.datetime(2020, 1, 1), r"a datetime\.datetime"),
        (print, r"a builtins\.builtin_function_or_method"),
        (int, r"a builtins\.type"),
        (LOOP, r"a list nested in itself or deeper than 100"),
        (10**4000, r"an int of more than 3000 digits"),
    ],
)
def test_any_other_value_is_refused_before_anything_is_written(tmp_path: Path, value: object, what: str) -> None:
    with pytest.raises(TypeError, match=rf"Noted\.note: {what} cannot be saved as JSON; store a plain value instead"):
        Noted(torch.zeros(1), value).memmap(tmp_path / "new")
    assert not (tmp_path / "new").exists()
