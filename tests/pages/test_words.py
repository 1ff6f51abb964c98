"""How many words the pages may have. A row is changed in a commit that says why."""

from __future__ import annotations

import pytest

from tests.pages.carried_out import REPOSITORY

WORDS = {
    "CONTRIBUTING.md": 1_200,
    "docs/adopting.md": 1_850,
    "docs/architecture.md": 1_200,
    "docs/batches.md": 1_020,
    "docs/coming-from.md": 1_190,
    "docs/command.md": 1_360,
    "docs/declarations.md": 2_180,
    "docs/dispatch.md": 890,
    "docs/evidence.md": 1_390,
    "docs/large-models.md": 1_750,
    "docs/life-cycles.md": 1_090,
    "docs/module.md": 2_110,
    "docs/operations.md": 1_230,
    "docs/performance.md": 760,
    "docs/processes.md": 770,
    "docs/qten-style.md": 740,
    "docs/ragged.md": 1_030,
    "docs/rules.md": 1_480,
    "docs/saving.md": 960,
    "docs/serving.md": 920,
    "docs/tutorial.md": 1_090,
    "docs/typing.md": 1_000,
    "docs/why.md": 790,
}
OF_A_PAGE = 700
"""Any other page."""

OF_ALL = 30_000
OF_ROOMS = 5_000
"""The READMEs of rooms."""


def words(page: str) -> int:
    return len((REPOSITORY / page).read_text(encoding="utf-8").split())


PAGES = [
    *(path.name for path in REPOSITORY.glob("*.md")),
    *(path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_not_outgrow_its_words(page: str) -> None:
    assert words(page) <= WORDS.get(page, OF_A_PAGE)


def test_the_pages_do_not_outgrow_their_words() -> None:
    assert sum(words(page) for page in PAGES) <= OF_ALL
    rooms = (path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "qten_gen").rglob("README.md"))
    assert sum(map(words, rooms)) <= OF_ROOMS
