"""Shapes in stubs, as pyrefly 1.4.1 reads them. `make shapes` installs it, and stubs of torch that no other checker can read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from qten_gen.cli.command import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths of the programs are those of other systems")

REPOSITORY = Path(__file__).parents[3]
INSTALLED = REPOSITORY / "build/shapes"
VERSION = "pyrefly 1.4.1"

MODEL = '''
from jaxtyping import Float, Int
from torch import Tensor, nn

from qten_gen import Module, ModuleList, TensorClass, buffer, param, submodule


class Batch(TensorClass):
    tokens: Int[Tensor, "*batch t"]
    mask: Int[Tensor, "*batch t"]
    source: str = ""


class Split(Module):
    """Splits a row into heads."""

    width: int
    heads: int = 4
    weight: nn.Parameter = param("width", "3*width", initializer=nn.init.normal_)
    scale: Tensor = buffer("heads", initializer=nn.init.ones_)

    def forward(self, x: Float[Tensor, "b t width"]) -> Float[Tensor, "b t heads width//heads"]:
        return x.view(*x.shape[:-1], self.heads, -1)


class Towers(Split):
    """Holds others of twice the width."""

    depth: int = 2
    towers: ModuleList[Split] = submodule(Split, "2*width", heads=2, repeat="depth")

    def forward(self, x: Float[Tensor, "b t width"]) -> Float[Tensor, "b depth width"]:
        raise NotImplementedError


class Decoder(Module):
    width: int
    depth: int = 2
    embedding: nn.Parameter = param(256, "width", initializer=nn.init.normal_)
    split: Split = submodule(Split, "width")
    blocks: ModuleList[nn.Linear] = submodule(nn.Linear, "width", "width", repeat="depth")

    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t 256"]:
        raise NotImplementedError


class Patches(Module):
    """Cuts an image into patches, as ViT does."""

    side: int
    width: int = 8
    project: nn.Linear = submodule(nn.Linear, "3*side*side", "width")

    def forward(self, image: Float[Tensor, "b 3 h w"], extra: Float[Tensor, "... width"]) -> Float[Tensor, "b n {self.width}"]:
        raise NotImplementedError


class Gate(Module):
    """Mixes two sequences, as an expert of a mixture does."""

    width: int
    mix: nn.Parameter = param("2*width", "width", initializer=nn.init.normal_)

    def forward(
        self, left: Float[Tensor, "*rest width"], right: Float[Tensor, "*rest width"]
    ) -> tuple[Float[Tensor, "*rest 2*width"], Float[Tensor, "width"]]:
        raise NotImplementedError
'''

PROGRAMS = {
    "a child of another width": (
        "decoder = Decoder(32)\nreveal_type(decoder.split(torch.rand(2, 7, 32)))\ndecoder.split(torch.rand(2, 7, 64))  # E",
        ["Tensor[[2, 7, 4, 8]]"],
    ),
    "a derived class with a list of children": (
        "towers = Towers(8, depth=3)\nreveal_type(towers(torch.rand(2, 7, 8)))\n"
        "reveal_type(towers.towers[0](torch.rand(2, 7, 16)))\n"
        "for each in towers.towers:\n    each(torch.rand(2, 7, 8))  # E",
        ["Tensor[[2, 3, 8]]", "Tensor[[2, 7, 2, 8]]"],
    ),
    "a row of another width": (
        "split = Split(64, 4)\nreveal_type(split(torch.rand(2, 7, 64)))\nsplit(torch.rand(2, 7, 63))  # E",
        ["Tensor[[2, 7, 4, 16]]"],
    ),
    "a tensor of another rank": (
        "decoder = Decoder(32)\nreveal_type(decoder(torch.zeros(2, 7)))\ndecoder(torch.zeros(7))  # E",
        ["Tensor[[2, 7, 256]]"],
    ),
    "a mask of another length": (
        "batch = Batch(torch.zeros(4, 7), torch.zeros(4, 7), batch_size=4)\nreveal_type(batch[0].tokens)\n"
        "Batch(torch.zeros(4, 7), torch.zeros(4, 6))  # E",
        ["Tensor"],
    ),
    "an image without colours": (
        "patches = Patches(4)\nreveal_type(patches(torch.rand(2, 3, 16, 16), torch.rand(5, 8)))\n"
        "patches(torch.rand(2, 1, 16, 16), torch.rand(5, 8))  # E",
        ["Tensor"],
    ),
    "two sequences of different lengths": (
        "gate = Gate(6)\nreveal_type(gate(torch.rand(2, 5, 6), torch.rand(2, 5, 6)))\n"
        "gate(torch.rand(2, 5, 6), torch.rand(2, 4, 6))  # E",
        ["tuple[Tensor[[2, 5, 12]], Tensor[[6]]]"],
    ),
    "a product with a parameter": (
        "gate = Gate(6)\nreveal_type(torch.rand(3, 12) @ gate.mix)\ntorch.rand(3, 6) @ gate.mix  # E",
        ["Tensor[[3, 6]]"],
    ),
}
"""Programs over the model with a wrong size in the marked line each, and what is revealed."""

UNKNOWN = """
def widths(width: int, x: torch.Tensor, names: list[str]) -> torch.Tensor:
    blocks: list[Split] = [Split(width), Split(8, heads=2), Split(len(names), 4)]
    for block in blocks:
        x = block(x).flatten(2)
    made = Split(int(names[0]))(torch.rand(2, 3, width))
    gate = Gate(width)
    first, _ = gate(x, x)
    Patches(2, width)(torch.rand(1, 3, 4, 4), x)
    batch = Batch(x, x, source="a", batch_size=[len(names)], device="cpu")
    return Decoder(width, depth=3)(batch.tokens) + made.sum() + first.sum()
