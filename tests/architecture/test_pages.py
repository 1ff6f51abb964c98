"""The files that the pages for contributors name exist, and these pages name every room and every file of the runtime."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .imports import PACKAGE, REPOSITORY

FOLDERS = ("changelog.d", "qten_gen", "templates", "tests", "docs", "stubs", "benchmarks", "examples")

OF_A_PROJECT = {"model_qten.py", "model_qten.pyi", "qten_gen/rules/<name>.py", "torch/nn/modules/linear.py"}
"""Files of a user's project, of torch, and one that the reader is to write."""


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_on_the_page_exists(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (REPOSITORY / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`((?:[\w.<>-]+/)*[\w.<>-]*(?:/|\.(?:py|pyi|j2|md|toml)))`", text))
    assert len(named) > 20
    files = [path for folder in FOLDERS for path in (REPOSITORY / folder, *(REPOSITORY / folder).rglob("*"))]
    existing = [f"/{path.relative_to(REPOSITORY).as_posix()}{'/' * path.is_dir()}" for path in files]
    # Not all of it: what npm installs is there too.
    existing += [f"/{path}/" for path in ("editors/vscode", "editors/vscode/src") if (REPOSITORY / path).is_dir()]
    existing += [f"/{path.name}" for path in REPOSITORY.iterdir()]
    lost = {path for path in named if not any(known.endswith(f"/{path}") for known in existing)}
    assert lost <= OF_A_PROJECT


def test_the_first_folder_has_the_pages_of_a_project_and_no_others() -> None:
    pages = {path.name for path in REPOSITORY.iterdir() if path.suffix == ".md"}
    assert pages == {"CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}


def test_every_room_of_the_package_is_in_the_table() -> None:
    table = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = [folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()]
    rooms += [
        f"{owner}/{folder.name}"
        for owner in ("runtime", "large_models", "tools")
        for folder in (PACKAGE / owner).iterdir()
        if (folder / "__init__.py").exists()
    ]
    assert len(rooms) > 12
    assert [room for room in rooms if f"| `{room}/`" not in table] == []


ROOMS = sorted(PACKAGE.rglob("README.md"))


@pytest.mark.parametrize("page", ROOMS, ids=[page.parent.name for page in ROOMS])
def test_the_page_of_a_room_names_every_file_in_it_and_no_other(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    folders = [REPOSITORY / folder for folder in ("qten_gen", "tests")]
    existing = [path.relative_to(REPOSITORY).as_posix() for folder in folders for path in folder.rglob("*.py")]
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", text)
    lost = {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in existing)}
    assert lost <= OF_A_PROJECT
    assert [path.stem for path in page.parent.glob("[!_]*.py") if not re.search(rf"\b{path.stem}\b", text)] == []
