"""Both readers agree on every way of writing a declaration, or say that the text cannot tell."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import annotated, other_positions, values
from .law import all_broken
from .spelling import Piece, Spelling, spelling

EVERY = 1 if os.environ.get("QTEN_GEN_ALL_SPELLINGS") else 24
"""Which part of the larger sets is tried: all with the variable, as `make spellings` does, else one of so many."""

SETS: dict[str, tuple[Callable[[], Iterator[Spelling]], int]] = {
    "annotations": (annotated.spellings, EVERY),
    "pairs of ways": (annotated.pairs, 2 * EVERY if EVERY > 1 else 1),
    "values": (values.spellings, EVERY),
    "other positions": (other_positions.spellings, min(EVERY, 4)),
}
PARTS = 3
"""How many tests share a set, so that they run in parallel."""

ASSUMED = (
    "argument of a child",
    "keyword of a child",
    "inner argument",
    "inner child",
    "a tensor's value",
    "a child's value",
    "initialiser",
    "class of a child",
    "member",
    "named member",
    "option",
    "chosen argument",
    "value",
    "value of a parameter",
    "a base",
    "a base of a module",
)
"""Positions in which a name or a call is taken for a plain value. If it turns out to be a string, a specifier or no class, the
class statement explains what to write, or refuses it."""


@cache
def _all(name: str) -> tuple[Spelling, ...]:
    make, step = SETS[name]
    return tuple(make())[::step]


def broken(spellings: tuple[Spelling, ...], folder: Path) -> dict[str, str]:
    """How the law is broken, without what is explained where the text has to assume something."""
    found = all_broken(spellings, folder)
    return {name: problem for name, problem in found.items() if not (_is_explained(name, problem))}


def _is_explained(name: str, problem: str) -> bool:
    """Whether the text cannot tell, and the class statement says what is wrong."""
    if name.partition(":")[0] in ASSUMED:
        return problem.startswith(("explained: ", "the class statement refuses"))
    is_computed = "'a call'" in name or re.search(r": field\(.*, \['", name) is not None
    return is_computed and problem.startswith("the class statement refuses")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SETS)
def test_the_readers_agree_or_say_why_not(name: str, part: int, tmp_path: Path) -> None:
    spellings = _all(name)[part::PARTS]
    assert len(spellings) > 20
    assert broken(spellings, tmp_path) == {}


@given(
    type=st.sampled_from(sorted(annotated.TYPES.values())),
    ways=st.lists(st.sampled_from(sorted(annotated.WAYS)), max_size=4),
    quote=st.sampled_from(sorted(annotated.QUOTES)),
    position=st.sampled_from(sorted(annotated.POSITIONS)),
)
@settings(max_examples=40 if EVERY > 1 else 3000, derandomize=EVERY > 1, database=None)
def test_the_readers_agree_on_ways_in_ways(
    tmp_path_factory: pytest.TempPathFactory, type: str, ways: list[str], quote: str, position: str
) -> None:
    piece = Piece(type)
    for way in ways:
        piece = annotated.WAYS[way](piece)
    piece = annotated.QUOTES[quote](piece)
    made = spelling(f"{position}: {type}, {ways}, {quote}", piece, annotated.POSITIONS[position])
    assert broken((made,), tmp_path_factory.mktemp("spelled")) == {}


@given(
    value=st.sampled_from(sorted({**values.NUMBERS, **values.STRINGS, **values.OTHERS}.values())),
    ways=st.lists(st.sampled_from(sorted(values.WAYS)), max_size=4),
    position=st.sampled_from(sorted(values.BODIES)),
)
@settings(max_examples=40 if EVERY > 1 else 3000, derandomize=EVERY > 1, database=None)
def test_the_readers_agree_on_values_in_ways(
    tmp_path_factory: pytest.TempPathFactory, value: str, ways: list[str], position: str
) -> None:
    piece = Piece(value)
    for way in ways:
        piece = values.WAYS[way](piece)
    made = spelling(f"{position}: {value}, {ways}", piece, values.BODIES[position])
    assert broken((made,), tmp_path_factory.mktemp("spelled")) == {}
