"""The command in an empty folder, with nothing of the surroundings showing through."""

from pathlib import Path

import pytest

from .command import Command


@pytest.fixture
def qten_gen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(tmp_path)
