"""Projects of a file or two, with what is generated for them and what is printed, as a reviewer reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .golden import FOLDERS, expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_run_writes_and_prints_what_is_expected(folder: Path) -> None:
    """After a change that is meant, `python -m tests.generate.golden` writes what is expected anew."""
    assert expected(folder) == {path.name: path.read_text() for path in folder.glob("*.txt")}
