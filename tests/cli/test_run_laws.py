"""Laws of the command, held over small projects made at random."""

import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from qten_gen.cli.command import main
from qten_gen.project import cache
from qten_gen.project.apply import changes
from qten_gen.project.output_names import is_output
from tests import fresh_process

law = settings(max_examples=12)

HEAD = "from torch import Tensor\nfrom qten_gen import TensorClass, field\n\n"
FIELDS = ("x: Tensor", "y: Tensor | None", "label: str", "count: int", "deep: 'Tensor'")
PATHS = ("a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/sub/__init__.py", "pkg/sub/d.py", "läden/e.py")
FOREIGN = {"a_qten.pyi.orig": "mine", "notes_qten.py": "mine = 1\n", "pkg/_qten.txt": "mine", "pkg/odd_qten.pyi": ""}

Project = dict[str, str]


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Sources by path: some declare, some derive from a class of the package, some do neither."""
    project = {}
    for path in draw(st.lists(st.sampled_from(PATHS), unique=True, min_size=1)):
        fields = draw(st.lists(st.sampled_from(FIELDS), unique=True, min_size=1))
        body = "".join(f"    {field}\n" for field in fields)
        declares = draw(st.booleans())
        project[path] = f"{HEAD}class Batch(TensorClass):\n{body}" if declares else "x = 1\n"
    if "pkg/__init__.py" in project and draw(st.booleans()):
        project["pkg/child.py"] = "from . import Batch\n\nclass Child(Batch):\n    more: str\n"
    return project


def run(*arguments: str) -> tuple[int, str]:
    """The exit status of the command, and its standard output."""
    out = io.StringIO()
    return main(arguments, out, io.StringIO()), out.getvalue()


@contextmanager
def folder(project: Project, settings: str | None = "") -> Iterator[Path]:
    """A project on the disk, with a `pyproject.toml` unless `settings` is None; its root is the working directory meanwhile."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        write(root, project if settings is None else {**project, "pyproject.toml": settings})
        os.chdir(root)
        try:
            yield root
        finally:
            os.chdir(here)


def write(root: Path, files: Project) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def outputs(root: Path) -> dict[str, bytes]:
    """The files with names of outputs."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if is_output(path.name)}


def times(root: Path) -> dict[Path, int]:
    return {
        path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file() and ".qten_cache" not in path.parts
    }


@law
@given(projects(), st.booleans())
def test_a_second_run_writes_nothing(project: Project, cached: bool) -> None:
    with folder(project) as root:
        run(".")
        before = times(root)
        if not cached:
            (root / ".qten_cache/sources").unlink()
        assert run(".")[0] == 0
        assert times(root) == before


@law
@given(projects(), st.randoms(use_true_random=False))
def test_the_output_does_not_depend_on_how_the_files_are_named(project: Project, shuffle: random.Random) -> None:
    with folder(project) as root:
        run(".")
        expected = outputs(root)
    spellings = {path: [path, f"./{path}", os.path.join("pkg", "..", path)] for path in project}
    with folder(project) as root:
        (root / "pkg").mkdir(exist_ok=True)
        names = [shuffle.choice([*spellings[path], str(root / path)]) for path in project]
        shuffle.shuffle(names)
        run(*names)
        assert outputs(root) == expected
    with folder(project) as root:
        os.chdir(root / Path(next(iter(project))).parent)
        run(str(root))
        assert outputs(root) == expected


@settings(law, max_examples=3)
@given(projects())
def test_outputs_and_fingerprints_do_not_depend_on_the_hash_seed(project: Project) -> None:
    found = []
    for seed in ("1", "2"):
        with folder(project) as root:
            environment = fresh_process.environment(PYTHONHASHSEED=seed)
            subprocess.run([sys.executable, "-m", "qten_gen", "-q", "."], env=environment, check=True)
            fingerprints = {path: record.fingerprint for path, record in cache.load(".").fresh.items()}
            found.append((outputs(root), fingerprints))
    assert found[0] == found[1]


@law
@given(projects())
def test_files_without_our_marker_are_never_touched(project: Project) -> None:
    with folder(project) as root:
        write(root, FOREIGN)
        before = {path: (root / path).stat().st_mtime_ns for path in FOREIGN}
        run(".")
        for path in project:
            (root / path).unlink()
        run(".")
        assert {path: (root / path).read_text() for path in FOREIGN} == FOREIGN
        assert {path: (root / path).stat().st_mtime_ns for path in FOREIGN} == before
        assert set(outputs(root)) == {path for path in FOREIGN if is_output(path)}


FAULTS = ("class Batch(", f"{HEAD}class Batch(TensorClass, frozn=True):\n    x: Tensor\n")


@law
@given(projects(), st.data(), st.sampled_from(FAULTS))
def test_an_error_changes_no_good_output_of_its_file(project: Project, data: st.DataObject, text: str) -> None:
    path = data.draw(st.sampled_from(sorted(project)))
    project = {**project, path: project[path].replace("x = 1", f"{HEAD}class Batch(TensorClass):\n    x: Tensor")}
    with folder(project) as root:
        run(".")
        before = outputs(root)
        write(root, {path: f"# qten_gen\n{text}"})
        assert run(".")[0] == 1
        assert run("--check", ".")[0] == 1
        assert outputs(root) == before


@law
@given(projects(), projects())
def test_a_diff_is_what_a_run_writes(before: Project, after: Project) -> None:
    with folder(before) as root:
        run(".")
        for path in before:
            (root / path).unlink()
        write(root, after)
        old = outputs(root)
        _, text = run("--diff", ".")
        assert outputs(root) == old
        if text:
            subprocess.run(["git", "apply", "-p1"], input=text.encode(), check=True)
        patched = outputs(root)
        assert bool(text) is (patched != old)
        run(".")
        assert outputs(root) == patched


def test_changes_of_equal_outputs_are_none() -> None:
    assert changes({"a_qten.py": "x\n", "b_qten.py": None}, {"a_qten.py": b"x\n"}) == ()
