"""What the file system does to a run: full disks, pipes, links, odd names, and what a killed run leaves."""

import builtins
import errno
import ntpath
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from qten_gen.project import paths, walk
from qten_gen.project.paths import relative_to
from tests.command import BATCH, Command
from tests.fresh_process import environment

OLD = BATCH.replace("x:", "old:")
NAMES = ("a", "b")


class FullDisk(OSError):
    """The error of the injected fault."""


@contextmanager
def failing(call: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let the call of that number fail, of all that open a file for writing, write, close, rename, remove or change it."""
    done: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            done.append(name)
            if len(done) - 1 == call:
                raise FullDisk(errno.ENOSPC, os.strerror(errno.ENOSPC), arguments[0] if arguments else None)
            return function(*arguments, **keywords)

        return wrapper

    class Written:
        """A file whose `write` stores half of the data before it fails, and whose `close` may fail."""

        def __init__(self, file: Any) -> None:
            self._file = file

        def write(self, data: Any) -> None:
            done.append("write")
            if len(done) - 1 == call:
                self._file.write(data[: len(data) // 2])
                self._file.flush()
                raise FullDisk(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._file.write(data)

        def __enter__(self) -> "Written":
            return self

        def __exit__(self, *error: object) -> None:
            self._file.close()
            counted("close", lambda: None)()

    original = builtins.open

    def opened(path: Any, mode: str = "r", *arguments: Any, **keywords: Any) -> Any:
        if not {"w", "x", "a"}.intersection(mode):
            return original(path, mode, *arguments, **keywords)
        counted(f"open {path}", lambda path: None)(path)
        return Written(original(path, mode, *arguments, **keywords))

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        for name in ("replace", "unlink", "chmod", "mkdir", "fsync"):
            patch.setattr(os, name, counted(name, getattr(os, name)))
        yield done


def project(qten_gen: Command, text: str) -> dict[str, bytes]:
    for name in NAMES:
        qten_gen.write(f"{name}.py", text)
    qten_gen.write("pyproject.toml", "")
    assert qten_gen(".").status == 0
    return outputs(qten_gen)


def outputs(qten_gen: Command) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in qten_gen.folder.glob("*_qten.py*")}


def test_a_fault_at_any_call_leaves_each_file_old_or_new_and_names_it(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = project(qten_gen, BATCH)
    old = project(qten_gen, OLD)
    call = 0
    while True:
        for name, data in old.items():
            (qten_gen.folder / name).write_bytes(data)
        for name in NAMES:
            qten_gen.write(f"{name}.py", BATCH)
        (qten_gen.folder / "b.py").unlink()  # its outputs are removed
        with failing(call, monkeypatch) as done:
            result = qten_gen(".")
        if len(done) <= call:
            break
        found = outputs(qten_gen)
        assert all(found[name] in (old[name], new[name]) for name in ("a_qten.py", "a_qten.pyi"))
        assert all(found.get(name, old[name]) == old[name] for name in ("b_qten.py", "b_qten.pyi"))
        wrong = [name for name in ("a_qten.py", "a_qten.pyi") if found[name] != new[name]]
        wrong += [name for name in ("b_qten.py", "b_qten.pyi") if name in found]
        assert result.status == (2 if wrong else 0)
        assert all(f"error: {name}: cannot " in result.err and "No space left" in result.err for name in wrong)
        assert not [path for path in qten_gen.folder.rglob("*") if str(os.getpid()) in path.name], done
        assert qten_gen(".").status == 0
        assert outputs(qten_gen) == {name: new[name] for name in ("a_qten.py", "a_qten.pyi")}
        call += 1
    assert call > 8


def changing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object], times: int) -> None:
    """Let a source change just before the generator reads it, the first few times."""
    original = paths.read_regular
    done: list[str] = []

    def read(path: str) -> bytes:
        if len(done) < times:
            done.append(path)
            change()
        return original(path)

    monkeypatch.setattr("qten_gen.project.files.read_regular", read)


def test_a_source_that_changes_during_a_run_is_read_again(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("model.py", OLD)
    changing(monkeypatch, lambda: qten_gen.write("model.py", BATCH), 1)
    assert qten_gen(".").summary == "2 files written"
    assert "old" not in qten_gen.read("model_qten.py")
    assert qten_gen("--check", ".").status == 0


def test_a_source_that_disappears_during_a_run_is_gone(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("model.py", BATCH)
    qten_gen.write("other.py", BATCH)
    changing(monkeypatch, lambda: os.unlink("model.py"), 1)
    assert qten_gen(".").summary == "2 files written"
    assert {path.name for path in qten_gen.folder.glob("*_qten.py")} == {"other_qten.py"}


def test_a_source_that_changes_all_the_time_is_named(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("model.py", OLD)
    numbers = iter(range(1000))
    changing(monkeypatch, lambda: qten_gen.write("model.py", f"{BATCH}\n# {next(numbers)}"), 1000)
    result = qten_gen(".")
    assert (result.status, result.out) == (2, "")
    assert result.err == "error: model.py changed while qten-gen was reading it; run qten-gen again\n"
    assert not outputs(qten_gen)


KILLED = """
import os, sys
from qten_gen.cli.command import main
os.replace = lambda *names: os._exit(9)
main(sys.argv[1:])
"""


@pytest.mark.parametrize("command", ["model.py", "init"])
def test_the_next_run_removes_what_a_killed_one_left(qten_gen: Command, command: str) -> None:
    qten_gen.write("model.py", BATCH)
    assert subprocess.run([sys.executable, "-c", KILLED, command], env=environment()).returncode == 9
    (left,) = qten_gen.folder.glob(".qten-gen-*.tmp")
    os.utime(left, (1, 1))
    assert qten_gen("--check", ".").status == 1
    assert left.exists()
    assert qten_gen("model.py").status == 0
    assert not left.exists()


@pytest.mark.parametrize(
    ("name", "text", "is_old"),
    [
        (".model_qten.py.99999999.tmp", "# @generated by qten-gen from ", True),
        ("model_qten.tmp", "# @generated by qten-gen from ", True),
        (".qten-gen-0123456789ab-1.tmp", "of a run beside this one", False),
    ],
)
def test_temporary_files_of_others_and_new_ones_stay(qten_gen: Command, name: str, text: str, is_old: bool) -> None:
    qten_gen.write("model.py", BATCH)
    path = qten_gen.write(name, text)
    if is_old:
        os.utime(path, (1, 1))
    qten_gen(".")
    assert qten_gen.read(name) == text


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "socket"])
@pytest.mark.parametrize(
    "name",
    [
        *("other.py", "model_qten.py", "stray_qten.pyi", "pyproject.toml"),
        ".qten_cache/sources",
    ],
)
def test_what_is_not_a_regular_file_is_never_read(qten_gen: Command, kind: str, name: str) -> None:
    import socket

    qten_gen.write("model.py", BATCH)
    path = qten_gen.folder / name
    path.parent.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as connection:
        make: dict[str, Callable[[], object]] = {
            "pipe": lambda: os.mkfifo(path),
            "folder": path.mkdir,
            "link": lambda: path.symlink_to(name),
            "socket": lambda: connection.bind(name),
        }
        make[kind]()
        result = qten_gen("--output-format=concise", ".")
    if name == "model_qten.py":
        assert result.status == 1
        assert result.out.startswith("model.py:1:1: error QG003 [foreign-output]: model_qten.py exists")
    elif kind == "link" and name == "other.py":
        assert (result.status, result.err) == (
            2,
            "error: other.py: cannot read it: Too many levels of symbolic links\n",
        )
    else:
        assert (result.status, result.summary) == (0, "2 files written")
    assert os.path.lexists(path)


def test_a_pipe_that_is_named_is_refused(qten_gen: Command) -> None:
    os.mkfifo("model.py")
    assert qten_gen("model.py").err == "error: model.py is not a regular file\n"


def test_a_folder_whose_name_is_not_utf8_is_no_hindrance(qten_gen: Command) -> None:
    odd = os.fsdecode(b"f\xffolder")
    (qten_gen.folder / odd).mkdir()
    qten_gen.write(f"{odd}/model.py", BATCH)
    assert qten_gen(".").summary == "2 files written"
    assert qten_gen(odd).summary == "2 files up to date"
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nsource-roots = ["."]\n')
    assert qten_gen(".").summary == "2 files up to date"


@pytest.mark.parametrize("name", [os.fsdecode(b"\xff"), "\ufb01le"], ids=["not utf8", "imports would read file"])
def test_a_file_that_cannot_be_imported_by_its_name_is_told_of(qten_gen: Command, name: str) -> None:
    qten_gen.write(f"{name}.py", BATCH)
    result = qten_gen("--output-format=concise", ".")
    assert (result.status, "QG005" in result.out) == (1, True)


@pytest.mark.parametrize("options", [["--check"], ["--diff"], ["--verbose"]])
def test_a_folder_cannot_write_to_the_terminal_by_its_name(qten_gen: Command, options: list[str]) -> None:
    qten_gen.write("a\x1b[31m/model.py", BATCH)
    result = qten_gen(*options, ".")
    assert "model_qten.py" in result.out
    assert "\x1b" not in result.out + result.err


def test_a_diff_quotes_names_as_git_does(qten_gen: Command) -> None:
    qten_gen.write('a\x1b"\n/model.py', BATCH)
    assert '+++ "b/a\\033\\042\\012/model_qten.py"' in qten_gen("--diff", ".").out.splitlines()


def test_a_name_may_be_as_long_as_its_outputs_allow(qten_gen: Command) -> None:
    qten_gen.write(f"{'a' * 246}.py", BATCH)
    assert qten_gen(".").summary == "2 files written"
    qten_gen.write(f"{'b' * 250}.py", BATCH)
    result = qten_gen(".")
    assert result.status == 2
    assert "cannot write it: File name too long" in result.err


def test_a_deep_tree_is_listed(qten_gen: Command) -> None:
    for _ in range(1100):
        os.mkdir("d")
        os.chdir("d")
    Path("model.py").write_text(BATCH, encoding="utf-8")
    assert qten_gen(str(qten_gen.folder)).summary == "2 files written"
    for name in os.listdir("."):
        os.unlink(name)
    for _ in range(1100):
        os.chdir("..")
        os.rmdir("d")


def test_other_spellings_of_a_path_name_the_same_file(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/model.py", BATCH)
    (qten_gen.folder / "link").symlink_to("shop")
    for path in ("shop/model.py", "link/model.py", "link/", "./link/../shop", str(qten_gen.folder / "link")):
        assert "2 files" in qten_gen(path).summary
    assert {path.name for path in qten_gen.folder.rglob("*_qten.py")} == {"model_qten.py"}
    monkeypatch.setattr(paths, "_is_same", lambda path, other: path.casefold() == other.casefold())
    assert paths.true_path("shop/MODEL.PY") == str(qten_gen.folder / "shop/model.py")


def test_a_folder_that_only_lists_is_named(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("pyproject.toml", "")
    qten_gen.write("open/model.py", BATCH)
    qten_gen.write("closed/model.py", BATCH)
    original = walk._status

    def refuse(path: str, entry: Any, generated: bool) -> os.stat_result:
        if path == "closed/model.py":
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(path, entry, generated)

    monkeypatch.setattr(walk, "_status", refuse)
    result = qten_gen(".")
    assert (result.status, result.err) == (2, "error: closed/model.py: cannot read it: Permission denied\n")
    assert qten_gen("open").status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.qten_gen]\nsrc = ['a']\n", "[tool.qten_gen] is not read"),
        ("[tool.QTen-Gen]\n", "[tool.QTen-Gen] is not read"),
        ("[qten-gen]\n", "[qten-gen] is not read"),
    ],
)
def test_settings_in_a_misspelt_section_are_told_of(qten_gen: Command, text: str, message: str) -> None:
    qten_gen.write("pyproject.toml", text)
    qten_gen.write("model.py", BATCH)
    result = qten_gen("model.py")
    assert result.status == 2
    assert result.err == (
        f"pyproject.toml:1: error QG004 [unknown-setting]: {message}; the section is called [tool.qten-gen]\n"
    )


def test_a_mention_in_a_list_of_dependencies_is_not_a_section(qten_gen: Command) -> None:
    qten_gen.write(
        "pyproject.toml", "[dependency-groups]\nqten_gen = ['qten-gen']\n[project]\ndependencies = ['qten_gen']\n"
    )
    qten_gen.write("model.py", BATCH)
    assert qten_gen("model.py").status == 0


def test_a_full_disk_behind_the_output_is_told_of(qten_gen: Command) -> None:
    qten_gen.write("model.py", BATCH)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "qten_gen", "."], env=environment(), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (2, "error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("closed", [1, 2])
def test_a_process_without_an_output_has_the_same_status(qten_gen: Command, closed: int) -> None:
    qten_gen.write("model.py", "from qten_gen import TensorClass\nclass Batch(TensorClass):\n    tokens: Tensr\n")

    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m qten_gen . {closed}>&-'], env=environment(), capture_output=True, text=True
    )

    assert (done.returncode, done.stderr, "QG207" in done.stdout) == (1, "", closed == 2)


def test_what_a_process_registers_for_its_end_runs(qten_gen: Command) -> None:
    """As coverage does, which a file on the path of Python starts."""
    qten_gen.write("model.py", BATCH)
    program = (
        "import atexit, runpy; atexit.register(print, 'the end'); runpy.run_module('qten_gen', run_name='__main__')"
    )

    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "the end"


def test_a_source_that_changes_to_and_fro_is_never_called_fresh(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when branches are switched while the command runs: it reads a file twice, and finds another text."""
    source = qten_gen.write("model.py", BATCH)
    qten_gen("model.py")
    old, reads = source.read_bytes(), list[str]()
    qten_gen.write("model.py", f"{BATCH}    y: Tensor\n")

    def torn(path: str) -> bytes:
        reads.append(path)
        return old if len(reads) == 1 else source.read_bytes()

    monkeypatch.setattr("qten_gen.project.files.read_regular", torn)
    assert qten_gen("model.py").summary == "1 file up to date, 1 written"
    assert '"y"' in qten_gen.read("model_qten.py")


def test_a_file_on_another_drive_has_its_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`os.path.relpath` raises ValueError on Windows there: a library may be on D: when the project is on C:."""
    monkeypatch.setattr(os.path, "relpath", ntpath.relpath)
    monkeypatch.setattr(os.path, "abspath", ntpath.normpath)
    assert relative_to("D:/libraries/shop", "C:/project").replace("\\", "/") == "D:/libraries/shop"
    assert relative_to("C:/project/shop", "C:/project") == "shop"
