"""A run after an edit looks at no other file if what changed says what it said, and never when it says something else."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from qten_gen.cli import glance as cli_glance
from qten_gen.project import manifest
from qten_gen.run import run
from tests.command import BATCH, Command

BASE = BATCH.replace("class Batch", "class Base") + "\n    def doubled(self) -> Tensor:\n        return self.x * 2\n"
CHILD = "from torch import Tensor\n\nfrom .base import Base\n\n\nclass Child(Base):\n    own: Tensor\n"


@pytest.fixture
def settled(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A generated project that a run has remembered; nothing in it counts as just changed."""
    monkeypatch.setattr(cli_glance, "_CLOCK", -(10**18))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/base.py", BASE)
    qten_gen.write("shop/child.py", CHILD)
    qten_gen.write("shop/plain.py", "x = 1\n")
    for _ in range(2):
        qten_gen("shop")
    return qten_gen


def looks_closer(settled: Command, monkeypatch: pytest.MonkeyPatch, *paths: str) -> bool:
    """Whether a run looks at all files."""

    def noted(*arguments: object) -> None:
        raise LookupError

    with monkeypatch.context() as patch:
        patch.setattr(run, "parts", noted)
        return settled(*(paths or ("shop",))).status == 101


SAME: dict[str, Callable[[Command], object]] = {
    "a comment": lambda settled: settled.write("shop/base.py", f"# a comment\n\n{BASE}"),
    "the body of a method": lambda settled: settled.write("shop/base.py", BASE.replace("* 2", "* 3")),
    "comments in two files": lambda settled: (
        settled.write("shop/base.py", f"# a comment\n{BASE}"),
        settled.write("shop/child.py", f"{CHILD}# another\n"),
    ),
    "a file that declares nothing": lambda settled: settled.write("shop/plain.py", "x = 2\n"),
    "another time": lambda settled: os.utime("shop/base.py"),
}
OTHER: dict[str, Callable[[Command], object]] = {
    "a field": lambda settled: settled.write("shop/base.py", BASE.replace("x:", "z:")),
    "an import": lambda settled: settled.write("shop/plain.py", "import os\n"),
    "a file that begins to declare": lambda settled: settled.write("shop/plain.py", BASE),
    "a mistake in the syntax": lambda settled: settled.write("shop/plain.py", "class Batch(qten_gen.TensorClass\n"),
    "the type of an argument of a method": lambda settled: settled.write(
        "shop/base.py", BASE.replace("(self)", "(self, a: int = 1)")
    ),
    "a suppression": lambda settled: settled.write(
        "shop/base.py", BASE.replace("x: Tensor\n", "x: Tensor  # qten-gen: ignore[QG210]\n")
    ),
}


