"""What an analysis of a project finds, without a server around it."""

from __future__ import annotations

import random
from pathlib import Path
from unittest.mock import patch

import pytest

from qten_gen.project import cache
from qten_gen.tools.lsp.analysis import Analysis
from tests.cli.test_run_laws import folder
from tests.command import BATCH, BROKEN
from tests.project.histories import PROJECT, STEPS, TWEAKS


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
        patch.setattr("qten_gen.project.files.read_regular", lambda _: BATCH.encode())
        analysis.findings({})

    assert [item.code for item in analysis.findings({}).diagnostics[str(source)]] == ["QG104"]


@pytest.mark.parametrize("seed", range(8))
def test_an_analysis_finds_what_one_from_nothing_finds_whatever_has_happened_since_the_last(seed: int) -> None:
    chosen = random.Random(seed)
    with patch.object(cache, "COARSE_CLOCK", -(10**18)), folder(PROJECT) as root:
        analysis, texts = Analysis(str(root)), dict[str, bytes]()
        for _ in range(12):
            for path in chosen.sample(sorted(PROJECT), 2):
                text = PROJECT[path].replace(*chosen.choice(TWEAKS))
                texts[str(root / path)] = (text if chosen.random() < 0.8 else text[:-9]).encode()
            for path in [path for path in texts if chosen.random() < 0.3]:
                del texts[path]
            if chosen.random() < 0.3:
                chosen.choice(STEPS)(chosen)
            assert analysis.findings(texts) == Analysis(str(root)).findings(texts)
