"""The command line itself: help, mistakes, faults of ours, and how the command is started."""

import subprocess
import sys
from pathlib import Path

import pytest

import qten_gen as package
from qten_gen.cli import COMMANDS
from qten_gen.project import files
from qten_gen.run import run as _run  # noqa: F401 # holds the true `discover` before a test puts another in its place
from tests.command import BATCH, Command
from tests.fresh_process import environment


def python(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A Python process that can import the package."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment(**variables))


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["--version", "-v"]])
def test_the_version_is_printed(qten_gen: Command, arguments: list[str]) -> None:
    result = qten_gen(*arguments)
    assert (result.status, result.out, result.err) == (0, f"qten-gen {package.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--help", "--unknown"]])
def test_help_names_every_option(qten_gen: Command, arguments: list[str]) -> None:
    result = qten_gen(*arguments)
    assert result.status == 0
    for option in ("--check", "--diff", "--output-format", "--color", "--quiet", "--verbose", "--version", "explain"):
        assert option in result.out
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--chek", "src"], "unknown option --chek; did you mean --check?"),
        (["--foo"], "unknown option --foo"),
        (["--wat"], "unknown option --wat; did you mean --watch?"),
        (["--check", "--diff", "src"], "--diff: not allowed with argument --check"),
        (["--color", "red", "src"], "--color: invalid choice: 'red' (one of 'auto', 'always', 'never')"),
        (["src", "--color"], "--color: expected one argument"),
        ([""], "an empty path was given"),
        (["lock", "--chekc"], "unknown option --chekc; did you mean --check?"),
        (["adopt", "--write", "--diff"], "--diff: not allowed with argument --write"),
        (["init", "here"], "unexpected argument here"),
        (["inspect", "a:b", "--jsn"], "unknown option --jsn; did you mean --json?"),
        (["explain", "--all"], "unknown option --all"),
    ],
)
def test_a_wrong_command_line_is_misuse(qten_gen: Command, arguments: list[str], message: str) -> None:
    result = qten_gen(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines()[0] == f"error: {message}"
    if arguments[0] in COMMANDS:
        assert result.err.splitlines()[1].startswith(f"usage: qten-gen {arguments[0]}")


def test_a_fault_of_ours_asks_for_a_report(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(files, "discover", fail)
    result = qten_gen(".")
    assert (result.status, result.out) == (101, "")
    assert "ZeroDivisionError: a fault" in result.err
    assert "this is a bug in qten-gen" in result.err


def test_a_rendered_text_that_is_not_python_is_a_fault_of_ours_and_is_not_written(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qten_gen.generate.outputs.texts_of", lambda *_: {"py": "x = (", "pyi": ""})
    qten_gen.write("src/model.py", BATCH)
    result = qten_gen("src")
    assert result.status == 101
    assert "rendering src/model.py" in result.err and "SyntaxError" in result.err
    assert result.summary == "1 internal error; nothing written"
    assert not qten_gen.exists("src/model_qten.py")


def interrupted() -> None:
    """What a person does at any time."""
    raise KeyboardInterrupt


def test_an_interruption_ends_the_run_without_a_traceback(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "discover", lambda *arguments, **keywords: interrupted())
    result = qten_gen(".")
    assert (result.status, result.out, result.err) == (130, "", "interrupted\n")


# Shells start background jobs with the signal ignored.
SIGNAL = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from qten_gen.cli import command; from qten_gen.project import files
files.discover = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)
sys.exit(command.main(['.']))
"""

LOADING = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == 'qten_gen.cli.command':
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from qten_gen.cli.process import main
sys.exit(main())
"""


@pytest.mark.parametrize(("script", "said"), [(SIGNAL, "interrupted\n"), (LOADING, "")], ids=["running", "loading"])
def test_an_interrupted_process_ends_with_130(script: str, said: str) -> None:
    result = python("-c", script)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", said)


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BATCH)
    result = python("-m", "qten_gen", str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("2 files written in ")


def test_a_reader_that_goes_away_is_not_a_fault(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"model{number}.py").write_text(BATCH)
    command = f"{sys.executable} -m qten_gen --diff {tmp_path} 2>errors | head -1"
    subprocess.run(command, shell=True, cwd=tmp_path, env=environment(), capture_output=True)
    assert "Traceback" not in (tmp_path / "errors").read_text()


def test_a_terminal_of_few_letters_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "größe.py").write_text(BATCH)
    result = python("-m", "qten_gen", "-v", str(tmp_path), PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "gr\\xf6\\xdfe_qten.py" in result.stdout


@pytest.mark.parametrize("code", ["QG001", "qg001", "syntax-error"])
def test_explain_prints_the_page_of_a_diagnostic(qten_gen: Command, code: str) -> None:
    result = qten_gen("explain", code)
    assert result.status == 0
    assert result.out.startswith("QG001 [syntax-error], an error\n\n")
    assert "Right:" in result.out


def test_explain_suggests_a_near_name(qten_gen: Command) -> None:
    result = qten_gen("explain", "sintax-error")
    assert (result.status, result.err) == (2, "error: unknown diagnostic sintax-error; did you mean syntax-error?\n")


def test_explain_lists_all_and_says_how_it_is_called(qten_gen: Command) -> None:
    assert "QG001  syntax-error" in qten_gen("explain").out.splitlines()
    asked, refused = qten_gen("explain", "--help"), qten_gen("explain", "QG001", "QG002")
    assert (asked.status, asked.out.splitlines()[0]) == (0, "usage: qten-gen explain [CODE]")
    told = "error: unexpected argument QG002\nusage: qten-gen explain [CODE]; for more, qten-gen explain --help\n"
    assert (refused.status, refused.err) == (2, told)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_page_of_help_that_fits_a_terminal(qten_gen: Command, command: str) -> None:
    result = qten_gen(command, "--help", "--unknown")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"usage: qten-gen {command}")
    assert max(map(len, result.out.splitlines())) <= 81


def test_folders_with_the_names_of_commands_are_written_with_their_place(qten_gen: Command) -> None:
    for name in ("explain", "inspect", "check", "init"):
        qten_gen.write(f"{name}/model.py", BATCH)
        assert qten_gen(f"./{name}").summary == "2 files written"
