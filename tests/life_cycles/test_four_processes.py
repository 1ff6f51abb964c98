"""The life cycles of several processes, with four."""

from __future__ import annotations

from pathlib import Path

from .test_matrix import failures, in_processes


@in_processes
def test_everything_holds_in_each_of_four_processes(tmp_path: Path) -> None:
    found = failures(4, tmp_path)
    assert not found, "\n".join(found.values())
