"""A process that goes on gives what a run from nothing gives, whatever has happened between its runs, and keeps what it knows."""

from __future__ import annotations

import io
import os
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from qten_gen.cli.command import main
from qten_gen.project import following, manifest, stale
from qten_gen.run import run as runs
from qten_gen.run.memory import Memory
from tests.command import BATCH, Command
from tests.generate.random_projects import CHANGES, FILES

from .test_run_laws import folder, outputs, run, write

SETTINGS = (
    "",
    "[tool.qten-gen]\n",
    "[tool.qten-gen]\nliteral-keys = true\n",
    '[tool.qten-gen]\nexclude = ["leaf.py"]\n',
)
PROJECT = {path: texts[0] for path, texts in FILES.items() if path.startswith("shop/")}
TWEAKS = (
    (": Tensor\n", ": Tensor | None\n"),
    (": int", ": float"),
    ("\nclass ", "\n# more\nclass "),
    ("ones_", "zeros_"),
)


def findings(memory: Memory | None) -> tuple[int, list[str]]:
    """The exit status of a run, and what it prints without the summary."""
    out = io.StringIO()
    status = main(["."], out, out, memory)
    return status, out.getvalue().splitlines()[:-1]


def _sources(chosen: random.Random) -> list[Path]:
    found = sorted(path for path in Path().rglob("*.py") if not path.name.endswith("_qten.py"))
    return chosen.sample(found, min(len(found), chosen.randint(1, 2)))


def tweak(chosen: random.Random) -> None:
    """Change what a declaration says, and not what it imports or derives from."""
    for path in _sources(chosen):
        path.write_text(path.read_text().replace(*chosen.choice(TWEAKS)))


def replace(chosen: random.Random) -> None:
    """Give a file another text."""
    path = chosen.choice(sorted(PROJECT))
    write(Path(), {path: chosen.choice(CHANGES) + chosen.choice((PROJECT[path], *FILES[path]))})


def delete(chosen: random.Random) -> None:
    """Delete a file."""
    for path in _sources(chosen)[:1]:
        path.unlink()


def rename(chosen: random.Random) -> None:
    """Rename a file, over another one or not."""
    for path in _sources(chosen)[:1]:
        path.rename(path.with_name(chosen.choice(("base.py", "renamed.py"))))


def change_outputs(chosen: random.Random) -> None:
    """Edit an output by hand, or delete it."""
    for path in sorted(Path().rglob("*_qten.py*"))[:2]:
        path.write_text(f"{path.read_text()}# mine\n") if chosen.random() < 0.5 else path.unlink()


def change_settings(chosen: random.Random) -> None:
    """Change the settings of the project."""
    Path("pyproject.toml").write_text(chosen.choice(SETTINGS))


def swap_folders(chosen: random.Random) -> None:
    """Put another folder in the place of a package, with files of the same names and times, or put it back."""
    if os.path.exists("aside"):
        os.rename("shop", "between")
        os.rename("aside", "shop")
        os.rename("between", "aside")
    elif os.path.exists("shop"):
        shutil.copytree("shop", "aside")


def run_another(chosen: random.Random) -> None:
    """Run in a process of its own, over everything or a part."""
    run(*chosen.choice(((".",), ("--output-format", "concise", "."), ("shop",))))


def forget(chosen: random.Random) -> None:
    """Remove what runs have left."""
    shutil.rmtree(".qten_cache", ignore_errors=True)


STEPS: Sequence[Callable[[random.Random], None]] = (
    *[tweak] * 14,
    *(replace, replace, delete, rename, change_outputs, change_settings, swap_folders, run_another, forget),
)


@pytest.mark.parametrize("seed", [*range(12), 175, 340, 411])
def test_runs_of_one_process_give_what_a_run_from_nothing_gives(seed: int) -> None:
    chosen = random.Random(seed)
    memory = Memory()
    # Nothing counts as just changed for a glance. What the memory has of a file that was just changed is read again.
    with patch.object(following, "COARSE_CLOCK", -(10**18)), folder(PROJECT) as root:
        for _ in range(2):
            findings(memory)
        for _ in range(10):
            for step in chosen.sample(STEPS, chosen.randint(1, 2)):
                step(chosen)
            texts = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.py*") if path.is_file()}
            with folder(texts, (root / "pyproject.toml").read_text()) as other:
                expected = [(findings(None), outputs(other)) for _ in range(2)]
            assert expected[1][1] == expected[0][1], "a second run writes nothing"
            assert [(findings(memory), outputs(root)) for _ in range(2)] == expected


@pytest.fixture
def known(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> tuple[Command, Memory]:
    """A project in which a run has left nothing to do, and what it knows."""
    monkeypatch.setattr(following, "COARSE_CLOCK", -(10**18))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/model.py", BATCH)
    qten_gen.write("shop/child.py", "from .model import Batch\n\n\nclass Child(Batch):\n    y: str = 'a'\n")
    qten_gen.write("shop/plain.py", "x = 1\n")
    memory = Memory()
    for _ in range(3):
        findings(memory)
    return qten_gen, memory


def begins_anew(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a run begins from the disk."""

    def noted(*arguments: object, **named: object) -> None:
        raise LookupError

    with monkeypatch.context() as patched:
        patched.setattr(runs, "parts", noted)
        return findings(memory)[0] == 101


def test_a_changed_field_and_a_comment_need_nothing_but_their_files(
    known: tuple[Command, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, memory = known
    monkeypatch.setattr(manifest, "load", None)
    monkeypatch.setattr(stale, "source_graph", None)
    for text in (BATCH.replace("x:", "z:"), f"# a comment\n{BATCH}", f"{BATCH}    w: Tensor\n"):
        project.write("shop/model.py", text)
        assert not begins_anew(memory, monkeypatch)
    assert "w: " in project.read("shop/model_qten.py") and "w: " in project.read("shop/child_qten.py")


def test_a_process_that_begins_with_stale_files_knows_them_after_two_runs(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one lists the files before it writes some."""
    monkeypatch.setattr(following, "COARSE_CLOCK", -(10**18))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    memory = Memory()
    for text in (BATCH, f"{BATCH}    v: Tensor\n"):
        qten_gen.write("model.py", text)
        findings(memory)
    qten_gen.write("model.py", f"{BATCH}    w: Tensor\n")
    assert not begins_anew(memory, monkeypatch)
    assert "w: " in qten_gen.read("model_qten.py")


def linked(project: Command) -> None:
    """A link takes the place of a file."""
    os.rename("shop/plain.py", "kept")
    os.symlink("../kept", "shop/plain.py")


OTHER: dict[str, Callable[[Command], object]] = {
    "an import": lambda project: project.write("shop/plain.py", "import os\n"),
    "a new file": lambda project: project.write("shop/more.py", BATCH),
    "a missing file": lambda project: os.remove("shop/plain.py"),
    "a setting": lambda project: project.write("pyproject.toml", "[tool.qten-gen]\nliteral-keys = true\n"),
    "a link": linked,
    "a manifest of another process": lambda project: (
        project.write("shop/model.py", f"{BATCH}    w: Tensor\n"),
        project("--output-format", "concise"),
    ),
}


@pytest.mark.parametrize("change", OTHER)
def test_whatever_else_has_changed_is_found_on_the_disk(
    known: tuple[Command, Memory], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    project, memory = known
    OTHER[change](project)
    project.write("shop/model.py", f"{BATCH}    v: Tensor\n")
    assert begins_anew(memory, monkeypatch)
    assert findings(memory) == (0, [])
    assert "v: " in project.read("shop/model_qten.py")
