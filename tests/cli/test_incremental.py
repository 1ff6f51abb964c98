"""A run after edits gives what a run from nothing gives: files, findings with their positions, and the exit status."""

from pathlib import Path
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qten_gen.project import cache
from tests.generate.random_projects import Project, edits, projects

from .test_run_laws import folder, outputs, run, write

law = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Edits = list[tuple[str, str | None]]


def findings() -> tuple[int, list[str]]:
    """The exit status of a run, and what it prints without the summary."""
    status, text = run(".")
    return status, text.splitlines()[:-1]


def apply(root: Path, changes: Edits) -> None:
    for path, text in changes:
        if text is None:
            (root / path).unlink(missing_ok=True)
        else:
            write(root, {path: text})


@law
@given(projects(), st.lists(edits(), min_size=1, max_size=4), st.sampled_from(["", None]))
def test_a_run_after_edits_gives_what_a_run_from_nothing_gives(
    project: Project, steps: list[Edits], settings_text: str | None
) -> None:
    check_that_edits_change_nothing_else(project, steps, settings_text)


@law
@given(projects(), st.lists(edits(), min_size=1, max_size=4), st.sampled_from(["", None]))
def test_a_run_that_remembers_the_last_one_gives_it_too(
    project: Project, steps: list[Edits], settings_text: str | None
) -> None:
    with patch.object(cache, "COARSE_CLOCK", -(10**18)):  # nothing counts as just changed
        check_that_edits_change_nothing_else(project, steps, settings_text)


def check_that_edits_change_nothing_else(project: Project, steps: list[Edits], settings_text: str | None) -> None:
    with folder(project, settings_text) as root:
        run(".")
        run(".")
        for changes in steps:
            apply(root, changes)
            now = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py*") if path.is_file()}
            with folder(now, settings_text) as other:
                expected = findings()
                written = outputs(other)
            assert findings() == expected
            assert outputs(root) == written
            assert findings() == expected
            assert outputs(root) == written
