"""A run after edits gives what a run from nothing gives: files, findings with their positions, and the exit status."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
@given(projects(), st.lists(edits(), min_size=1, max_size=4))
def test_a_run_after_edits_gives_what_a_run_from_nothing_gives(project: Project, steps: list[Edits]) -> None:
    with folder(project) as root:
        run(".")
        for changes in steps:
            apply(root, changes)
            now = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py*") if path.is_file()}
            with folder(now) as other:
                expected = findings()
                written = outputs(other)
            assert findings() == expected
            assert outputs(root) == written
            assert findings() == expected
            assert outputs(root) == written
