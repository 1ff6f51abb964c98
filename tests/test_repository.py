"""What holds for every file of the repository: it is formatted, typed, fresh, short, and imports in one direction."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

FOLDERS = {".ci", "benchmarks", "docs", "examples", "qten_gen", "stubs", "templates", "tests"}

WRITTEN_LINES = 450
"""How long a file that a person writes may be."""

LEFT_OVER = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b|(?<![\w.])/(?:home|root|opt|Users)/")
"""What nobody should find here: loose ends, and paths of somebody's machine."""


def run(*arguments: str) -> None:
    """A tool of this environment accepts the repository."""
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=REPOSITORY, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def written(*suffixes: str) -> Iterator[Path]:
    """The files of the repository that a person writes."""
    top = [path for path in REPOSITORY.iterdir() if path.is_file() or path.name in FOLDERS]
    for path in sorted(file for entry in top for file in (entry.rglob("*") if entry.is_dir() else [entry])):
        if path.is_file() and path.suffix in suffixes and not re.search(r"_qten\.pyi?$", path.name):
            yield path


def test_ruff_finds_nothing() -> None:
    run("ruff", "check")


def test_every_file_is_formatted() -> None:
    run("ruff", "format", "--check")


def test_mypy_accepts_every_file() -> None:
    run("mypy")


def test_pyright_accepts_every_file() -> None:
    run("pyright", "--pythonpath", sys.executable)


def test_generated_files_are_fresh() -> None:
    run("qten_gen", "--check")


def test_no_file_is_too_long_to_read() -> None:
    lengths = {
        str(path.relative_to(REPOSITORY)): len(path.read_bytes().splitlines()) for path in written(".py", ".pyi", ".j2")
    }
    assert {path: lines for path, lines in lengths.items() if lines > WRITTEN_LINES} == {}


def test_nothing_is_left_over() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in written(".py", ".pyi", ".j2", ".md", ".toml", "")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if LEFT_OVER.search(line)
    ]
    assert found == []


def imports(path: Path) -> set[str]:
    """The modules that a file imports when it is imported itself, as dotted names; those under TYPE_CHECKING are left out."""
    package = path.relative_to(REPOSITORY).with_suffix("").parts[:-1]
    names: set[str] = set()
    statements: list[ast.stmt] = list(ast.parse(path.read_bytes()).body)
    while statements:
        match statements.pop():
            case ast.Import(names=aliases):
                names.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = (
                    ".".join([*package[: len(package) + 1 - level], *([module] if module else [])])
                    if level
                    else module or ""
                )
                names.update(f"{base}.{alias.name}" for alias in aliases)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=other):
                statements += other
            case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
                statements += [*body, *other]
            case ast.ClassDef(body=body):
                statements += body
    return names


def importers(folder: str, forbidden: str) -> list[str]:
    """Files of a folder that import, at module level, a module whose name matches."""
    return [
        f"{path.relative_to(REPOSITORY)} imports {name}"
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for name in sorted(imports(path))
        if re.match(rf"(?:{forbidden})(?:\.|$)", name)
    ]


def test_the_runtime_imports_nothing_of_the_generator() -> None:
    generator = "cli|config|emit|files|in_memory|link|manifest|plan|read|reflection|render|report|rules|run"
    assert importers("qten_gen/runtime", rf"qten_gen\.(?:{generator})|libcst|jinja2") == []


def test_only_the_runtime_imports_torch() -> None:
    found = {importer.split("/")[1] for importer in importers("qten_gen", "torch")}
    assert found == {"runtime"}


def test_the_declaration_model_imports_nothing_of_ours() -> None:
    assert importers("qten_gen/model", r"qten_gen\.(?!model)\w+") == []


@pytest.mark.parametrize(("package", "home"), [("jinja2", "render.py"), ("libcst", "read")])
def test_a_heavy_package_is_imported_in_one_place(package: str, home: str) -> None:
    found = {importer.partition(" ")[0].split("/")[1] for importer in importers("qten_gen", package)}
    assert found == {home}
