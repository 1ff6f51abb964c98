"""Small projects are built with each backend, without a network: one with stale generated files is refused."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

import qten_gen as package
from tests.command import BATCH, Command

ROOT = Path(package.__file__).parents[1]
PROJECT = '[project]\nname = "shop"\nversion = "1"\n\n'
HATCHLING = f"""{PROJECT}[build-system]
requires = ["hatchling", "qten-gen"]
build-backend = "hatchling.build"

[tool.hatch.build]
dev-mode-dirs = ["src"]

[tool.hatch.build.targets.wheel]
packages = ["src/shop"]

[tool.hatch.build.hooks.qten-gen]
"""
SETUPTOOLS = f"""{PROJECT}[build-system]
requires = ["setuptools", "qten-gen"]
build-backend = "setuptools.build_meta"

[tool.setuptools.cmdclass]
build_py = "qten_gen.building.with_setuptools.CheckGenerated"
sdist = "qten_gen.building.with_setuptools.CheckSource"
"""
BACKENDS = {
    "hatchling": (HATCHLING, "hatchling.build"),
    "setuptools": (SETUPTOOLS, "setuptools.build_meta"),
}


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the metadata of this project, as an installation writes it: an old editable one may lack the entry point."""
    folder = tmp_path_factory.mktemp("site")
    metadata = folder / "qten_gen-9.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: qten-gen\nVersion: 9\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["hatch"]
    (metadata / "entry_points.txt").write_text(
        "[hatch]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
    )
    return folder


Build = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(params=BACKENDS)
def build(request: pytest.FixtureRequest, qten_gen: Command, installed: Path) -> Build:
    """Builds a wheel of a project with one module, and returns what the backend printed."""
    text, backend = BACKENDS[request.param]
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/model.py", BATCH)
    qten_gen.write("pyproject.toml", text)

    def run(function: str = "build_wheel") -> "subprocess.CompletedProcess[str]":
        program = f"import {backend} as backend; backend.{function}('dist')"
        paths = os.pathsep.join(map(str, (installed, ROOT)))
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)

    return run


def contents(folder: Path) -> set[str]:
    (wheel,) = folder.glob("dist/*.whl")
    return {name for name in ZipFile(wheel).namelist() if "dist-info" not in name}


def test_a_build_refuses_missing_and_stale_files(build: Build, qten_gen: Command) -> None:
    refused = build()
    said = refused.stdout + refused.stderr
    assert refused.returncode != 0
    assert (
        re.search(r"missing: src/shop/model_qten\.py\b", said)
        and "help: run qten-gen, and commit what it writes" in said
    )
    assert not qten_gen.exists("src/shop/model_qten.py") and list(qten_gen.folder.glob("dist/*.whl")) == []


def test_a_build_packs_fresh_files(build: Build, qten_gen: Command) -> None:
    assert qten_gen().status == 0
    done = build()
    assert done.returncode == 0, done.stderr
    names = {"shop/__init__.py", "shop/model.py", "shop/model_qten.py", "shop/model_qten.pyi"}
    assert contents(qten_gen.folder) == names


def test_a_source_distribution_is_refused_or_complete_as_a_wheel_is(build: Build, qten_gen: Command) -> None:
    refused = build("build_sdist")
    assert refused.returncode != 0
    assert re.search(r"missing: src/shop/model_qten\.py\b", refused.stdout + refused.stderr)
    assert list(qten_gen.folder.glob("dist/*")) == []
    assert qten_gen().status == 0
    done = build("build_sdist")
    assert done.returncode == 0, done.stderr
    (archive,) = qten_gen.folder.glob("dist/*.tar.gz")
    with tarfile.open(archive) as opened:
        names = opened.getnames()
    assert {f"shop-1/src/shop/{name}" for name in ("model.py", "model_qten.py", "model_qten.pyi")} <= set(names)


def test_an_error_fails_a_build(build: Build, qten_gen: Command) -> None:
    qten_gen.write("src/shop/model.py", BATCH.replace("(TensorClass)", "(TensorClass, frozn=True)"))
    done = build()
    assert done.returncode != 0
    assert "unknown-flag" in done.stdout + done.stderr


def test_an_editable_installation_needs_no_generated_files(build: Build) -> None:
    done = build("build_editable")
    assert done.returncode == 0, done.stderr
