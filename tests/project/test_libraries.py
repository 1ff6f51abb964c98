"""Classes of installed libraries as bases and field types: the libraries are read as text and never imported."""

import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from zipfile import ZipFile

import pytest

from qten_gen.project import cache, libraries, paths, sources
from tests.command import Command
from tests.project.installed import MODEL, NETS, Environment


@pytest.fixture
def environment(
    qten_gen: Command, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Environment:
    """An environment in the place of the one that runs, and a project that uses a library."""
    found = Environment(tmp_path_factory.mktemp("environment"))
    monkeypatch.setattr(libraries, "search_path", lambda: [str(found.site)])
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("app/__init__.py", "")
    qten_gen.write("app/model.py", MODEL)
    return found


def is_right(qten_gen: Command) -> bool:
    """Whether the children of the library's classes were generated, with inherited fields."""
    text = qten_gen.read("app/model_qten.py")
    return "class _Wider" in text and "width" in text and "class _Box" in text and "shop_models.nets:Point" in text


def generated(qten_gen: Command) -> bool:
    result = qten_gen("--output-format=concise", "app")
    assert (result.status, result.summary) == (0, "2 files written"), result
    return is_right(qten_gen)


@pytest.mark.parametrize("suffix", [".py", ".pyi"])
def test_a_library_is_read_from_its_source_or_its_stub(
    qten_gen: Command, environment: Environment, suffix: str
) -> None:
    environment.install(suffix)
    assert generated(qten_gen)
    assert qten_gen("app/model.py").summary == "2 files up to date"
    assert qten_gen("--check", "app").status == 0


def test_stubs_of_a_distribution_of_their_own_are_read(qten_gen: Command, environment: Environment) -> None:
    environment.write("shop_models-stubs/__init__.pyi", "from .nets import Net as Net, Point as Point\n")
    environment.write("shop_models-stubs/nets.pyi", NETS)
    environment.metadata("types-shop", ["shop_models-stubs/__init__.pyi", "shop_models-stubs/nets.pyi"])
    assert generated(qten_gen)


@pytest.mark.parametrize("way", ["path file", "finder"])
def test_an_editable_library_is_found(
    qten_gen: Command, environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    environment.install()
    source = tmp_path / "source"
    source.mkdir()
    (environment.site / "shop_models").rename(source / "shop_models")

    class Finder:
        __module__ = "__editable___shop_models_1_0_finder"

        @staticmethod
        def find_spec(name: str, path: object) -> ModuleSpec | None:
            return spec_from_file_location(name, source / name / "__init__.py") if name == "shop_models" else None

    if way == "finder":
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    else:  # which Python reads when it starts
        monkeypatch.setattr(libraries, "search_path", lambda: [str(environment.site), str(source)])
    assert generated(qten_gen)


def test_a_library_that_depends_on_one_that_declares_is_read_too(qten_gen: Command, environment: Environment) -> None:
    environment.install()
    environment.write("more_models.py", "from shop_models.nets import Net\n\nclass Deep(Net):\n    depth: int\n")
    environment.metadata("more.models", ["more_models.py"], requires='Shop_Models ; python_version > "3"')
    qten_gen.write("app/model.py", "from more_models import Deep\n\nclass Deeper(Deep):\n    more: int\n")
    assert qten_gen("app").summary == "2 files written"
    assert "width" in qten_gen.read("app/model_qten.py")


def test_a_change_of_the_library_makes_its_children_stale(qten_gen: Command, environment: Environment) -> None:
    environment.install()
    assert generated(qten_gen)
    environment.write("shop_models/nets.py", NETS.replace("width", "breadth"))
    assert qten_gen("--check", "app").status == 1
    assert qten_gen("app").summary == "1 file up to date, 1 written"
    assert "breadth" in qten_gen.read("app/model_qten.py")


def test_other_libraries_are_not_read(
    qten_gen: Command, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.write("bigtorch/__init__.py", "from bigtorch.nn import *\n" * 100)
    environment.write("bigtorch/nn.py", "class Module: ...\n")
    environment.metadata("bigtorch", ["bigtorch/__init__.py", "bigtorch/nn.py"], requires="")
    environment.install()
    qten_gen.write("app/other.py", "import bigtorch.nn\nfrom bigtorch import x\n\nclass Net(bigtorch.nn.Module): ...\n")
    read: list[str] = []
    original = paths.read_regular

    def noted(path: str) -> bytes:
        read.append(path)
        return original(path)

    monkeypatch.setattr(sources, "read_regular", noted)
    assert generated(qten_gen)
    assert {os.path.basename(path) for path in read} == {"__init__.py", "model.py", "other.py", "nets.py"}
    assert not [path for path in read if "bigtorch" in path]


def test_outputs_stay_when_the_library_is_gone(qten_gen: Command, environment: Environment) -> None:
    environment.install()
    assert generated(qten_gen)
    (environment.site / "shop_models").rename(environment.folder / "gone")
    for arguments in (["app"], ["app/model.py"], ["--check", "app"]):
        result = qten_gen("--output-format=concise", *arguments)
        assert result.status == 1
        assert (
            "app/model.py:4:13: error QG007 [unresolved-import]: the module shop_models of the base Net cannot be found"
            in result.out
        )
    assert is_right(qten_gen)
    (environment.folder / "gone").rename(environment.site / "shop_models")
    assert qten_gen("--check", "app").status == 0


def test_a_module_of_the_project_that_is_gone_is_not_to_be_installed(qten_gen: Command) -> None:
    qten_gen.write("app/__init__.py", "")
    qten_gen.write("app/base.py", "from qten_gen import TensorClass\nclass Base(TensorClass): ...\n")
    qten_gen.write("app/model.py", "from app.base import Base\nclass Child(Base): ...\n")
    assert qten_gen("app").status == 0
    (qten_gen.folder / "app/base.py").unlink()
    result = qten_gen("app")
    assert result.status == 1
    assert "help: define it there again, or import the class from where it is now" in result.out


def test_a_nested_class_of_a_library_that_is_gone_does_not_become_a_plain_value(
    qten_gen: Command, environment: Environment
) -> None:
    environment.install()
    qten_gen.write(
        "app/model.py",
        "from qten_gen import TensorClass\nfrom shop_models import Point\n\nclass Box(TensorClass):\n    corner: Point\n",
    )
    assert qten_gen("app").summary == "2 files written"
    before = qten_gen.read("app/model_qten.py")
    (environment.site / "shop_models").rename(environment.folder / "gone")
    result = qten_gen("--output-format=concise", "app")
    assert (result.status, "QG007" in result.out) == (1, True)
    assert qten_gen.read("app/model_qten.py") == before


def test_a_plain_dataclass_whose_base_is_nowhere_is_none_of_ours(qten_gen: Command) -> None:
    text = "import dataclasses\nfrom shop_models import Net\n\n@dataclasses.dataclass\nclass Wider(Net):\n"
    qten_gen.write("plain.py", f"import qten_gen\n{text}    w: int = dataclasses.field(default=3)\n")
    assert qten_gen("plain.py").status == 0


@pytest.mark.parametrize("base", ["nn.Module", "Enum", "Other", "threading.Thread"])
def test_bases_that_are_somewhere_are_not_reported(qten_gen: Command, base: str) -> None:
    head = "import threading\nfrom enum import Enum\nfrom torch import nn\nfrom qten_gen import param\n\nclass Other: ...\n"
    qten_gen.write("model.py", f"{head}\nclass Mine({base}):\n    w: nn.Parameter = param(3)\n")
    assert "QG007" not in qten_gen("model.py").out


@pytest.mark.long(8)
def test_a_library_with_declarations_is_used_from_a_wheel(tmp_path: Path) -> None:
    """The library is generated, built, installed and used, as its authors and its users do it. Nothing runs in memory."""
    library, app, site = tmp_path / "library", tmp_path / "app", tmp_path / "env/lib/python3.11/site-packages"
    for path, text in {
        library / "pyproject.toml": '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "shop-models"\nversion = "1.0"\ndependencies = ["qten-gen"]\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["shop_models"]\n',
        library / "shop_models/__init__.py": "from .nets import Net as Net, Point as Point\n",
        library / "shop_models/nets.py": NETS.replace("\n    ", "\n").strip() + "\n",
        app / "app/__init__.py": "",
        app / "app/model.py": MODEL.replace("\n    ", "\n").strip() + "\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    repository = str(Path(__file__).parents[2])
    variables = {**os.environ, "PYTHONPATH": f"{repository}{os.pathsep}{site}", "QTEN_GEN_JIT": "off"}

    def python(folder: Path, *arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=folder, env=variables, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python(library, "-m", "qten_gen", "shop_models")
    python(library, "-c", "from hatchling.build import build_wheel; build_wheel('dist')")
    site.mkdir(parents=True)
    (wheel,) = (library / "dist").glob("*.whl")
    ZipFile(wheel).extractall(site)
    python(app, "-m", "qten_gen", "app/model.py")
    python(app, "-m", "qten_gen", "--check", ".")
    program = (
        "from app.model import Wider, Box; import torch; print([*Wider(width=2, depth=1).state_dict()], Box.__mro__[2])"
    )
    assert python(app, "-c", program) == "['weight'] <class 'shop_models.nets.Point'>\n"


def test_a_module_that_appears_inside_a_library_is_found_by_the_next_run(
    qten_gen: Command, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is none that Python searches; the file that imports it declares nothing itself."""
    monkeypatch.setattr(cache, "COARSE_CLOCK", -(10**18))  # as if all of it were old
    environment.write("torch/__init__.py")
    environment.write("shop_models/__init__.py")
    environment.metadata("shop-models", ["shop_models/__init__.py"])
    qten_gen.write("app/types.py", "from shop_models.consts import Kind\n")
    qten_gen.write(
        "app/model.py",
        "from qten_gen import TensorClass\nfrom .types import Kind\n\nclass Item(TensorClass):\n    x: Kind\n",
    )
    for _ in range(2):
        assert qten_gen("app").status == 0
    environment.write("shop_models/consts.py", "from torch import Tensor\nKind = Tensor\n")
    assert qten_gen("--check", "app").status == 1
    qten_gen("app")
    assert "_rt.tensor_property" in qten_gen.read("app/model_qten.py")


def test_a_folder_without_python_files_is_no_module(qten_gen: Command) -> None:
    qten_gen.write(
        "src/shop/model.py", "from qten_gen import param\nfrom data import Net\nclass A(Net):\n    w: int = param(1)\n"
    )
    qten_gen.write("src/data/raw/table.csv", "")
    assert "QG007" in qten_gen("src").out
    qten_gen.write("src/data/raw/names.py", "")
    assert "QG007" not in qten_gen("src").out
