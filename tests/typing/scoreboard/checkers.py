"""The four checkers: what each reports for the programs, by file and line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.editor.language_server import program
from tests.generated_sources import FOLDER

REPOSITORY = Path(__file__).parents[3]
PATHS = [str(FOLDER), str(REPOSITORY / "stubs"), str(REPOSITORY)]

Reports = dict[tuple[str, int], str]
"""The first message for each line that has an error, by the name of the file and the line."""


def _run(folder: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy(folder: Path) -> Reports:
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=")
    cache = f"--cache-dir={REPOSITORY / '.mypy_cache'}"
    output = _run(folder, sys.executable, "-m", "mypy", *options, cache, ".", MYPYPATH=os.pathsep.join(PATHS))
    reports = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return _first((one["file"], one["line"], one["message"]) for one in reports if one["severity"] == "error")


def pyright(folder: Path) -> Reports:
    settings = {"extraPaths": PATHS, "pythonVersion": "3.11", "reportUnusedExpression": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    output = _run(folder, sys.executable, "-m", "pyright", f"--pythonpath={sys.executable}", "--outputjson")
    return _first(
        (one["file"], one["range"]["start"]["line"] + 1, one["message"])
        for one in json.loads(output)["generalDiagnostics"]
        if one["severity"] == "error"
    )


def pyrefly(folder: Path) -> Reports:
    # Where a folder has no settings of pyrefly, it checks little.
    options = ["--preset=default", *(f"--search-path={path}" for path in PATHS)]
    interpreter = f"--python-interpreter-path={sys.executable}"
    output = _run(folder, program("pyrefly"), "check", *options, interpreter, "--output-format=json", *_files(folder))
    return _first(
        (one["path"], one["line"], one["description"])
        for one in json.loads(output)["errors"]
        if one.get("severity", "error") == "error"
    )


def ty(folder: Path) -> Reports:
    paths = [option for path in PATHS for option in ("--extra-search-path", path)]
    options = ("--python", sys.prefix, "--python-version", "3.11", "--output-format", "concise")
    output = _run(folder, program("ty"), "check", *options, *paths, *_files(folder))
    found = re.findall(r"^(\S+\.py):(\d+):\d+: error\S* (.*)$", output, flags=re.MULTILINE)
    return _first((file, int(line), message) for file, line, message in found)


CHECKERS: dict[str, Callable[[Path], Reports]] = {"mypy": mypy, "pyright": pyright, "pyrefly": pyrefly, "ty": ty}


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.py"))


def _first(reports: object) -> Reports:
    found: Reports = {}
    for file, line, message in reports:  # type: ignore[attr-defined] # what each checker's output was parsed to
        found.setdefault((Path(file).name, line), message)
    return found


def versions() -> dict[str, str]:
    """What each checker calls its version."""
    commands = {
        "mypy": [sys.executable, "-m", "mypy", "--version"],
        "pyright": [sys.executable, "-m", "pyright", "--version"],
        "pyrefly": [program("pyrefly"), "--version"],
        "ty": [program("ty"), "--version"],
    }
    return {name: re.findall(r"\d+\.\d+\.\d+", _run(REPOSITORY, *command))[0] for name, command in commands.items()}
