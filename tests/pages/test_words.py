"""How many words the pages may have. A row is changed in a commit that says why."""

from __future__ import annotations

import pytest

from tests.pages.carried_out import REPOSITORY

WORDS = {
    "README.md": 770,
    "CONTRIBUTING.md": 1_280,
    "docs/architecture.md": 1_260,
    "docs/evidence.md": 1_410,
    "docs/performance.md": 810,
    "docs/rules.md": 1_520,
    "docs/typing.md": 970,
    "docs/why.md": 780,
}
OF_A_PAGE = 2_900
"""Any other page."""

OF_ALL = 36_500
OF_ROOMS = 6_600
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
