"""What an analysis of a project finds, without a server around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qten_gen.tools.lsp.analysis import Analysis
from tests.command import BATCH, BROKEN


def test_a_source_that_changes_to_and_fro_during_an_analysis_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when branches are switched: the file is read twice, for its digest and for its text, which are of two branches."""
    (tmp_path / "pyproject.toml").touch()
    source = tmp_path / "model.py"
    source.write_text(BATCH, encoding="utf-8")
    analysis = Analysis(str(tmp_path))
    assert analysis.findings({}).diagnostics == {}

    source.write_text(BROKEN, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr("qten_gen.project.source_texts.read_regular", lambda _: BATCH.encode())
        analysis.findings({})

    assert [item.code for item in analysis.findings({}).diagnostics[str(source)]] == ["QG104"]
