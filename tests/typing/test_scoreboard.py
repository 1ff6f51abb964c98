"""The rows of the scoreboard are true at run time: each expression gives what its type says, and each mistake raises."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.generated_sources import generated_sources
from tests.typing.executed import conforms
from tests.typing.scoreboard.programs import HEADING, PRELUDES, Line, program
from tests.typing.scoreboard.rows import OURS, ROWS

RESULT = Path(__file__).parents[2] / "docs" / "evidence" / "typing-scoreboard.json"

LINES = program(OURS)[1]


@pytest.fixture(scope="module")
def folder() -> str:
    return str(generated_sources())


@pytest.fixture
def names(folder: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What our program has at its top, made anew for each row."""
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        monkeypatch.delitem(sys.modules, name)
    found: dict[str, Any] = {}
    exec(f"{HEADING}{PRELUDES[OURS]}", found)
    return found


@pytest.mark.parametrize("line", LINES, ids=[line.code for line in LINES])
def test_a_row_gives_what_its_type_says_or_raises(line: Line, names: dict[str, Any]) -> None:
    if line.type:
        assert conforms(eval(line.code, names), eval(line.type, names))
    elif line.row.quiet:
        exec(line.code, names)
    else:
        with pytest.raises((AttributeError, KeyError, TypeError, ValueError, RuntimeError)):
            exec(line.code, names)


def test_a_type_is_the_one_of_the_value_and_not_a_wider_one() -> None:
    assert not conforms(torch.nn.Parameter(torch.ones(1)), torch.Tensor)
    assert not conforms((1, "a"), tuple[int, ...])
    assert conforms(None, torch.device | None)
    assert {line.type for line in LINES} - {""} > {"Tensor", "Batch", "nn.Parameter"}


def test_the_result_has_every_row() -> None:
    """`make typing-scoreboard` writes it."""
    text = RESULT.read_text(encoding="utf-8")
    assert list(json.loads(text)["expressions"]) == [row.code for row in ROWS]
    assert "**unknown**" not in text
