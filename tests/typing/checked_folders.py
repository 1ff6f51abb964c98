"""What mypy, pyright and ty report for a folder of packages with generated files, against the marks `# E` in their lines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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


def mypy(folder: Path) -> Reports:
    options = ("--strict", "--python-version=3.11", "--output=json", "--config-file=")
    cache = f"--cache-dir={REPOSITORY / '.mypy_cache'}"
    output = _run(folder, sys.executable, "-m", "mypy", *options, cache, ".", MYPYPATH=os.pathsep.join(PATHS))
    reports = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(item["file"], item["line"]): item["message"] for item in reports if item["severity"] == "error"}


def pyright(folder: Path, mode: str = "standard") -> Reports:
    settings = {
        "extraPaths": list(PATHS),
        "exclude": ["**/*_qten.py"],
        "reportUnusedExpression": False,
        "typeCheckingMode": mode,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    output = _run(folder, sys.executable, "-m", "pyright", f"--pythonpath={sys.executable}", "--outputjson")
    return {
        (os.path.relpath(item["file"], folder), item["range"]["start"]["line"] + 1): item["message"]
        for item in json.loads(output)["generalDiagnostics"]
        if item["severity"] == "error"
    }


def ty(folder: Path) -> Reports:
    paths = [option for path in PATHS for option in ("--extra-search-path", path)]
    options = ("--python", sys.prefix, "--python-version", "3.11", "--exclude", "*_qten.py")
    output = _run(folder, program("ty"), "check", *options, *paths, "--output-format", "concise")
    found = re.findall(r"^(\S+\.py):(\d+):\d+: error\S* (.*)$", output, flags=re.MULTILINE)
    return {(file, int(line)): message for file, line, message in found}


def _run(folder: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
