"""Every Python block of the README and of docs/ is what type checkers accept, and what `tests/pages` runs.

An error that a page shows, in a block with the output of mypy, has to be there; no other may be.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from qten_gen.cli.command import main
from tests.pages.carried_out import blocks
from tests.typing.pages import PAGES, package, write_pages

REPOSITORY = Path(__file__).parents[2]
STUBS = (str(REPOSITORY), str(REPOSITORY / "stubs"))

OPTIONS = ("--strict", "--python-version=3.11", "--output=json", "--config-file=", "--explicit-package-bases")

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


def relative(path: str, root: Path) -> str:
    return str(Path(path).relative_to(root)) if Path(path).is_absolute() else path


def disagreements(reported: dict[Line, str]) -> list[str]:
    return [
        *(f"{path}:{line}: {message}" for (path, line), message in reported.items() if (path, line) not in shown()),
        *(f"{path}:{line}: the page shows an error" for path, line in sorted(shown() - reported.keys())),
    ]


@pytest.mark.xdist_group("mypy")
def test_mypy_accepts_every_block(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS, f"--cache-dir={REPOSITORY / '.mypy_cache'}", "."],
        cwd=project,
        env=os.environ | {"MYPYPATH": os.pathsep.join((str(project), *STUBS))},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    errors = {(r["file"], r["line"]): r["message"] for r in reports if r["severity"] == "error"}
    assert disagreements(errors) == []


@pytest.mark.long(30)
def test_pyright_accepts_every_block(project: Path) -> None:
    settings = {
        "include": ["."],
        "exclude": ["**/*_qten.py"],
        "extraPaths": list(STUBS),
        "pythonVersion": "3.11",
        "reportUnusedExpression": False,
    }
    (project / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    reports = [r for r in json.loads(done.stdout)["generalDiagnostics"] if r["severity"] == "error"]
    errors = {(relative(r["file"], project), r["range"]["start"]["line"] + 1): r["message"] for r in reports}
    assert disagreements(errors) == []


def test_the_blocks_of_all_pages_are_checked(project: Path) -> None:
    written = Counter(path.relative_to(project).parts[0] for path in project.rglob("*.py"))
    with_blocks = {package(page) for page in PAGES if any(b.language in {"python", "pycon"} for b in blocks(page))}
    assert {name for name in written if name.startswith("page_")} == with_blocks
