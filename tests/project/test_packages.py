"""What modules are called: packages, source roots, and the warning where a name seems to be another."""

import os

import pytest

from qten_gen.project.config import Config
from qten_gen.project.files import discover
from tests.command import BATCH, Command

FILES = ("top.py", "shop/model.py", "shop/deep/__init__.py", "shop/deep/sub.py", "my-scripts/train.py")


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/top.py", "top"),
        ("src/shop/model.py", "shop.model"),
        ("src/shop/deep/__init__.py", "shop.deep"),
        ("src/shop/deep/sub.py", "shop.deep.sub"),
        ("src/my-scripts/train.py", "train"),
    ],
)
def test_folders_below_a_source_root_are_packages(qten_gen: Command, path: str, module: str) -> None:
    for name in FILES:
        qten_gen.write(f"src/{name}", "")
    assert discover(["."], Config(os.getcwd(), source_roots=("src",))).sources[path].origin.module == module


def test_the_nearest_source_root_counts(qten_gen: Command) -> None:
    qten_gen.write("tools/train/model.py", "")
    tree = discover(["."], Config(os.getcwd(), source_roots=(".", "tools/train")))
    assert tree.sources["tools/train/model.py"].origin.module == "model"


def test_a_source_root_may_have_an_init(qten_gen: Command) -> None:
    qten_gen.write("src/__init__.py", "")
    qten_gen.write("src/model.py", "")
    found = discover(["."], Config(os.getcwd(), source_roots=("src",)))
    origins = {path: source.origin for path, source in found.sources.items()}
    assert origins["src/model.py"].module == "model"
    assert (origins["src/__init__.py"].module, origins["src/__init__.py"].is_package) == ("__init__", False)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "from model import Batch as Batch"),
        ({"src/torch/weights.bin": "", "src/shop/torch/nn/weights.bin": ""}, "from model import Batch as Batch"),
        ({"pyproject.toml": ""}, "from .model import Batch as Batch"),
        ({"pyproject.toml": "", "src/__init__.py": ""}, "from model import Batch as Batch"),
        ({"pyproject.toml": "[tool.qten-gen]\nsource-roots = []\n"}, "from model import Batch as Batch"),
        ({"pyproject.toml": "[tool.qten-gen]\nsource-roots = ['.']\n"}, "from .model import Batch as Batch"),
        ({"src/shop/__init__.py": ""}, "from .model import Batch as Batch"),
    ],
)
def test_the_folder_src_of_a_project_is_a_source_root(qten_gen: Command, files: dict[str, str], expected: str) -> None:
    qten_gen.write("src/shop/model.py", BATCH)
    for path, text in files.items():
        qten_gen.write(path, text)
    qten_gen("src")
    assert f"\n{expected}\n" in qten_gen.read("src/shop/model_qten.pyi")


IMPORTED = (
    "shop/model.py:1:1: warning QG006 [implicit-namespace-package]: train.py imports this file as shop.model; "
    "there is no shop/__init__.py, so it is read as the module model"
)


@pytest.mark.parametrize("line", ["from shop.model_qten import Batch", "from shop import model", "import shop.model"])
def test_a_program_that_names_the_folder_of_a_script_is_noticed(qten_gen: Command, line: str) -> None:
    qten_gen.write("shop/model.py", BATCH)
    qten_gen.write("train.py", line)
    for _ in range(2):
        result = qten_gen("--output-format=concise", ".")
        assert (result.status, result.out.splitlines()[0]) == (0, IMPORTED)
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nsource-roots = ["."]\n')
    assert qten_gen(".").summary == "2 files written"


def test_the_folder_that_is_named_is_the_one_without_the_file(qten_gen: Command) -> None:
    qten_gen.write("tools/shop/__init__.py", "")
    qten_gen.write("tools/shop/model.py", BATCH)
    qten_gen.write("train.py", "import tools.shop.model")
    assert "; there is no tools/__init__.py, so it is read as the module shop.model" in qten_gen(".").out


def test_a_program_that_is_changed_later_is_noticed_too(qten_gen: Command) -> None:
    qten_gen.write("shop/model.py", BATCH)
    qten_gen.write("train.py", "")
    assert qten_gen(".").summary == "2 files written"
    qten_gen.write("train.py", "import shop.model")
    assert qten_gen("--output-format=concise", ".").out.splitlines()[0] == IMPORTED
    qten_gen.write("train.py", "")
    assert qten_gen(".").summary == "2 files up to date"


def test_a_script_that_imports_relatively_is_noticed(qten_gen: Command) -> None:
    qten_gen.write("shop/base.py", BATCH)
    qten_gen.write("shop/model.py", "from .base import Batch\n\nclass Sub(Batch):\n    y: str\n")
    (first, *_) = qten_gen("--output-format=concise", ".").out.splitlines()
    assert first.startswith(
        "shop/model.py:1:1: warning QG006 [implicit-namespace-package]: this file uses relative imports; "
    )


@pytest.mark.parametrize("line", ["import other.model", "from base import x", "import model", "import shop.models"])
def test_names_of_other_modules_are_nothing_to_notice(qten_gen: Command, line: str) -> None:
    qten_gen.write("shop/model.py", BATCH)
    qten_gen.write("shop/train.py", line)
    assert qten_gen(".").summary == "2 files written"


COPIES = {"a/pkg/__init__.py": "", "a/pkg/base.py": BATCH, "b/pkg/__init__.py": "", "b/pkg/base.py": BATCH}


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.base import Batch\nclass Sub(Batch):\n    y: str\n",
        "import pkg.base\nfrom qten_gen import TensorClass\nclass Sub(pkg.base.Batch):\n    y: str\n",
        "from pkg.base import Batch\nfrom qten_gen import TensorClass\nclass Box(TensorClass):\n    inner: Batch\n",
    ],
)
def test_a_base_or_field_whose_module_is_there_twice_is_told_of(qten_gen: Command, text: str) -> None:
    for path, source in COPIES.items():
        qten_gen.write(path, source)
    qten_gen.write("scripts/train.py", text)
    line = qten_gen("--output-format=concise", ".").out.splitlines()[0]
    assert "error QG007" in line
    assert "is found in several places, a/pkg/" in line
    qten_gen.write("pyproject.toml", '[tool.qten-gen]\nexclude = ["b"]\n')
    assert qten_gen("scripts").status == 0
    assert qten_gen.exists("scripts/train_qten.py")


def test_a_plain_class_whose_base_is_there_twice_is_none_of_ours(qten_gen: Command) -> None:
    for path in COPIES:
        qten_gen.write(path, "class Batch: ...\n")
    qten_gen.write("scripts/train.py", f"from pkg.base import Batch as Plain\n{BATCH.strip()}\nclass Sub(Plain): ...\n")
    assert qten_gen(".").summary == "2 files written"