"""
"""A program without a mistake whose sizes nobody knows before it runs."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with stubs of shapes, beside the packages that pyrefly reads."""
    if not INSTALLED.exists():
        pytest.skip("make shapes installs pyrefly and its stubs")
    root = tmp_path_factory.mktemp("project")
    packages = tmp_path_factory.mktemp("packages")
    for package in (INSTALLED / "torch-stubs", REPOSITORY / "qten_gen", REPOSITORY / "stubs/qten_gen_typing"):
        shutil.copytree(package, packages / package.name)
    shutil.copytree(INSTALLED / "shape_extensions", root / ".venv/lib/python3/site-packages/shape_extensions")
    shutil.copytree(INSTALLED / "shape_extensions", packages / "shape_extensions")
    (root / "pyproject.toml").write_text(
        '[tool.qten-gen]\nshapes = "pyrefly"\nenvironment = ".venv"\n[tool.pyrefly]\nskip-interpreter-query = true\n'
        f'site-package-path = ["{packages}", "{Path(pytest.__file__).parents[1]}"]\n'
    )
    (root / "shop").mkdir()
    (root / "shop/__init__.py").write_text("")
    (root / "shop/model.py").write_text(MODEL)
    names = "Batch, Decoder, Gate, Patches, Split, Towers"
    head = f"from typing import reveal_type\n\nimport torch\n\nfrom shop.model_qten import {names}\n\n"
    for name, (text, _) in PROGRAMS.items():
        (root / f"{name.replace(' ', '_')}.py").write_text(head + text + "\n")
    (root / "unknown.py").write_text(head + UNKNOWN)
    assert main([str(root)]) == 0
    return root


def run(folder: Path, *command: object) -> str:
    """What a checker prints."""
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def found(folder: Path) -> list[str]:
    """The lines of what pyrefly finds in all files, `file:line:column: level message`."""
    return run(folder, INSTALLED / "bin/pyrefly", "check", "--output-format=min-text").splitlines()


def test_the_version_is_the_one_whose_words_stubs_have(folder: Path) -> None:
    assert run(folder, INSTALLED / "bin/pyrefly", "--version").strip() == VERSION


def test_a_wrong_size_is_found_in_each_program_and_nothing_else(folder: Path, found: list[str]) -> None:
    wrong = {
        f"{path.name}:{number}"
        for path in folder.glob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith("# E")
    }
    errors = {":".join(each.partition("ERROR ")[2].split(":")[:2]) for each in found if "ERROR" in each}
    assert errors == wrong


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_shapes_of_results_are_known(found: list[str], name: str) -> None:
    lines = [each for each in found if f"{name.replace(' ', '_')}.py" in each and "revealed type" in each]
    assert [re.sub(r".*revealed type: (.*) \[reveal-type\].*", r"\1", line) for line in lines] == PROGRAMS[name][1]


@pytest.mark.xdist_group("mypy")
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_other_checkers_find_nothing(folder: Path, checker: str) -> None:
    """They read `Shaped` as what it is: `Annotated`."""
    site = ".venv/lib/python3/site-packages"
    quiet = "[mypy-shape_extensions.*]\nfollow_imports = silent"
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {folder}/{site}\n{quiet}\n")
    settings = {"extraPaths": [site], "include": ["*.py", "shop/model_qten.pyi"], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    program = Path(sys.executable).parent / checker
    arguments = ["."] if checker == "mypy" else ["--pythonpath", sys.executable, "-p", "."]
    said = run(folder, program, *arguments)
    assert [line for line in said.splitlines() if "error" in line and "0 errors" not in line] == []
    lines = [line for line in said.splitlines() if "note: Revealed" in line or "information: Type of" in line]
    revealed = {re.sub(r'.*(?:Revealed type is|" is) "(.*)"', r"\1", line) for line in lines}
    tensor = "torch._tensor.Tensor" if checker == "mypy" else "Tensor"
    assert revealed == {tensor, f"tuple[{tensor}, {tensor}]"}
