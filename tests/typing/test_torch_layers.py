"""A Module can have any class of torch.nn beside it among its bases: checkers report what torch itself makes impossible."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from torch import nn

from tests import fresh_process
from tests.typing import checked_folders
from tests.typing.checked_folders import Reports

LAYERS = sorted(
    name
    for name, layer in vars(nn).items()
    if inspect.isclass(layer) and issubclass(layer, nn.Module) and layer is not nn.Module
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with a class for each layer, in front of Module and behind it."""
    package = tmp_path_factory.mktemp("layers") / "layers"
    package.mkdir()
    head = ["from typing import Any", "", "from torch import nn", "", "from qten_gen import Module", ""]
    for file, bases in (("first", "nn.{}, Module"), ("last", "Module, nn.{}")):
        # DataParallel alone is generic.
        written = [bases.format(name if name != "DataParallel" else "DataParallel[Any]") for name in LAYERS]
        lines = [f"class Own{name}({given}): ..." for name, given in zip(LAYERS, written, strict=True)]
        (package / f"{file}.py").write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
    (package / "__init__.py").touch()
    return package.parent


def refused(folder: Path, reports: Reports) -> dict[str, set[str]]:
    """The layers of the classes with errors, by file."""
    found: dict[str, set[str]] = {"layers/first.py": set(), "layers/last.py": set()}
    for path, line in reports:
        text = (folder / path).read_text(encoding="utf-8").splitlines()[line - 1]
        found[path].add(text.removeprefix("class Own").partition("(")[0])
    return found


def test_every_layer_can_be_a_base(folder: Path) -> None:
    program = "import layers.first, layers.last; print(layers.first.OwnLinear(2, 3), layers.last.OwnLinear(2, 3))"
    done = fresh_process.run("-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {program}")
    assert done.stdout.split("\n")[0].startswith("OwnLinear(in_features=2, out_features=3, bias=True)"), done.stderr


def test_mypy_refuses_layers_whose_attributes_have_names_of_module(folder: Path) -> None:
    # Lazy convolutions clash with their own bases, and `Embedding.freeze` is a bool.
    common = {*(name for name in LAYERS if name.startswith("LazyConv")), "Embedding"}
    found = refused(folder, checked_folders.mypy(folder))
    assert found == {"layers/first.py": common, "layers/last.py": common}


def test_pyright_refuses_one_layer_behind_module(folder: Path) -> None:
    found = refused(folder, checked_folders.pyright(folder))
    assert found == {"layers/first.py": set(), "layers/last.py": {"Embedding"}}
