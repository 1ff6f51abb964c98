"""What is told at a glance: that nothing has changed, and never when something has."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qten_gen.cli import glance as cli_glance
from qten_gen.project import generator_state, glance, statuses
from qten_gen.run import run
from tests.command import BATCH, Command

GLANCE = ".qten_cache/glance.txt"


@pytest.fixture
def settled(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A generated project with nothing to report, which a run has remembered; nothing in it counts as just changed."""
    monkeypatch.setattr(cli_glance, "_CLOCK", -(10**18))
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/plain.py", "x = 1\n")
    qten_gen.write("src/build/notes.txt", "")
    for _ in range(2):
        qten_gen("src")
    assert qten_gen.exists(GLANCE)
    return qten_gen


def unexpected(*arguments: object) -> None:
    """Stands for what a run over an unchanged tree does not need."""
    raise AssertionError("the files were listed")


def test_an_unchanged_tree_is_told_at_a_glance(settled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "parts", unexpected)
    for arguments in (["src"], ["--check", "src"]):
        found = settled(*arguments)
        assert (found.status, found.summary) == (0, "2 files up to date")
    assert settled("-q", "src").out == ""


def rewritten(settled: Command) -> None:
    """A source is written again with the same size and time."""
    path = Path("src/model.py")
    before = os.stat(path)
    path.write_text(path.read_text().replace("x:", "y:"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def linked(name: str) -> Callable[[Command], None]:
    """The change that a link takes the place of a file."""

    def link(settled: Command) -> None:
        settled.write("kept", BATCH.replace("x:", "y:"))
        os.remove(name)
        os.symlink("../kept", name)

    return link


def replaced(settled: Command) -> None:
    """A file with the same size and time takes the place of a source."""
    before = os.stat("src/model.py")
    settled.write("other.txt", Path("src/model.py").read_text().replace("x:", "y:"))
    os.utime("other.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace("other.txt", "src/model.py")


CHANGES: dict[str, Callable[[Command], object]] = {
    "a source": lambda settled: settled.write("src/model.py", BATCH.replace("x:", "y:")),
    "a new source": lambda settled: settled.write("src/more.py", BATCH),
    "a new source in a new folder": lambda settled: settled.write("src/deep/more.py", BATCH),
    "a new source outside the paths": lambda settled: settled.write("more.py", BATCH),
    "a removed source": lambda settled: os.remove("src/plain.py"),
    "a removed folder": lambda settled: shutil.rmtree("src"),
    "a removed output": lambda settled: os.remove("src/model_qten.pyi"),
    "an edited output": lambda settled: settled.write("src/model_qten.py", settled.read("src/model_qten.py") + "\n"),
    "an output of nobody": lambda settled: settled.write("src/plain_qten.py", settled.read("src/model_qten.py")),
    "an output that is a link": linked("src/model_qten.py"),
    "a source that is a link": linked("src/model.py"),
    "same size and time": rewritten,
    "another inode": replaced,
    "the settings": lambda settled: settled.write("pyproject.toml", '[tool.qten-gen]\nexclude = ["plain.py"]\n'),
    "no settings": lambda settled: os.remove("pyproject.toml"),
    "settings further down": lambda settled: settled.write("src/pyproject.toml", "[tool.qten-gen]\n"),
    "a package": lambda settled: settled.write("src/__init__.py", ""),
    "a package around": lambda settled: settled.write("__init__.py", ""),
    "a package named build": lambda settled: settled.write("src/build/__init__.py", ""),
    "a source in a package named build": lambda settled: (
        settled.write("src/build/__init__.py", ""),
        settled.write("src/build/more.py", BATCH),
    ),
    "an environment": lambda settled: settled.write("src/pyvenv.cfg", ""),
    "a left-over file": lambda settled: settled.write("src/.qten-gen-0123456789ab-123.tmp", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_makes_a_run_look_closer(settled: Command, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    CHANGES[change](settled)
    monkeypatch.setattr(run, "parts", unexpected)
    assert settled("src").status != 0


def test_a_file_that_is_no_source_changes_nothing(settled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    settled.write("src/notes.txt", "")
    settled.write("src/__pycache__/model.pyc", "")
    settled.write(".coverage", "")
    monkeypatch.setattr(run, "parts", unexpected)
    assert settled("src").status == 0


def test_other_arguments_and_another_folder_make_a_run_look_closer(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "parts", unexpected)
    for arguments in ([], ["src/model.py"], ["src", "src"], ["-v", "src"], ["src", "--check"]):
        assert settled(*arguments).status == 101
    monkeypatch.chdir("src")
    assert settled(".").status == 101


def test_another_generator_makes_a_run_look_closer(settled: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "parts", unexpected)
    monkeypatch.setattr(generator_state, "__version__", "other")
    assert settled("src").status == 101


def test_a_library_installed_since_makes_a_run_look_closer(
    settled: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "installed-packages"
    site.mkdir()
    (site / "more.pth").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(site))
    for change in (
        lambda: (site / "library").mkdir(),
        lambda: (site / "more.pth").write_text("elsewhere\n"),
        lambda: (site / "elsewhere").mkdir(),
    ):
        for _ in range(2):
            settled("src")
        with monkeypatch.context() as patch:
            patch.setattr(run, "parts", unexpected)
            assert settled("src").status == 0
            change()
            assert settled("src").status == 101


@pytest.mark.parametrize("above", ["pyproject.toml", "__init__.py"])
def test_what_appears_above_a_project_makes_a_run_look_closer(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    monkeypatch.setattr(cli_glance, "_CLOCK", -(10**18))
    qten_gen.write("project/pyproject.toml", "")
    qten_gen.write("project/__init__.py", "")
    qten_gen.write("project/model.py", BATCH)
    for _ in range(3):
        qten_gen("project")
    assert qten_gen.exists(f"project/{GLANCE}")
    qten_gen.write(above, "[tool.qten-gen]\n" if above.endswith("toml") else "")
    monkeypatch.setattr(run, "parts", unexpected)
    assert qten_gen("project").status == 101


def test_what_has_just_changed_is_never_taken_for_unchanged(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    for _ in range(3):
        qten_gen("src")
    assert not qten_gen.exists(GLANCE)


@pytest.mark.parametrize("wanted", [None, "NO_COLOR", "FORCE_COLOR"])
def test_warnings_are_printed_again_as_the_surroundings_want_them(
    settled: Command, monkeypatch: pytest.MonkeyPatch, wanted: str | None
) -> None:
    if wanted is not None:
        monkeypatch.setenv(wanted, "1")
    settled.write("src/model.py", f"{BATCH}    weight: float\n")
    settled("src")
    expected = settled("src")
    monkeypatch.setattr(run, "parts", unexpected)
    found = settled("--check", "src")
    assert (found.status, found.summary) == (0, "2 files up to date; 1 warning")
    assert found.out.splitlines()[:-1] == expected.out.splitlines()[:-1]
    assert ("\x1b[" in found.out) == (wanted == "FORCE_COLOR")
    assert settled("-q", "src").out == ""


def test_warnings_for_a_hosted_run_are_not_taken_from_another(
    settled: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled.write("src/model.py", f"{BATCH}    weight: float\n")
    for _ in range(2):
        settled("src")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert settled("src").out.startswith("::warning title=QG210")


@pytest.mark.parametrize("text", ["class Batch(", f"{BATCH}    y: Nothing\n"])
def test_a_tree_with_errors_is_looked_at_each_time(settled: Command, text: str) -> None:
    os.remove(GLANCE)
    settled.write("src/model.py", f"# qten_gen\n{text}")
    for _ in range(3):
        assert settled("src").status == 1
    assert not settled.exists(GLANCE)


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
    monkeypatch.setattr(cli_glance, "_CLOCK", -(10**18))
    for _ in range(2):
        qten_gen()
    qten_gen.write(module, "from torch import Tensor\n\nShape = Tensor\n")
    qten_gen()
    found = qten_gen.read("model_qten.py")
    shutil.rmtree(".qten_cache")
    qten_gen()
    assert found == qten_gen.read("model_qten.py")
    assert 'tensor_property("y"' in found


@pytest.mark.parametrize("change", [rewritten, replaced])
def test_an_edit_that_keeps_size_and_time_is_generated(
    settled: Command, monkeypatch: pytest.MonkeyPatch, change: Callable[[Command], object]
) -> None:
    """As after `cp -p`, rsync, or unpacking an archive."""
    monkeypatch.setattr(statuses, "COARSE_CLOCK", -(10**18))
    for _ in range(2):
        settled("src/model.py")
    change(settled)
    assert settled("--check", "src").status == 1
    assert settled("src").summary == "1 file up to date, 1 written"
    assert "y = _rt.tensor_property(" in settled.read("src/model_qten.py")


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


@pytest.mark.parametrize("text", ["", "\0\0", "\0\0" * 4, "a\0b"])
def test_a_damaged_text_is_ignored(settled: Command, text: str) -> None:
    whole = settled.read(GLANCE)
    for damaged in (text, whole[:-1], whole.replace("\0", "\n"), whole.replace("src", "crs")):
        settled.write(GLANCE, damaged)
        assert settled("src").summary == "2 files up to date"


def test_the_name_of_a_listed_file_may_be_anything(settled: Command) -> None:
    with open(b"src/\xff.py", "wb") as file:
        file.write(b"x = 1\n")
    settled.write("src/two\nlines.py", "")
    for _ in range(3):
        assert settled("src").status == 0
    assert glance.recall(["src"], "src") is None
