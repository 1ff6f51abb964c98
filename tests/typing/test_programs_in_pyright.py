"""What pyright says about the programs, of which it reads all of torch first."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.generated_sources import generated_sources
from tests.typing.marked_programs import HERE, disagreements, run


@pytest.mark.long(16)
def test_pyright_reports_what_the_programs_say() -> None:
    generated_sources()
    project = f"--project={HERE / 'pyrightconfig.json'}"
    output = run("pyright", project, f"--pythonpath={sys.executable}", "--outputjson")
    found = disagreements(
        "pyright",
        {
            (Path(report["file"]).name, report["range"]["start"]["line"] + 1): report["message"]
            for report in json.loads(output)["generalDiagnostics"]
            if report["severity"] == "error"
        },
    )
    assert not found, "\n".join(found)
