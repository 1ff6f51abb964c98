"""What four type checkers report for a folder of programs with generated files, against the marks `# E` in their lines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.editor.language_server import program

REPOSITORY = Path(__file__).parents[2]
PATHS = (str(REPOSITORY), str(REPOSITORY / "stubs"))

Reports = dict[tuple[str, int], str]
"""The last message for each line that has an error, by the path of the file in the folder and the line."""


def disagreements(folder: Path, reported: Reports) -> list[str]:
    """Where the marks in the programs and the reports of a checker differ."""
    lines = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8").splitlines() for path in folder.glob("*/*.py*")
    }
    wanted = {
        (name, number)
        for name, text in lines.items()
        for number, line in enumerate(text, start=1)
        if line.endswith("# E")
    }
    return [
        *(
            f"{name}:{number}: not reported: {lines[name][number - 1]}"
            for name, number in sorted(wanted - set(reported))
        ),
        *(
            f"{name}:{number}: {message}: {lines[name][number - 1]}"
            for (name, number), message in reported.items()
            if (name, number) not in wanted
        ),
    ]


def mypy(folder: Path, paths: Sequence[str] = PATHS, *arguments: str, reveals: bool = False) -> Reports:
    """What mypy reports of the folder, or of the files that are named; with the types that it reveals."""
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=")
    cache = f"--cache-dir={REPOSITORY / '.mypy_cache'}"
    command = (sys.executable, "-m", "mypy", *options, cache, *(arguments or (".",)))
    output = _run(folder, *command, MYPYPATH=os.pathsep.join(paths))
    reports = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(item["file"], item["line"]): item["message"] for item in reports if item["severity"] == "error" or reveals}


def pyright(
    folder: Path,
    paths: Sequence[str] = PATHS,
    project: Path | None = None,
    reveals: bool = False,
    **settings: object,
) -> Reports:
    """What pyright reports of the folder, or of the project of a file of settings. It is strict with generated stubs."""
    if project is None:
        project = folder / "pyrightconfig.json"
        given = {
            "extraPaths": list(paths),
            "exclude": ["**/*_qten.py"],
            "strict": ["**/*_qten.pyi"],
            "pythonVersion": "3.11",
            "reportUnusedExpression": False,
            "typeCheckingMode": "standard",
        }
        project.write_text(json.dumps(given | settings), encoding="utf-8")
    command = (
        sys.executable,
        "-m",
        "pyright",
        f"--project={project}",
        f"--pythonpath={sys.executable}",
        "--outputjson",
    )
    return {
        (os.path.relpath(item["file"], folder), item["range"]["start"]["line"] + 1): item["message"]
        for item in json.loads(_run(folder, *command))["generalDiagnostics"]
        if item["severity"] == "error" or reveals
    }


def pyrefly(folder: Path, paths: Sequence[str] = PATHS) -> Reports:
    # Where a folder has no settings of pyrefly, it checks little.
    options = ["--preset=default", *(f"--search-path={path}" for path in (".", *paths))]
    interpreter = f"--python-interpreter-path={sys.executable}"
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py") if not path.stem.endswith("_qten"))
    output = _run(folder, program("pyrefly"), "check", *options, interpreter, "--output-format=json", *files)
    return {
        (os.path.relpath(folder / item["path"], folder), item["line"]): item["description"]
        for item in json.loads(output)["errors"]
        if item.get("severity", "error") == "error"
    }


def ty(folder: Path, paths: Sequence[str] = PATHS) -> Reports:
    searched = [option for path in paths for option in ("--extra-search-path", path)]
    options = ("--python", sys.prefix, "--python-version", "3.11", "--exclude", "*_qten.py")
    output = _run(folder, program("ty"), "check", *options, *searched, "--output-format", "concise")
    found = re.findall(r"^(\S+\.py):(\d+):\d+: error\S* (.*)$", output, flags=re.MULTILINE)
    return {(file, int(line)): message for file, line, message in found}


CHECKERS: dict[str, Callable[[Path, Sequence[str]], Reports]] = {
    "mypy": mypy,
    "pyright": pyright,
    "pyrefly": pyrefly,
    "ty": ty,
}


def versions() -> dict[str, str]:
    """What each checker calls its version."""
    commands = {
        "mypy": [sys.executable, "-m", "mypy", "--version"],
        "pyright": [sys.executable, "-m", "pyright", "--version"],
        "pyrefly": [program("pyrefly"), "--version"],
        "ty": [program("ty"), "--version"],
    }
    return {name: re.findall(r"\d+\.\d+\.\d+", _run(REPOSITORY, *command))[0] for name, command in commands.items()}


def _run(folder: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
