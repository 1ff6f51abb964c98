"""The setting `literal-keys`: mypy and pyright know what names in strings stand for, and find those that stand for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qten_gen.cli.command import main
from tests.typing import checked_folders
from tests.typing.checked_folders import disagreements

MODEL = """
from __future__ import annotations

from typing import Generic, TypeVar

from torch import Tensor, nn

from qten_gen import Module, PerItem, TensorClass, buffer, param, submodule

class Point(TensorClass, frozen=True):
    weight: Tensor

N = TypeVar("N", bound=Point)

class Batch(TensorClass):
    tokens: Tensor
    point: Point
    mask: Tensor | None = None
    rate: float = 0.5
    tags: PerItem[str] = PerItem(["a", "b"])

    def first(self) -> Batch:
        return self[0]

class Longer(Batch):
    length: Tensor | None = None

class Pair(TensorClass, Generic[N]):
    left: N
    source: str = "train"

class Points(Pair[Point]):
    weight: Tensor | None = None

class Odd(TensorClass, shadow=True):
    values: Tensor  # type: ignore[assignment]
    update: str = "train"  # type: ignore[assignment]

class Norm(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)

class Net(Module):
    dim: int
    first: nn.Linear = submodule(nn.Linear, "dim", "dim")
    norm: Norm = submodule(Norm, "dim")

class Open(Module):
    dim: int
    norm: Norm = submodule(Norm, "dim")
    layer: nn.TransformerEncoderLayer = submodule(nn.TransformerEncoderLayer, "dim", 1)
"""

MAIN = """
from typing import Any, assert_type

import torch
from torch import Tensor, nn

from shop import model
from shop.model_qten import Batch, Longer, Net, Norm, Odd, Open, Pair, Point, Points

x = torch.ones(2)
point = Point(x, batch_size=2)
batch = Batch(x, point, batch_size=2)
assert_type(batch.get("tokens"), Tensor)
assert_type(batch.get("point"), Point)
assert_type(batch.get("mask"), Tensor | None)
assert_type(batch.get("rate"), Tensor)
assert_type(batch.get("point").get("weight"), Tensor)
assert_type(batch.first().get("tokens"), Tensor)
assert_type(batch.get(("point", "weight")), Any)
assert_type(batch.set("mask", x), Batch)
assert_type(Longer(x, point, batch_size=2).get("length"), Tensor | None)
assert_type(Pair(point, batch_size=2).get("left"), Point)
assert_type(Points(point, batch_size=2).get("weight"), Tensor | None)
batch.set("rate", 0.25).set("tags", ["b", "c"]).set(("point", "weight"), x)
batch.update({"tokens": x, ("point", "weight"): x}, mask=x, rate=3)
batch.update(batch.select("tokens", "mask")).update(batch.first())
batch.replace(tokens=x, batch_size=[2]).replace({"mask": x}, rate=4)
batch.exclude("mask")["tokens"]
assert_type(Odd(x, batch_size=2).replace(values=x).get("update"), str)

def read(declared: model.Batch, name: str) -> None:
    declared.get(name)
    declared.set(name, x)

read(batch, "tokens")

net = Net(2)
assert_type(net.get_submodule("first"), nn.Linear)
assert_type(net.get_submodule("norm"), Norm)
assert_type(net.get_parameter("first.bias"), nn.Parameter)
assert_type(net.get_buffer("norm.scale"), Tensor)
opened = Open(2)
assert_type(opened.get_submodule("norm"), Norm)
assert_type(opened.get_submodule("layer.linear1"), nn.Module)
opened.get_parameter("layer.linear1.weight")
"""

MISTAKES = """
import torch

from shop.model_qten import Batch, Net, Norm, Point

x = torch.ones(2)
batch = Batch(x, Point(x, batch_size=2), batch_size=2)
batch.get("tokns")  # E
batch.set("tokns", x)  # E
batch.set("tokens", "text")  # E
batch.select("tokens", "maks")  # E
batch.exclude("maks")  # E
batch.update({"tokns": x})  # E
batch.update(tokns=x)  # E
batch.update({"tokens": x}, keys_to_update=["tokns"])  # E
batch.replace(tokns=x)  # E
batch.replace({"tokns": x})  # E
batch.point.get("wieght")  # E
batch.point.set_("weight", x)
net = Net(2)
net.get_submodule("nrom")  # E
net.get_parameter("first.wieght")  # E
net.get_buffer("norm.scael")  # E
Norm(2).get_parameter("scale")  # E
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the setting, generated."""
    root = tmp_path_factory.mktemp("keys")
    (root / "shop").mkdir()
    (root / "pyproject.toml").write_text('[tool.qten-gen]\nsrc = ["."]\nliteral-keys = true\n', encoding="utf-8")
    for name, text in (("__init__", ""), ("model", MODEL), ("main", MAIN), ("mistakes", MISTAKES)):
        (root / "shop" / f"{name}.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert main(["--quiet"]) == 0
    return root


@pytest.mark.xdist_group("mypy")
def test_mypy_knows_keys(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.mypy(folder))), "\n".join(wrong)


def test_pyright_knows_keys(folder: Path) -> None:
    assert not (wrong := disagreements(folder, checked_folders.pyright(folder))), "\n".join(wrong)


def test_pyright_reports_nothing_in_such_stubs_in_its_strict_mode(folder: Path) -> None:
    reported = checked_folders.pyright(folder, mode="strict")
    assert [f"{name}:{line}: {text}" for (name, line), text in reported.items() if name.endswith(".pyi")] == []
