"""How a page of the documentation is carried out: each block of it in order, in one folder a page.

What the first line and the language of a block say decides what is done with it:

* `python` with a path on its first line (`# shop/model.py`) is a file, which is written; where the file stands already it is
  shortened text of it, each line of which has to be there, in that order;
* `python` without a path is a program, which has to run;
* the `pycon` blocks of a page are one session, compared as doctest does, where `...` stands for any text, once all else is done;
* `console` holds commands after `$` and what they print, exactly but for times; the exit status is not compared;
* `toml` is written to `pyproject.toml`; `yaml` and `text` are only read;
* `sh` are the commands for a clone of this repository: each has to be a target of its Makefile, or install the project as
  tests/test_packaging.py does.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests import fresh_process

REPOSITORY = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *sorted(
        str(page.relative_to(REPOSITORY))
        for folder in ("docs", "docs/evidence")
        for page in (REPOSITORY / folder).glob("*.md")
    ),
]

LONG_PAGES = [
    f"docs/{name}.md"
    for name in (
        "adopting",
        "large-models",
        "processes",
        "serving",
    )
]
"""Those that build large models, start several processes, or load torch for a dozen commands."""

# A reader's own settings of mypy: what is strict everywhere uses the cache that strict runs filled. Others would read torch anew
# and throw that cache away. The page itself is checked as the command says.
MYPY_SETTINGS = REPOSITORY / "tests" / "typing" / "settings"

ONLY_READ = {"text", "yaml", "{raw} html"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int

    @property
    def path(self) -> str | None:
        """The path on the first line of a python block."""
        match = re.match(r"# ([\w/]+\.pyi?)\b", self.text)
        return match[1] if match else None


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page. A difference of two files stands for the new one; tests/rules carries out those of lines."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, shown = match[1].strip(), match[2]
        if language == "diff":
            language = "python" if shown.startswith(" # ") else "text"
            shown = re.sub(r"^-.*\n|^[ +]", "", shown, flags=re.MULTILINE)
        yield Block(language, shown, text.count("\n", 0, match.start()) + 1)


def only_sessions(page: str) -> str:
    """The text of the `pycon` blocks of a page, on the lines where they stand."""
    lines = [""] * len((REPOSITORY / page).read_text(encoding="utf-8").splitlines())
    for block in blocks(page):
        if block.language == "pycon":
            lines[block.line : block.line + block.text.count("\n")] = block.text.splitlines()
    return "\n".join(lines) + "\n"


def run(command: str, folder: Path) -> str:
    """What a command prints, both streams.

    `qten-gen inspect` and `python` run where torch is loaded already. The former is piped on as written.
    """
    inspect = re.match(r"qten-gen (inspect [^|]*)(?:\| (.*))?$", command)
    if inspect is not None:
        printed = run_python("-m", "qten_gen", *shlex.split(inspect[1]), folder=folder)
        return printed if inspect[2] is None else run_shell(inspect[2], folder, printed)
    started = [re.fullmatch(r"python ((?:-W ignore )?-m [^|<>]+?)(?: > (\w[\w.]*))?", part) for part in parts(command)]
    return run_programs([part for part in started if part], folder) if all(started) else run_shell(command, folder)


def parts(command: str) -> list[str]:
    """The commands that a line starts at once, and waits for."""
    return command.removesuffix("; wait").split(" & ")


def run_programs(started: list[re.Match[str]], folder: Path) -> str:
    """What Python programs print that run at once, but for what goes to files."""
    arguments = [shlex.split(part[1].replace("$PWD", str(folder))) for part in started]
    running = [fresh_process.FreshProcess(given, cwd=folder, env=surroundings(folder)) for given in arguments]
    shown = ""
    for part, program in zip(started, running, strict=True):
        done = program.finish()
        if part[2] is None:
            shown += done.stdout
        else:
            (folder / part[2]).write_text(done.stdout, encoding="utf-8")
        shown += done.stderr
    return shown


def run_shell(command: str, folder: Path, given: str | None = None) -> str:
    """What a command prints in a shell, both streams."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=surroundings(folder),
        text=True,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def run_python(*arguments: str | Path, folder: Path) -> str:
    """What a Python program prints, both streams."""
    done = fresh_process.run(*arguments, cwd=folder, env=surroundings(folder))
    return done.stdout + done.stderr


def surroundings(folder: Path) -> dict[str, str]:
    """An environment where the commands of this interpreter come first."""
    kept = {name: value for name, value in os.environ.items() if name not in {"GITHUB_ACTIONS", "QTEN_GEN_JIT"}}
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "MYPY_CACHE_DIR": str(REPOSITORY / ".mypy_cache"),
        "XDG_CONFIG_HOME": str(MYPY_SETTINGS),
    }


def carry_out(page: str, folder: Path) -> None:
    """Do what the blocks of a page say; a block that is not true fails an assertion that names its line."""
    for block in blocks(page):
        try:
            carry_out_block(block, folder)
        except AssertionError as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error
    session = folder / "session.txt"
    session.write_text(only_sessions(page), encoding="utf-8")
    assert run_python("-m", "doctest", "-o", "ELLIPSIS", session, folder=folder) == ""


def carry_out_block(block: Block, folder: Path) -> None:
    """Do what a block says."""
    if block.language == "python" and block.path is not None:
        write_or_find(block, folder / block.path)
    elif block.language == "python":
        run_program(block, folder)
    elif block.language == "console":
        for command, expected in commands(block.text):
            assert without_times(run(command, folder)) == without_times(expected), command
    elif block.language == "toml":
        tomllib.loads(block.text)
        (folder / "pyproject.toml").write_text(block.text, encoding="utf-8")
    elif block.language == "sh":
        known = rf"make ({'|'.join(targets())})\b|pip install \. mypy numpy$"
        unknown = [line for line in block.text.splitlines() if not re.match(known, line)]
        assert unknown == []
    else:
        assert block.language in {"pycon", *ONLY_READ}, "a block of a language that nothing checks"


def write_or_find(block: Block, path: Path) -> None:
    """Write a file, or find the lines of a block in the file that stands there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    lines = iter(path.read_text(encoding="utf-8").splitlines())
    shortened = [line for line in block.text.splitlines()[1:] if line.strip() not in {"", "..."}]
    assert [line for line in shortened if line not in lines] == []


def run_program(block: Block, folder: Path) -> None:
    """Run a block as a program of its own, which has to be silent."""
    path = folder / f"program_{block.line}.py"
    path.write_text(block.text, encoding="utf-8")
    assert run_python(path, folder=folder) == ""


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the lines below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def without_times(text: str) -> str:
    """The text with every `0.21s` written as `0s`, and without blank lines at the end."""
    return re.sub(r"\b\d+\.\d+s\b", "0s", text).rstrip()


def targets() -> set[str]:
    """The targets of the Makefile that have a name of their own."""
    return set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
