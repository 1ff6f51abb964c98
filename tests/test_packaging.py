"""The wheel, as somebody gets it who has no repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.generated_sources import generated_sources

REPOSITORY = Path(__file__).parents[1]
SHOP = REPOSITORY / "tests" / "golden" / "shop"

# One worker builds the wheel, once; it is the one that fills the cache of mypy.
pytestmark = pytest.mark.xdist_group("mypy")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this repository, built from its source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and nothing else of ours.

    What the wheel depends on is reached through a path file: files of that kind in the folder reached so, such as that of an
    editable install, are not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    interpreter = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    site_packages = Path(sysconfig.get_path("purelib", "venv", paths))
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return interpreter


BACKENDS = {
    "hatchling": "hatchling.build",
    "setuptools": "setuptools.build_meta",
    "pdm-backend": "pdm.backend",
    "poetry-core": "poetry.core.masonry.api",
    "uv-build": "uv_build",
}
"""What builds wheels, and the module of each that does."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the sources of the sample package and none of its generated files."""
    shutil.copytree(SHOP, tmp_path / "shop", ignore=shutil.ignore_patterns("__pycache__", "*.txt"))
    return tmp_path


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command prints; it has to succeed and to be silent on the error stream."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env={**variables, **environment}, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_the_wheel_holds_the_package_and_the_stubs(wheel: Path) -> None:
    expected = {
        (prefix / path.relative_to(REPOSITORY / folder)).as_posix()
        for folder, prefix in {
            "qten_gen": Path("qten_gen"),
            "stubs/qten_gen_typing": Path("qten_gen_typing"),
            "templates": Path("qten_gen/templates"),
        }.items()
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and path.suffix in {".py", ".pyi", ".typed", ".j2"}
        if folder != "templates" or path.suffix == ".j2"
    }
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == expected


def test_the_package_in_the_environment_is_the_one_of_the_wheel(python: Path, tmp_path: Path) -> None:
    place = run(python, "-c", "import qten_gen; print(qten_gen.__file__)", folder=tmp_path)
    assert Path(place).is_relative_to(python.parents[1])


def test_the_installed_command_generates_what_the_repository_holds(python: Path, shop: Path) -> None:
    run(python.with_name("qten-gen"), "shop", folder=shop)
    generated = {path.name: path.read_text() for path in (shop / "shop").glob("*_qten.py*")}
    assert generated == {path.name: path.read_text() for path in (generated_sources() / "shop").glob("*_qten.py*")}


def test_the_generated_code_runs_on_the_installed_runtime_and_needs_torch_alone(python: Path, shop: Path) -> None:
    run(python.with_name("qten-gen"), "shop", folder=shop)
    program = (
        "import sys; sys.modules.update({'qten_gen.generate': None})\n"
        "import shop.model, shop.model_qten; print(shop.model.Point is shop.model_qten.Point)"
    )
    assert run(python, "-c", program, folder=shop, QTEN_GEN_JIT="off") == "True\n"


def test_a_class_without_generated_file_is_rendered_by_the_installed_package(python: Path, shop: Path) -> None:
    program = "import torch, shop.model; print(shop.model.Point(torch.zeros(3)).position.shape)"
    assert run(python, "-c", program, folder=shop) == "torch.Size([3])\n"


def test_a_type_checker_finds_the_types_of_the_installed_package(python: Path, shop: Path) -> None:
    (shop / "use.py").write_text(
        "from shop.model import Batch\n\n\ndef f(batch: Batch) -> None:\n    reveal_type(batch + 1)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python)]
    cache = shop / "cache"
    if (
        REPOSITORY / ".mypy_cache"
    ).is_dir():  # a copy: the package lies elsewhere here, which the other checks need not know
        shutil.copytree(REPOSITORY / ".mypy_cache", cache)
    assert run(*mypy, "use.py", folder=shop, MYPY_CACHE_DIR=str(cache)) == (
        'use.py:5: note: Revealed type is "shop.model.Batch"\nSuccess: no issues found in 1 source file\n'
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_package_with_generated_code_needs_only_the_runtime_where_it_is_installed(
    backend: str, python: Path, shop: Path, tmp_path: Path
) -> None:
    run(python.with_name("qten-gen"), "shop", folder=shop)
    (shop / "src").mkdir()
    package = (shop / "shop").rename(shop / "src" / "shop")
    (package / "py.typed").touch()
    (shop / "pyproject.toml").write_text(
        f'[build-system]\nrequires = ["{backend}"]\nbuild-backend = "{BACKENDS[backend]}"\n\n'
        '[project]\nname = "shop"\nversion = "1"\ndependencies = ["qten-gen"]\n'
    )
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--wheel-dir",
        "dist",
        ".",
    ]
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # uv's backend is a program
    subprocess.run(build, cwd=shop, env={**os.environ, "PATH": paths}, check=True, capture_output=True)
    (built,) = (shop / "dist").glob("*.whl")
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(place), str(built)]
    subprocess.run(install, check=True, capture_output=True)
    files = {path.name for path in (place / "shop").iterdir()}
    assert files >= {"model.py", "model_qten.py", "model_qten.pyi", "py.typed"}
    program = (
        "import sys; sys.path.insert(0, 'installed')\n"
        "sys.modules.update({'qten_gen.generate': None, 'jinja2': None, 'libcst': None})\n"
        "import shop.model, shop.model_qten; print(shop.model.Point is shop.model_qten.Point)"
    )
    assert run(python, "-c", program, folder=tmp_path, QTEN_GEN_JIT="off") == "True\n"
