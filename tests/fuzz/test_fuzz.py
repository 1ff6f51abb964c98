"""A sample of random projects. A long run: `make fuzz SECONDS=600`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.generate.hostile import assert_only_declares

from .checkers import Project, wrong
from .grammar import project, with_hostile_text
from .laws import check, planned

LAWS = range(20)
"""The numbers of the projects that are generated, run and built in memory."""
CHECKED = range(1000, 1016)
"""The numbers of the projects that type checkers see, all in one run of each."""


@pytest.mark.parametrize("seed", LAWS)
def test_a_random_project_keeps_the_laws(seed: int, tmp_path: Path) -> None:
    check(project(seed), tmp_path)


def test_the_sample_has_sound_projects_and_refused_ones() -> None:
    refused = [any(item.is_error for item in planned(project(seed)).diagnostics) for seed in LAWS]
    assert 2 <= sum(refused) <= len(refused) // 2


@pytest.mark.parametrize("seed", range(6))
def test_a_hostile_text_anywhere_is_refused_or_stays_a_string(seed: int) -> None:
    random = Random(seed)
    for number in range(seed * 30, seed * 30 + 30):
        assert_only_declares(planned(with_hostile_text(project(number), random)))


@pytest.mark.xdist_group("mypy")
def test_checkers_accept_what_is_generated_for_random_projects(tmp_path: Path) -> None:
    projects: dict[int, Project] = {}
    for seed in CHECKED:
        sources = project(seed)
        made = planned(sources)
        if not any(item.is_error for item in made.diagnostics):
            projects[seed] = sources, {path: text for path, text in made.outputs.items() if text is not None}
    assert len(projects) > len(CHECKED) // 2
    assert wrong(projects, tmp_path) == {}