@pytest.mark.parametrize("change", SAME)
def test_a_change_that_says_the_same_is_told_at_a_glance(
    settled: Command, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    SAME[change](settled)
    assert not looks_closer(settled, monkeypatch)
    assert not looks_closer(settled, monkeypatch)
    assert settled("shop").summary == "4 files up to date"


@pytest.mark.parametrize("change", OTHER)
def test_a_change_that_says_something_else_makes_a_run_look_closer(
    settled: Command, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    OTHER[change](settled)
    assert looks_closer(settled, monkeypatch)


def test_the_run_after_one_that_wrote_looks_at_what_changed_alone(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled.write("shop/base.py", BASE.replace("x", "z"))
    assert settled("shop").summary == "2 files up to date, 2 written"
    assert not looks_closer(settled, monkeypatch)
    settled.write("shop/base_qten.py", settled.read("shop/base_qten.py") + "\n")
    assert looks_closer(settled, monkeypatch)


def test_a_run_over_other_paths_settles_nothing(settled: Command) -> None:
    """It knows what the base says now, and leaves the outputs of the base as they are."""
    settled.write("shop/base.py", BASE.replace("x", "z"))
    settled("shop/plain.py")
    assert settled("shop").summary == "2 files up to date, 2 written"


def test_a_manifest_that_another_process_writes_meanwhile_stays_as_it_is(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = manifest.load

    def overtaken(root: str, only: Iterable[str] | None = None) -> manifest.Manifest:
        known = load(root, only)
        manifest.save(root, manifest.EMPTY, load(root))
        return known

    SAME["a comment"](settled)
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "load", overtaken)
        assert settled("shop").summary == "4 files up to date"
    assert load(".").sources == {}


def swap_folders(settled: Command, *, back: bool) -> None:
    if not back:
        settled.write(".other/__init__.py", "")
        settled.write(".other/base.py", BASE.replace("x", "z"))
    os.rename("lib", ".aside")
    os.rename(".other", "lib")
    os.rename(".aside", ".other")


def set_link_to_file(settled: Command, *, back: bool) -> None:
    if not back:
        settled.write("other.txt", BASE.replace("x", "z"))
    os.unlink("lib/base.py")
    os.symlink("../base.txt" if back else "../other.txt", "lib/base.py")


@pytest.mark.parametrize("change", [swap_folders, set_link_to_file])
def test_files_that_are_put_back_with_their_status_are_not_taken_for_those_of_the_last_run(
    settled: Command, change: Callable[..., None]
) -> None:
    settled.write("lib/__init__.py", "")
    settled.write("base.txt", BASE)
    if change is set_link_to_file:
        os.symlink("../base.txt", "lib/base.py")
    else:
        settled.write("lib/base.py", BASE)
    settled.write("shop/child.py", CHILD.replace(".base", "lib.base"))
    for _ in range(3):
        settled(".")
    first = settled.read("shop/child_qten.py")
    change(settled, back=False)
    settled(".")
    assert settled.read("shop/child_qten.py") != first
    change(settled, back=True)
    settled(".")
    assert settled.read("shop/child_qten.py") == first


def test_warnings_move_with_the_lines_of_their_file(settled: Command) -> None:
    settled.write("shop/base.py", BASE.replace("x: Tensor", "x: Tensor\n    w: float"))
    for _ in range(3):
        assert ":6:" in settled("shop").out
    settled.write("shop/child.py", f"# a comment\n{CHILD}")
    assert ":6:" in settled("shop").out
    settled.write("shop/base.py", f"# a comment\n{settled.read('shop/base.py')}")
    assert ":7:" in settled("shop").out


def test_a_file_that_is_read_again_for_what_others_reexport_is_not_judged_alone(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled.write("shop/common.py", "from torch import Tensor\n")
    settled.write("shop/child.py", CHILD.replace("from torch", "from .common"))
    for _ in range(3):
        settled("shop")
    assert not looks_closer(settled, monkeypatch)
    settled.write("shop/child.py", f"# a comment\n{settled.read('shop/child.py')}")
    assert looks_closer(settled, monkeypatch)


@pytest.fixture
def unconfigured(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A remembered package in a folder without settings, beside a folder that is no package."""
    monkeypatch.setattr(cli_glance, "_CLOCK", -(10**18))
    qten_gen.write("work/shop/__init__.py", "")
    qten_gen.write("work/shop/base.py", f"import absent\n{BASE}")
    qten_gen.write("work/beside/notes.txt", "")
    monkeypatch.chdir("work")
    for _ in range(2):
        qten_gen("shop")
    return qten_gen


def test_without_settings_an_unchanged_tree_is_told_at_a_glance_too(
    unconfigured: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not looks_closer(unconfigured, monkeypatch)


@pytest.mark.parametrize(
    "path",
    [
        "__init__.py",
        "beside/__init__.py",
        "more.py",
        "more/__init__.py",
        "pyproject.toml",
        "../pyproject.toml",
        "../absent.py",
        "../absent/__init__.py",
        "../absent-stubs/__init__.pyi",
    ],
)
def test_without_settings_whatever_may_matter_makes_a_run_look_closer(
    unconfigured: Command, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("")
    assert looks_closer(unconfigured, monkeypatch)
