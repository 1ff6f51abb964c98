"""A run after edits gives what a run from nothing gives: files, findings with their positions, and the exit status."""

import random
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qten_gen.project import cache
from tests.generate.random_projects import Project, edits, projects
from tests.project import histories
from tests.project.histories import PROJECT, STEPS

from .test_run_laws import folder, outputs, run, write

law = settings(max_examples=25)

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
@given(projects(), st.lists(edits(), min_size=1, max_size=4), st.sampled_from(["", None]), st.booleans())
def test_a_run_after_edits_gives_what_a_run_from_nothing_gives(
    project: Project, steps: list[Edits], settings_text: str | None, counts_at_once: bool
) -> None:
    # Either nothing counts as just changed, or all does.
    with patch.object(cache, "COARSE_CLOCK", -(10**18) if counts_at_once else cache.COARSE_CLOCK):
        check_that_edits_change_nothing_else(project, steps, settings_text)


@pytest.mark.parametrize("seed", [*range(4)])
def test_comments_that_suppress_are_seen_by_the_next_run(seed: int) -> None:
    with patch.object(histories, "TWEAKS", histories.COMMENTS):
        test_a_run_gives_what_a_run_from_nothing_gives_whatever_has_happened_before(seed)


@pytest.mark.parametrize("seed", [*range(8), 175, 340, 411])
def test_a_run_gives_what_a_run_from_nothing_gives_whatever_has_happened_before(seed: int) -> None:
    chosen = random.Random(seed)
    with patch.object(cache, "COARSE_CLOCK", -(10**18)), folder(PROJECT) as root:
        for _ in range(10):
            for step in chosen.sample(STEPS, chosen.randint(1, 2)):
                step(chosen)
            now = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py*") if path.is_file()}
            with folder(now, (root / "pyproject.toml").read_text()) as other:
                expected = [(findings(), outputs(other)) for _ in range(2)]
            assert expected[1][1] == expected[0][1], "a second run writes nothing"
            assert [(findings(), outputs(root)) for _ in range(2)] == expected


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
