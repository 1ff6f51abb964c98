"""`qten-gen adopt` as a command: its report, what it writes, and its exit status."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qten_gen.cli import DONE, FOUND, MISUSE
from qten_gen.cli.command import main

_SOURCE = """\
import torch
from lightning import LightningModule
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("positions", torch.ones(2))


class Wide(Encoder):
    pass


class Task(LightningModule):
    pass
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.qten-gen]\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "model.py").write_text(_SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main(["adopt", *arguments], out, err)
    return status, re.sub(r"in \d+\.\d+s", "in 0.00s", out.getvalue()), err.getvalue()


def test_the_report_says_what_would_be_done_and_why_the_rest_stays(project: Path) -> None:
    status, out, err = _run("shop")
    assert (status, err) == (DONE, "")
    assert (
        out
        == """\
shop/model.py:6: Encoder: derive from Module of qten_gen; add positions: torch.Tensor
shop/model.py:12: Wide: nothing to write: its base Encoder is adopted
shop/model.py:16: Task stays: its base lightning.LightningModule is a class of a library
    help: write class Task(LightningModule, Module), which keeps the constructor of LightningModule
    1 stays: its base lightning.LightningModule is a class of a library
3 classes in 1 file: 2 to adopt, 1 stays in 0.00s
"""
    )
    assert (project / "shop" / "model.py").read_text() == _SOURCE


def test_writing_changes_the_sources_and_a_second_run_has_nothing_to_do(project: Path) -> None:
    assert _run("shop", "--write", "--quiet")[0] == DONE
    text = (project / "shop" / "model.py").read_text()
    assert "class Encoder(Module):" in text
    status, out, _ = _run("shop", "--write", "--quiet")
    assert out.splitlines()[-1] == "3 classes in 1 file: 2 adopted already, 1 stays in 0.00s"
    assert (project / "shop" / "model.py").read_text() == text
    assert main(["--quiet", "shop"], io.StringIO(), io.StringIO()) == DONE
    assert (project / "shop" / "model_qten.pyi").exists()
    assert status == DONE


@pytest.mark.parametrize("given", ["shop", "shop/same.py"])
def test_a_link_stays_one_and_its_file_is_written_once(project: Path, given: str) -> None:
    link = project / "shop" / "same.py"
    link.symlink_to("model.py")
    status, _, err = _run(given, "--write", "--quiet")
    assert (status, err) == (DONE, "")
    assert link.is_symlink()
    assert "class Encoder(Module):" in (project / "shop" / "model.py").read_text()


def test_a_link_out_of_the_given_folder_is_not_followed(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "model.py"
    (project / "shop" / "model.py").rename(outside)
    (project / "shop" / "model.py").symlink_to(outside)
    before = outside.read_text()
    status, _, err = _run("shop", "--write", "--quiet")
    assert (status, outside.read_text()) == (MISUSE, before)
    assert f"shop/model.py: it is a link to {outside}, outside the given paths; name that file to edit it" in err


def test_the_diff_is_all_of_standard_output_and_undoes_an_adoption_beside_later_edits(project: Path) -> None:
    status, patch, err = _run("shop", "--diff")
    model = project / "shop" / "model.py"
    assert (status, model.read_text()) == (DONE, _SOURCE)
    assert patch.startswith("--- a/shop/model.py\n+++ b/shop/model.py\n") and "3 classes in 1 file" in err
    assert "-class Encoder(nn.Module):\n+class Encoder(Module):\n" in patch
    _run("shop", "--write")
    model.write_text(f"{model.read_text()}\n\nlimit = 3\n")
    subprocess.run(["git", "apply", "-R", "-"], input=patch, text=True, cwd=project, check=True)
    assert model.read_text() == f"{_SOURCE}\n\nlimit = 3\n"


def test_a_base_is_found_in_another_folder_of_a_namespace_package(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.qten-gen]\nsource-roots = ["one", "two"]\n')
    for folder in ("one", "two"):
        (project / folder / "acme").mkdir(parents=True)
    (project / "one/acme/base.py").write_text(
        "from torch import nn\n\n\nclass Base(nn.Module):\n    def __init__(self, size): super().__init__()\n"
    )
    (project / "two/acme/child.py").write_text("from acme.base import Base\n\n\nclass Child(Base): ...\n")
    assert _run("one", "two", "--write")[0] == DONE
    assert "class Child(Base, init=False): ..." in (project / "two/acme/child.py").read_text()


def test_only_files_below_the_paths_change(project: Path) -> None:
    (project / "shop" / "other.py").write_text("from torch import nn\n\n\nclass Other(nn.Module): ...\n")
    assert _run("shop/other.py", "--write")[1].splitlines()[-1] == "1 class in 1 file: 1 adopted in 0.00s"
    assert (project / "shop" / "model.py").read_text() == _SOURCE


def test_a_file_that_does_not_parse_fails_the_run_and_stays(project: Path) -> None:
    (project / "shop" / "bad.py").write_text("import torch\nclass A(torch.nn.Module:\n")
    status, out, _ = _run("shop", "--write")
    assert status == FOUND
    assert "shop/bad.py:2:" in out and "QG001" in out
    assert (project / "shop" / "bad.py").read_text() == "import torch\nclass A(torch.nn.Module:\n"
    assert "class Encoder(Module):" in (project / "shop" / "model.py").read_text()


def test_a_class_stays_whose_generated_module_could_not_be_written_or_imported(project: Path) -> None:
    (project / "shop" / "model_qten.py").write_text("mine = 1\n")
    status, out, _ = _run("shop", "--write")
    assert "Encoder stays: model_qten.py exists and was not written by qten-gen; it would be overwritten [QG" in out
    (project / "shop" / "model.py").rename(project / "shop" / "my-model.py")
    _, out, _ = _run("shop", "--write")
    why = "'my-model' is not a valid module name, so the generated module could not be imported [QG005]"
    assert (status, f"Encoder stays: {why}" in out) == (DONE, True)
    assert (project / "shop" / "my-model.py").read_text() == _SOURCE
    assert main(["--quiet", "shop"], io.StringIO(), io.StringIO()) == DONE


def test_generated_files_are_no_obstacle_to_the_next_level(project: Path) -> None:
    assert _run("shop", "--write")[0] == DONE
    assert main(["--quiet", "shop"], io.StringIO(), io.StringIO()) == DONE
    assert _run("shop", "--write", "--level", "annotate")[0] == DONE
    assert "    positions: torch.Tensor\n" in (project / "shop" / "model.py").read_text()


def test_a_class_in_a_read_only_file_stays_with_its_subclasses(project: Path) -> None:
    (project / "shop" / "other.py").write_text(
        "from shop.model import Encoder\n\n\nclass Mine(Encoder):\n    rate: float = 0.5\n"
    )
    (project / "shop" / "model.py").chmod(0o444)
    status, out, err = _run("shop", "--write")
    assert (status, err) == (DONE, "")
    assert "Encoder stays: its file is read-only\n    help: make the file writable\n" in out
    assert "Mine stays: its base Encoder stays: its file is read-only" in out
    assert (project / "shop" / "model.py").read_text() == _SOURCE
    assert "class Mine(Encoder):\n" in (project / "shop" / "other.py").read_text()


def test_a_link_in_a_circle_is_told_and_the_rest_is_written(project: Path) -> None:
    (project / "shop" / "again.py").symlink_to("again.py")
    status, _, err = _run("shop", "--write")
    assert status == MISUSE
    assert err.startswith("error: shop/again.py: cannot read it: ") and err.count("\n") == 1
    assert "class Encoder(Module):" in (project / "shop" / "model.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "error: no such file or folder: missing"),
        (["--leve"], "error: unknown option --leve; did you mean --level?"),
        (["--level", "all"], "error: --level: invalid choice: 'all' (one of "),
        (["--max-unadopted", "3"], "error: unknown option --max-unadopted"),
    ],
)
def test_wrong_usage_is_told(project: Path, arguments: list[str], message: str) -> None:
    status, _, err = _run(*arguments)
    assert status == MISUSE
    assert err.startswith(message)


def test_help_names_every_option() -> None:
    status, out, _ = _run("--help")
    options = "--level --write --diff --dataclasses --color --quiet --verbose --help"
    assert status == DONE
    assert all(option in out for option in options.split())


def test_adopting_loads_neither_torch_nor_the_runtime_and_libcst_where_something_changes(project: Path) -> None:
    program = (
        "import sys; from qten_gen.cli.command import main; main(['adopt', '-q', 'shop']);"
        "print([name for name in ('torch', 'libcst', 'qten_gen.runtime') if name in sys.modules])"
    )

    def loaded() -> str:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[-1]

    assert loaded() == "['libcst']", "it rewrites the classes that are to be adopted"
    assert _run("shop", "--write")[0] == DONE
    assert loaded() == "[]"
