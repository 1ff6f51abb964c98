"""What holds for every file of the repository: it is fresh and finished.

`make lint types` says that it is formatted and typed, `tests/architecture` that it stands in its room.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import qten_gen

REPOSITORY = Path(__file__).parents[1]

FOLDERS = {
    ".ci",
    ".github",
    "benchmarks",
    "changelog.d",
    "docs",
    "examples",
    "qten_gen",
    "recipe",
    "stubs",
    "templates",
    "tests",
}

LEFT_OVER = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b|(?<![\w.])/(?:home|root|opt|Users)/")
"""What nobody should find here: loose ends, and paths of somebody's machine."""


def written(*suffixes: str) -> Iterator[Path]:
    """The files of the repository that a person writes."""
    top = [path for path in REPOSITORY.iterdir() if path.is_file() or path.name in FOLDERS]
    for path in sorted(file for entry in top for file in (entry.rglob("*") if entry.is_dir() else [entry])):
        if path.suffix in suffixes and not re.search(r"_qten\.pyi?$", path.name) and path.is_file():
            yield path


@pytest.mark.xdist_group("mypy")
def test_tests_of_one_group_are_given_to_one_worker(request: pytest.FixtureRequest) -> None:
    assert "PYTEST_XDIST_WORKER" not in os.environ or request.node.nodeid.endswith("@mypy")


def test_every_test_that_takes_long_exists() -> None:
    # With several workers, pytest says nothing of a test that it does not find.
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    long = re.findall(r"([\w/]+\.py)::(\w+)", makefile)
    texts = {file: (REPOSITORY / "tests" / file).read_text(encoding="utf-8") for file, _ in long}
    assert long and [f"{file}::{test}" for file, test in long if f"def {test}(" not in texts[file]] == []


def test_generated_files_are_fresh() -> None:
    done = subprocess.run([sys.executable, "-m", "qten_gen", "--check"], cwd=REPOSITORY, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_extension_has_the_version_of_the_package() -> None:
    extension = REPOSITORY / "editors" / "vscode"
    files = [
        json.loads((extension / name).read_text(encoding="utf-8")) for name in ("package.json", "package-lock.json")
    ]
    assert {file["version"] for file in files} == {qten_gen.__version__}


def test_nothing_is_left_over() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path in written(".py", ".pyi", ".j2", ".md", ".toml", "")
        for text in [path.read_text(encoding="utf-8")]
        for match in LEFT_OVER.finditer(text)
    ]
    assert found == []


def test_the_reference_of_the_site_has_every_public_name() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((REPOSITORY / "docs/reference").glob("*.md")))
    described = re.findall(r"^\.\. auto\w+:: (\w+)$", pages, re.MULTILINE)
    assert sorted(described) == sorted(qten_gen.__all__)


def test_every_page_is_in_the_contents_of_the_site() -> None:
    listed = re.findall(r"^([\w/-]+)$", (REPOSITORY / "docs/index.md").read_text(encoding="utf-8"), re.MULTILINE)
    docs = REPOSITORY / "docs"
    pages = {str(page.relative_to(docs).with_suffix("")) for page in docs.rglob("*.md")} - {"index"}
    assert sorted(listed) == sorted(pages)


def test_the_hosted_workflow_runs_targets_that_exist() -> None:
    workflow = (REPOSITORY / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    targets = re.findall(r"^([\w%.-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    run = re.findall(r"make ([\w.-]+)(?:\$\{\{ matrix\.(\w+) \}\}([\w-]*))?", workflow)
    values = {name: re.findall(r"[\w.]+", row) for name, row in re.findall(r"(\w+): \[(.*)\]", workflow)}
    called = {f"{start}{value}{end}" for start, name, end in run for value in (values[name] if name else [""])}
    assert called >= {"test-python-3.14", "test-oldest-torch", "test-newest-torch"}
    assert [name for name in called if name not in targets and re.sub(r"[\d.]+$", "%", name) not in targets] == []
    assert "bash .ci/run" in workflow


def test_an_entry_of_the_changelog_has_a_kind_and_says_something() -> None:
    folder = REPOSITORY / "changelog.d"
    kinds = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]["fragment"]
    entries = [path for path in folder.iterdir() if path.name not in ("README.md", "template.md.j2")]
    named = [path.name for path in entries if not re.fullmatch(rf"[\w-]+\.(?:{'|'.join(kinds)})\.md", path.name)]
    assert named == []
    assert [path.name for path in entries if not path.read_text(encoding="utf-8").strip()] == []
