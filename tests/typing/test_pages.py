"""Every Python block of the README and of docs/ is what type checkers accept, and what `tests/pages` runs.

An error that a page shows, in a block with the output of mypy, has to be there; no other may be.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from qten_gen.cli.command import main
from tests.pages.carried_out import PAGES, blocks
from tests.typing import checked_folders
from tests.typing.checked_folders import PATHS, Reports
from tests.typing.pages import package, write_pages

Line = tuple[str, int]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of all pages, generated."""
    root = tmp_path_factory.mktemp("pages")
    write_pages(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["--quiet"]) == 0
    return root


def shown() -> set[Line]:
    """The lines of files that a page shows errors of."""
    found = set()
    for page in PAGES:
        for block in blocks(page):
            if block.language == "console":
                for path, line in re.findall(r"^([\w/]+\.py):(\d+): error: .* \[[\w-]+\]$", block.text, re.MULTILINE):
                    found.add((f"{package(page)}/{path}", int(line)))
    return found


def disagreements(reported: Reports) -> list[str]:
    return [
        *(f"{path}:{line}: {message}" for (path, line), message in reported.items() if (path, line) not in shown()),
        *(f"{path}:{line}: the page shows an error" for path, line in sorted(shown() - reported.keys())),
    ]


@pytest.mark.xdist_group("mypy")
def test_mypy_accepts_every_block(project: Path) -> None:
    reported = checked_folders.mypy(project, (str(project), *PATHS), "--explicit-package-bases", ".")
    assert disagreements(reported) == []


@pytest.mark.long(30)
def test_pyright_accepts_every_block(project: Path) -> None:
    assert disagreements(checked_folders.pyright(project)) == []


def test_the_blocks_of_all_pages_are_checked(project: Path) -> None:
    written = Counter(path.relative_to(project).parts[0] for path in project.rglob("*.py"))
    with_blocks = {package(page) for page in PAGES if any(b.language in {"python", "pycon"} for b in blocks(page))}
    assert {name for name in written if name.startswith("page_")} == with_blocks
