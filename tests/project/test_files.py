"""Which files a run is about, and the modules they are taken for."""

import os

import pytest

from qten_gen.project import sources
from qten_gen.project.files import discover
from qten_gen.project.output_names import outputs_of, source_of
from tests.command import BATCH, Command


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("srk", "error: no such file or folder: srk; did you mean src?\n"),
        ("lokc", "error: no such file or folder: lokc; did you mean the command lock?\n"),
        ("nowhere/at/all", "error: no such file or folder: nowhere/at/all\n"),
        ("src/gone_qten.py", "error: no such file or folder: src/gone.py; did you mean src/model.py?\n"),
        ("src/notes.txt", "error: src/notes.txt is not a Python file (.py) or a folder\n"),
    ],
)
def test_a_path_that_cannot_be_used_is_refused(qten_gen: Command, path: str, message: str) -> None:
    for name in ("model.py", "notes.txt"):
        qten_gen.write(f"src/{name}", "")
    result = qten_gen(path)
    assert (result.status, result.out, result.err) == (2, "", message)


def test_a_generated_file_stands_for_its_source(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("src/model.py").status == 0
    qten_gen.write("src/model.py", BATCH.replace("x:", "words:"))
    assert qten_gen("src/model_qten.py", "src/model_qten.pyi").status == 0
    assert "words" in qten_gen.read("src/model_qten.py")
    assert qten_gen("src/model.py", "src/model_qten.py", "--check").status == 0


def test_one_file_is_generated_alone_and_its_neighbours_are_read(qten_gen: Command) -> None:
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/base.py", BATCH)
    qten_gen.write("src/shop/deep/__init__.py", "")
    qten_gen.write("src/shop/deep/sub.py", "from ..base import Batch\n\nclass Sub(Batch):\n    y: str\n")
    assert qten_gen("src/shop/deep/sub.py").summary == "2 files written"
    assert "x: " in qten_gen.read("src/shop/deep/sub_qten.py")
    assert not qten_gen.exists("src/shop/base_qten.py")


def test_scripts_of_one_name_in_different_folders_do_not_mix(qten_gen: Command) -> None:
    qten_gen.write("a/base.py", BATCH)
    qten_gen.write("a/sub.py", "from base import Batch\n\nclass Sub(Batch):\n    first: str\n")
    qten_gen.write("b/base.py", BATCH.replace("x:", "altitude:"))
    qten_gen.write("b/sub.py", "from base import Batch\n\nclass Sub(Batch):\n    second: str\n")
    assert qten_gen(".").summary == "8 files written"
    assert "altitude" in qten_gen.read("b/sub_qten.py") and "altitude" not in qten_gen.read("a/sub_qten.py")


SUB = "from base import Batch\n\nclass Sub(Batch):\n    y: str\n"
FOLDERS = (
    ".git",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    "build",
    "dist",
    ".tox",
    ".mypy_cache",
    "site-packages",
)


@pytest.mark.parametrize(
    ("files", "path", "summary"),
    [
        ({"base.py": BATCH, "sub.py": SUB}, "sub.py", "2 files written"),  # neighbours outside packages
        (
            {
                "pyproject.toml": "[tool.qten-gen]\nsrc = ['src']\n",
                "src/base/__init__.py": BATCH,
                "src/app/__init__.py": SUB,
            },
            "src/app",
            "2 files written",
        ),
        ({"src/env/pyvenv.cfg": "", "src/env/lib/model.py": BATCH}, "src", "no Python files found"),
        ({"shop/__init__.py": "", "shop/build/__init__.py": BATCH}, "shop", "2 files written"),  # a package
        (
            {"pyproject.toml": "[tool.qten-gen]\nexclude = ['*_old.py']\n", "src/model_old.py": BATCH},
            "src/model_old.py",
            "2 files written",
        ),
        ({"läden/größe.py": BATCH}, "läden", "2 files written"),
        *[({f"src/{folder}/model.py": BATCH}, "src", "no Python files found") for folder in FOLDERS],
    ],
)
def test_the_files_of_a_path_are_found(qten_gen: Command, files: dict[str, str], path: str, summary: str) -> None:
    for name, text in files.items():
        qten_gen.write(name, text)
    assert qten_gen(path).summary == summary


@pytest.mark.parametrize("pattern", ["legacy", "src/legacy", "src/legacy/*", "*_old.py", "./src/legacy/"])
def test_excluded_sources_are_not_read_and_their_outputs_stay(qten_gen: Command, pattern: str) -> None:
    path = "src/legacy/model_old.py"
    qten_gen.write(path, BATCH)
    qten_gen("src")
    qten_gen.write("pyproject.toml", f"[tool.qten-gen]\nexclude = ['{pattern}']\n")
    result = qten_gen("src")
    assert (result.status, result.summary) == (0, "no Python files found")
    assert qten_gen.exists("src/legacy/model_old_qten.py")


def test_a_loop_of_links_does_not_hang(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    (qten_gen.folder / "src/loop").symlink_to(qten_gen.folder / "src")
    assert qten_gen("src").summary == "2 files written"


@pytest.mark.parametrize("name", ["my-model.py", "2nd.py", "class.py"])
def test_a_declaring_file_that_no_import_can_name_is_an_error(qten_gen: Command, name: str) -> None:
    qten_gen.write(f"src/{name}", BATCH)
    result = qten_gen("src")
    assert result.status == 1
    assert "invalid-module-name" in result.out


def test_a_file_that_cannot_be_read_is_named_and_its_outputs_stay(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")

    def refuse(path: str) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sources, "read_regular", refuse)
    result = qten_gen("src")
    assert (result.status, result.err) == (2, "error: src/model.py: cannot read it: Permission denied\n")
    assert qten_gen.exists("src/model_qten.py")


def test_a_folder_that_cannot_be_listed_is_named(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/closed/model.py", BATCH)
    scandir = os.scandir

    def refuse(folder: str) -> object:
        if folder.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    result = qten_gen("src")
    assert (result.status, result.err) == (2, "error: src/closed: cannot read it: Permission denied\n")
    assert result.summary == "1 path failed; 2 files written"


@pytest.mark.parametrize(
    ("path", "module", "is_package"),
    [
        ("src/shop/__init__.py", "shop", True),
        ("src/shop/model.py", "shop.model", False),
        ("src/shop/deep/__init__.py", "shop.deep", True),
        ("src/shop/plain/script.py", "script", False),
        ("src/train.py", "train", False),
    ],
)
def test_modules_are_named_from_the_outermost_package(
    qten_gen: Command, path: str, module: str, is_package: bool
) -> None:
    for name in ("shop/__init__.py", "shop/model.py", "shop/deep/__init__.py", "shop/plain/script.py", "train.py"):
        qten_gen.write(f"src/{name}", "")
    origin = discover(["src"]).sources[path].origin
    assert (origin.module, origin.is_package) == (module, is_package)


def test_modules_have_the_same_name_from_inside_a_package(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/model.py", "")
    monkeypatch.chdir("shop")
    assert discover(["model.py"]).sources["model.py"].origin.module == "shop.model"


def test_neighbours_above_the_working_directory_are_the_files_they_are(
    qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/base.py", BATCH)
    qten_gen.write("shop/deep/__init__.py", "")
    qten_gen.write("shop/deep/sub.py", "from ..base import Batch\n\nclass Sub(Batch):\n    y: str\n")
    monkeypatch.chdir("shop/deep")
    assert qten_gen(".").summary == "2 files written"
    assert sum(path.endswith("sub.py") for path in discover(["."]).sources) == 1


@pytest.mark.parametrize("source", ["model.py", "pkg/model.py", "pkg/__init__.py", "__init__.py"])
def test_an_output_leads_back_to_its_source(source: str) -> None:
    assert {source_of(output) for output in outputs_of(source)} == {source}
