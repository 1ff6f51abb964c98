"""What reads a project as text runs no line of it, whatever its files are called."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import BATCH

NAMES = "json ast jinja2 tomllib libcst torch typing dataclasses filelock hashlib sitecustomize conftest model".split()
COMMANDS = ["--verbose", "check", "adopt --write"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_of_a_project_is_run(tmp_path: Path, command: str) -> None:
    mark = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(mark + BATCH, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.qten-gen]\nsource-roots = ["."]\n', encoding="utf-8")
    paths = [] if command == "init" else ["model.py"]
    script = Path(sys.executable).with_name("qten-gen")
    subprocess.run([script, *command.split(), *paths], cwd=tmp_path, capture_output=True, check=False)
    assert not (tmp_path / "ran").exists()
