"""What pyright says about the programs, of which it reads all of torch first."""

from __future__ import annotations

import pytest

from tests.generated_sources import generated_sources
from tests.typing import checked_folders
from tests.typing.marked_programs import HERE, PROGRAMS, disagreements, programs


@pytest.mark.long(16)
def test_pyright_reports_what_the_programs_say() -> None:
    generated_sources()
    programs()
    found = disagreements("pyright", checked_folders.pyright(PROGRAMS, project=HERE / "pyrightconfig.json"))
    assert not found, "\n".join(found)
