"""What mypy says about user code. `test_programs_in_pyright` asks pyright about the same programs."""

from __future__ import annotations

import pytest

from tests.generated_sources import generated_sources
from tests.typing import checked_folders
from tests.typing.marked_programs import OPERATIONS, PROGRAMS, disagreements, programs


@pytest.mark.xdist_group("mypy")
def test_mypy_reports_what_the_programs_say() -> None:
    programs()
    paths = (str(PROGRAMS), str(generated_sources()), *reversed(checked_folders.PATHS))
    found = disagreements("mypy", checked_folders.mypy(PROGRAMS, paths, ".", str(OPERATIONS)))
    assert not found, "\n".join(found)
