"""Static values in JSON: what comes back equals what went in, type by type; the rest is refused."""

from __future__ import annotations

import datetime
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

from .corpus.declared import STATIC
from .declared import Colour, Noted, shown, through_torch


@pytest.mark.parametrize("value", STATIC, ids=lambda value: re.sub(r"\W+", "_", ascii(value))[:30])
def test_a_value_comes_back_exactly(tmp_path: Path, value: object) -> None:
    Noted(torch.zeros(1), value).memmap(tmp_path)
    assert shown(Noted.load_memmap(tmp_path).note) == shown(value)
    target = Noted(torch.zeros(1), "other")
    target.load_state_dict(through_torch(Noted(torch.zeros(1), value).state_dict()))
    assert shown(target.note) == shown(value)


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
    assert shown(decode(encode(value, "here"), "here")) == shown(value)


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
        (Colour.RED, r"a [\w.]*Colour"),
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
