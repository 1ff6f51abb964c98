"""Completion in shells, which shtab makes from the parser of all commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import shtab

from qten_gen.cli import COMMANDS
from qten_gen.cli.parser import completion as parser

SCRIPT = """
source completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(( $# - 1 ))
_shtab_qten_gen qten-gen "${COMP_WORDS[$COMP_CWORD]}"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["che"], "check"),
        (["--ch"], "--check"),
        (["check", "--output-format", "j"], "json"),
        (["check", "sou"], "sources"),
        (["--baseline", "sou"], "sources"),
        (["lock", "--l"], "--load"),
    ],
    ids=str,
)
def test_bash_completes_commands_options_choices_and_paths(typed: list[str], completed: str, tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    script = shtab.complete(parser(), "bash", root_prefix="qten_gen")
    (tmp_path / "completion.bash").write_text(script, encoding="utf-8")
    command = ["bash", "-c", SCRIPT, "bash", "qten-gen", *typed]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True)
    assert (done.stdout.strip(), done.stderr) == (completed, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command(shell: str) -> None:
    script = shtab.complete(parser(), shell, root_prefix="qten_gen")
    assert [name for name in COMMANDS if name not in script] == []
