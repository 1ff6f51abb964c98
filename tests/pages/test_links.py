"""Links inside the repository lead to files and headings that exist, and every block of a page ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages.carried_out import PAGES, REPOSITORY


def test_every_block_of_a_page_is_closed() -> None:
    open_pages = [page for page in PAGES if (REPOSITORY / page).read_text(encoding="utf-8").count("\n```") % 2]
    assert open_pages == []


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_every_row_of_a_table_has_the_cells_of_its_heading(page: str) -> None:
    lines = (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
    expected, wrong = 0, []
    for line in lines:
        bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        expected = expected if expected and bars else bars
        wrong += [line] if bars != expected else []
    assert wrong == []


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link from a page leads to a file that exists, and to one of its headings if it names one."""
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    return path.exists() and (not anchor or anchor in headings(path))


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_link_into_the_repository_leads_somewhere(page: str) -> None:
    path = REPOSITORY / page
    links = re.findall(r"\]\(([^):\s]+)\)", path.read_text(encoding="utf-8"))
    assert [target for target in links if not leads_somewhere(path, target)] == []
