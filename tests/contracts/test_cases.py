"""Every folder in `cases/`: what plain torch says of a mistake, and what qten-gen says."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

CASES = sorted(path.parent.name for path in (Path(__file__).parent / "cases").glob("*/case.py"))


def said(run: Callable[[], str | None]) -> str:
    """What a function returns, or the message of the error that it raises."""
    try:
        return run() or ""
    except Exception as error:
        return str(error)


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_said(name: str) -> None:
    case = import_module(f"tests.contracts.cases.{name}.case")
    assert (said(case.plain), said(case.ours)) == (case.PLAIN, case.OURS)
