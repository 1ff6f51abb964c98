"""The digest of an unchanged tree: what it saves, and that it never hides a change."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qten_gen.project import generator, stale, unchanged
from qten_gen.run import run
from tests.command import BATCH, Command

LONG_AGO = 1_500_000_000


@pytest.fixture
def settled(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A generated project with a warning, whose unchanged files have been seen; nothing in it counts as just changed."""
    monkeypatch.setattr(unchanged, "COARSE_CLOCK", -(10**18))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", f"{BATCH}    weight: float\n")
    qten_gen.write("src/plain.py", "x = 1\n")
    for _ in range(3):
        qten_gen("src")
    return qten_gen


def unexpected(*arguments: object) -> None:
    """Stands for what a run over an unchanged tree does not need."""
    raise AssertionError("the manifest was read")


def test_an_unchanged_tree_needs_no_manifest(settled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = settled("src")
    monkeypatch.setattr(run, "project_state", unexpected)
    found = settled("src")
    assert (found.status, found.summary) == (0, "2 files up to date; 1 warning")
    assert found.out.splitlines()[:-1] == expected.out.splitlines()[:-1]
    assert "src/model.py:6:13: warning QG210" in found.out
    assert settled("--check", "src").summary == found.summary


def rewritten(settled: Command) -> None:
    """A source is written again with the same size and time."""
    path = Path("src/model.py")
    before = os.stat(path)
    path.write_text(path.read_text().replace("x:", "y:"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(settled: Command) -> None:
    """A file with the same size and time takes the place of a source."""
    before = os.stat("src/model.py")
    settled.write("src/other.txt", Path("src/model.py").read_text().replace("x:", "y:"))
    os.utime("src/other.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace("src/other.txt", "src/model.py")


CHANGES: dict[str, Callable[[Command], object]] = {
    "a source": lambda settled: settled.write("src/model.py", BATCH),
    "a new source": lambda settled: settled.write("src/more.py", BATCH),
    "a removed source": lambda settled: os.remove("src/plain.py"),
    "a removed output": lambda settled: os.remove("src/model_qten.pyi"),
    "an edited output": lambda settled: settled.write("src/model_qten.py", settled.read("src/model_qten.py") + "\n"),
    "an output of nobody": lambda settled: settled.write("src/plain_qten.py", settled.read("src/model_qten.py")),
    "same size and time": rewritten,
    "another inode": replaced,
    "the settings": lambda settled: settled.write("pyproject.toml", '[tool.qten-gen]\nexclude = ["plain.py"]\n'),
    "a left-over file": lambda settled: settled.write("src/.qten-gen-0123456789ab-123.tmp", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_makes_a_run_look_closer(settled: Command, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    CHANGES[change](settled)
    monkeypatch.setattr(run, "project_state", unexpected)
    assert settled("src").status == 101


@pytest.mark.parametrize("change", [rewritten, replaced])
def test_an_edit_that_keeps_size_and_time_is_generated(
    settled: Command, monkeypatch: pytest.MonkeyPatch, change: Callable[[Command], object]
) -> None:
    """As after `cp -p`, rsync, or unpacking an archive."""
    monkeypatch.setattr(stale, "_COARSE_CLOCK", -(10**18))
    for _ in range(2):
        settled("src/model.py")
    change(settled)
    assert settled("--check", "src").status == 1
    assert settled("src").summary == "2 files written; 1 warning"
    assert "y = _rt.tensor_property(" in settled.read("src/model_qten.py")


@pytest.mark.parametrize(
    ("excluded", "module"),
    [
        ("vendored", "vendored/shapes.py"),
        ("vendored", "vendored/deep/shapes.py"),
        ("vendored", "vendored/shapes.pyi"),
        ("shapes.py", "shapes.py"),
        ("nothing", "build/shapes.py"),
        ("nothing", "shapes.pyi"),
    ],
)
@pytest.mark.parametrize("is_there", [False, True])
def test_a_module_that_appears_where_nothing_is_listed_is_seen(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch, excluded: str, module: str, is_there: bool
) -> None:
    """Annotations lead to modules in excluded folders too, and these folders may exist before."""
    name = module.rpartition(".")[0].replace("/", ".")
    qten_gen.write("pyproject.toml", f'[tool.qten-gen]\nexclude = ["{excluded}"]\n')
    qten_gen.write(
        "model.py", BATCH.replace("import Tensor\n", f"import Tensor\nimport {name}\n") + f"    y: {name}.Shape\n"
    )
    if is_there:
        (qten_gen.folder / module).parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(unchanged, "COARSE_CLOCK", -(10**18))
    for _ in range(3):
        qten_gen()
    qten_gen.write(module, "from torch import Tensor\n\nShape = Tensor\n")
    qten_gen()
    found = qten_gen.read("model_qten.py")
    shutil.rmtree(".qten_cache")
    qten_gen()
    assert found == qten_gen.read("model_qten.py")
    assert 'tensor_property("y"' in found


def test_other_paths_and_another_folder_make_a_run_look_closer(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "project_state", unexpected)
    assert settled("src/model.py").status == 101
    monkeypatch.chdir("src")
    assert settled(".").status == 101


def test_another_generator_makes_a_run_look_closer(settled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "project_state", unexpected)
    monkeypatch.setattr(generator, "__version__", "other")
    assert settled("src").status == 101


def test_a_library_installed_since_makes_a_run_look_closer(
    settled: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "installed"
    site.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(site))
    for _ in range(2):
        settled("src")
    (site / "library").mkdir()
    monkeypatch.setattr(run, "project_state", unexpected)
    assert settled("src").status == 101


def test_files_that_have_just_changed_are_never_taken_for_unchanged(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    for _ in range(3):
        qten_gen("src")
    assert not qten_gen.exists(".qten_cache/unchanged.json")


@pytest.mark.parametrize("broken", ["class Batch(", f"{BATCH}    y: Nothing\n"])
def test_a_tree_with_errors_is_never_taken_for_unchanged(settled: Command, broken: str) -> None:
    os.remove(".qten_cache/unchanged.json")
    settled.write("src/model.py", f"# qten_gen\n{broken}")
    for _ in range(3):
        assert settled("src").status == 1
    assert not settled.exists(".qten_cache/unchanged.json")


def test_a_folder_that_cannot_be_listed_is_reported_each_time(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.scandir

    def denied(path: str) -> object:
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    Path("src/closed").mkdir()
    monkeypatch.setattr(os, "scandir", denied)
    for _ in range(3):
        assert "src/closed: cannot read it" in settled("src").err


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"state": 1}', '{"state": "S", "found": [1, "2", []]}'])
def test_a_damaged_digest_is_ignored(settled: Command, text: str) -> None:
    state = settled.read(".qten_cache/unchanged.json").split('"')[3]
    for damaged in (text, text.replace("S", state), text.replace('"2", []', "2, [[3]]").replace("S", state)):
        settled.write(".qten_cache/unchanged.json", damaged)
        assert settled("src").summary == "2 files up to date; 1 warning"
