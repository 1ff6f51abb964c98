"""What `qten-gen lsp` renames with a field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .client import Client

# What is renamed stands between « and ».
FILES = {
    "shop/__init__.py": "from .model import Batch as Batch, Net as Net\n",
    "shop/model.py": """\
from torch import Tensor, nn
from qten_gen import Module, TensorClass, choice, param, submodule

class Point(TensorClass):
    position: Tensor
    tokens: Tensor

class Batch(TensorClass):
    «tokens»: Tensor
    point: Point
    name: str = "tokens"

    def lengths(self) -> Tensor:
        return self.«tokens».sum() + self.point.tokens

    @classmethod
    def at(cls, point: Point) -> "Batch":
        return cls(«tokens»=point.tokens, point=point)

class Sub(Batch):
    «tokens»: Tensor
    extra: Tensor | None = None

class Net(Module):
    §dim§: int
    heads: int = 2
    weight: nn.Parameter = param("3*§dim§", "§dim§ // heads", initializer=nn.init.ones_)
    inner: nn.Linear = submodule(nn.Linear, "§dim§", bias=False)
""",
    "train.py": """\
import copy
from shop import Batch, Net
from shop.model import Point, Sub

def step(batch: Batch | None, sub: Sub, point: Point, other, net: "Net") -> Batch:
    made = Batch(«tokens»=batch[0].«tokens», point=point)
    made.set("«tokens»", batch.get(("point", "tokens")))
    made.select("point", '«tokens»'); made[0].replace(«tokens»=point.tokens, point=point.replace(tokens=1))
    copy.replace(sub, «tokens»=1).update({"«tokens»": 2}, name="tokens")
    '😀'; print(made.«tokens», other.tokens, net.§dim§, Net(§dim§=3))
    match made:
        case Batch(«tokens»=tokens, point=Point(tokens=2)) as found:
            return found.to("cpu").replace(«tokens»=tokens)
    if isinstance(sub, Sub) and type(batch) is Batch:
        return batch.replace(«tokens»=sub.«tokens»)
""",
}


def text_of(marked: str) -> str:
    return re.sub("[«»§]", "", marked)


@pytest.fixture
def shop(shared: Client, tmp_path: Any) -> Client:
    for file, marked in {**FILES, "pyproject.toml": "[tool.qten-gen]\n"}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text_of(marked))
    shared.move_to(tmp_path)
    for file in FILES:
        shared.show(file)
    return shared


def rename(shop: Client, file: str, at: str, new: str) -> Any:
    """The edits that give the name at the end of a text another one."""
    uri, position = shop.place(file, at)
    return shop.request("textDocument/rename", {"textDocument": {"uri": uri}, "position": position, "newName": new})


@pytest.mark.parametrize(
    ("file", "at", "marks"),
    [
        ("shop/model.py", "Batch(TensorClass):\n    t", "«»"),
        ("train.py", 'made.set("tok', "«»"),
        ("train.py", "net.dim", "§§"),
        ("shop/model.py", '"3*d', "§§"),
    ],
)
def test_a_field_is_renamed_wherever_its_object_is_known(shop: Client, file: str, at: str, marks: str) -> None:
    assert shop.at("prepareRename", file, at) is not None
    shop.apply({"edit": rename(shop, file, at, "words")})
    for name, marked in FILES.items():
        assert shop.texts[name] == text_of(re.sub(f"{marks[0]}.*?{marks[1]}", "words", marked))


def test_what_is_no_field_is_left_to_other_servers_and_a_name_that_is_taken_is_refused(shop: Client) -> None:
    for text in ("other.tokens", "def step", "return found", "select"):
        assert shop.at("prepareRename", "train.py", text) is None
    assert shop.at("prepareRename", "train.py", "point=Point(t") is not None
    for new, why in {
        "point": "shop.model.Batch has a field point already",
        "extra": "shop.model.Sub has a field extra already",
        "a b": "'a b' is no name of a field",
    }.items():
        with pytest.raises(AssertionError, match=why):
            rename(shop, "train.py", "made.tokens", new)
