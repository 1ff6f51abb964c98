"""What is loaded: by the command, nothing to tell its version and the standard library while nothing changed; by the runtime.

Times differ from machine to machine; the set of loaded modules does not.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import qten_gen
from qten_gen.cli.command import main

HEAVY = {
    "concurrent",
    "dataclasses",
    "difflib",
    "importlib.metadata",
    "inspect",
    "jinja2",
    "libcst",
    "mypy",
    "numpy",
    "pathlib",
    "rich",
    "shutil",
    "subprocess",
    "tempfile",
    "torch",
}

SOURCE = "from torch import Tensor\nfrom qten_gen import TensorClass\nclass Batch(TensorClass):\n    x: Tensor\n"


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules that a run of the command imports, beyond those of the bare interpreter."""
    return imported(folder, "-m", "qten_gen", *arguments) - of_the_interpreter()


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that `python ARGUMENTS` imports."""
    environment = {**os.environ, "PYTHONPATH": str(Path(qten_gen.__file__).parents[1])}
    command = [sys.executable, "-X", "importtime", *arguments]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    lines = (line for line in result.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


@cache
def of_the_interpreter() -> set[str]:
    """What the bare interpreter imports, also for the path files of its environment."""
    return imported(Path.cwd(), "-c", "pass")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose outputs are up to date."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text(SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert main(["--quiet", "src"]) == 0
    return tmp_path


def test_the_version_is_told_without_loading_anything(tmp_path: Path) -> None:
    names = loaded(tmp_path, "--version")
    assert not names & (HEAVY | {"argparse", "hashlib", "json"})
    assert {name for name in names if name.startswith("qten_gen")} == {
        "qten_gen",
        "qten_gen.cli",
        "qten_gen.cli.command",
        "qten_gen.cli.process",
    }


@pytest.mark.parametrize("arguments", [["src"], ["--check", "src"], ["--diff", "src"], ["src/model.py"]])
def test_an_unchanged_tree_loads_the_standard_library_only(project: Path, arguments: list[str]) -> None:
    names = loaded(project, *arguments)
    assert not names & (HEAVY | {"tomllib"})
    outside = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert outside == {"qten_gen"}
    rooms = {name.split(".")[1] for name in names if name.startswith("qten_gen.")}
    assert rooms == {"cli", "common", "project", "run"}


def test_a_program_whose_files_are_fresh_loads_no_jinja2(project: Path) -> None:
    assert "jinja2" not in imported(project / "src", "-c", "import model")


def test_a_file_without_a_declaration_is_read_without_jinja2(project: Path) -> None:
    (project / "src" / "plain.py").write_text("from qten_gen import TensorClass\n")
    names = loaded(project, "src")
    assert "qten_gen.generate.plan" in names
    assert "jinja2" not in names


@pytest.mark.parametrize("arguments", [["src"], []])
def test_a_run_over_paths_loads_no_parser_of_options(project: Path, arguments: list[str]) -> None:
    (project / "src" / "plain.py").write_text("from qten_gen import TensorClass\n")
    names = loaded(project, *arguments)
    assert "qten_gen.generate.plan" in names
    assert not names & {"argparse", "qten_gen.cli.parser"}


def test_a_changed_tree_loads_no_torch(project: Path) -> None:
    (project / "src" / "model.py").write_text(SOURCE + "    y: Tensor\n")
    names = loaded(project, "src")
    assert "qten_gen.read.module" in names
    assert not names & {"torch", "numpy", "importlib.metadata", "libcst"}


def printed(program: str) -> set[str]:
    """The words that a program prints which has imported the runtime."""
    environment = {**os.environ, "PYTHONPATH": str(Path(qten_gen.__file__).parents[1])}
    lines = f"import sys\nimport qten_gen.runtime\nfrom qten_gen import Module, TensorClass\n{program}"
    done = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


PROGRAM = """
import sys
import torch
from model import Batch, Net
batch = Batch(torch.rand(4, 6), batch_size=[4])
assert batch[0].x.shape == (6,) and batch.to("cpu").mask is None
assert Net(3, width=6)(batch.x).shape == (4, 3)
assert not {"jinja2", "libcst", "safetensors", "tensordict"} & sys.modules.keys()
files = [module.__file__ for name, module in sys.modules.items() if name.startswith("qten_gen")]
print(len(files), sum(len(open(file, encoding="utf-8").readlines()) for file in files))
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("qten_gen.")}))
"""

MODULES, LINES = 86, 8_590
"""What this program may load of the package. What a change adds has to be worth it to every program."""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_a_program_whose_files_are_fresh_loads_little_and_nothing_of_the_generator(
    project: Path, future: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    declared = (
        "import torch\nfrom torch import Tensor, nn\nfrom qten_gen import Module, TensorClass, buffer, param\n"
        "class Batch(TensorClass):\n    x: Tensor\n    mask: Tensor | None = None\n    origin: str = 'train'\n"
        "class Net(Module):\n    dim: int\n    width: int = 4\n"
        "    weight: nn.Parameter = param('dim', 'width', initializer=nn.init.xavier_uniform_)\n"
        "    scale: Tensor = buffer('2*dim', initializer=nn.init.ones_)\n"
        "    def forward(self, x: Tensor) -> Tensor:\n        return nn.functional.linear(x, self.weight)\n"
    )
    (project / "src" / "model.py").write_text(future + declared)
    assert main(["--quiet", "src"]) == 0
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=project / "src", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules, lines, *rooms = done.stdout.split()
    assert rooms == ["common", "runtime"]
    assert int(modules) <= MODULES
    assert int(lines) <= LINES


def test_the_runtime_makes_few_dataclasses_when_it_is_imported() -> None:
    """Each takes as long as three files to load. What is only data is a named tuple, or one of our records."""
    found = printed(
        "for module in [*sys.modules.values()]:\n"
        "    for value in [*vars(module).values()]:\n"
        "        has = getattr(value, '__dict__', ())\n"
        "        if '__dataclass_fields__' in has and '__record__' not in has and value.__module__.startswith('qten_gen.'):\n"
        "            print(value.__qualname__)\n"
    )
    assert found == {"Device"}
