"""What may happen to a project between two runs, at random."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cli.test_run_laws import run, write
from tests.generate.random_projects import CHANGES, FILES

SETTINGS = (
    "",
    "[tool.qten-gen]\n",
    '[tool.qten-gen]\nexclude = ["leaf.py"]\n',
)
PROJECT = {path: texts[0] for path, texts in FILES.items() if path.startswith("shop/")}
TWEAKS = (
    (": Tensor\n", ": Tensor | None\n"),
    (": int", ": float"),
    ("\nclass ", "\n# more\nclass "),
    ("ones_", "zeros_"),
)
COMMENTS = (
    (": Tensor\n", ": float\n"),
    (": float\n", ": float  # qten-gen: ignore[QG210] known\n"),
    (": Tensor\n", ": Tensor  # qten-gen: ignore[QG210]\n"),
)


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
