"""`qten-gen show`."""

import pytest

from tests.command import BATCH, Command

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Base(TensorClass, frozen=True):
    tokens: Tensor
"""
MODEL = """
from torch import Tensor, nn
from qten_gen import Module, buffer, param, submodule
from shop.base import Base

class Child(Base, frozen=True):
    \"\"\"A child.\"\"\"
    mask: Tensor | None = None

class Net(Module):
    dim: int = 4
    weight: nn.Parameter = param("2*dim", initializer=nn.init.zeros_)
    head: nn.Linear = submodule(nn.Linear, "dim", 3, bias=False)
    def forward(self, x: Tensor | Child) -> Tensor: ...

@Net.register(Child)
def _(net: Net, child: Child) -> Tensor: ...
"""


@pytest.fixture
def project(qten_gen: Command) -> Command:
    """A project with a package."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\nsrc = ['src']\n")
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/base.py", BASE)
    qten_gen.write("src/shop/model.py", MODEL)
    return qten_gen


def test_show_prints_what_a_run_writes_for_a_class(project: Command) -> None:
    before = project.times()
    result = project("show", "shop.model:Child")
    assert (result.status, result.err) == (0, "")
    assert project.times() == before and not project.exists(".qten_cache")
    project("src")
    body = result.out.partition("class _Child_(")[2].strip()
    assert body and body in project.read("src/shop/model_qten.py") and "class _Net_" not in result.out
    whole = project("show", "src/shop/model.py").out
    assert project.read("src/shop/model_qten.py").endswith(whole.partition("from __future__")[2])


def test_show_of_a_declaration_with_errors_says_what_is_wrong(project: Command) -> None:
    project.write("src/shop/model.py", MODEL.replace('"2*dim"', '"2*dmi"'))
    result = project("show", "shop.model:Net")
    assert result.status == 1
    assert "unknown-dimension" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shop.modl:Net"], "error: there is no module shop.modl in this project; did you mean shop.model?"),
        (["shop.model.Net"], "error: there is no module shop.model.Net in this project; did you mean shop.model:Net?"),
        (["shop.model:Nett"], "error: src/shop/model.py declares no Nett; did you mean Net?"),
        (["shop"], "error: src/shop/__init__.py has no declarations"),
        (["src/shop/nothing.py"], "error: no such file or folder: src/shop/nothing.py"),
        (["shop.model:Quux"], "error: src/shop/model.py declares no Quux; it declares "),
        ([], "error: expected one target, for example pkg.model:Net\nusage: qten-gen show TARGET"),
        (["--halp", "shop.model"], "error: unknown option --halp; did you mean --help?\nusage: qten-gen show TARGET"),
    ],
)
def test_show_says_what_is_wrong_with_a_target(project: Command, arguments: list[str], message: str) -> None:
    result = project("show", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(message)


def test_folders_with_the_names_of_commands_are_written_with_their_place(qten_gen: Command) -> None:
    for name in ("show", "check", "init"):
        qten_gen.write(f"{name}/model.py", BATCH)
        assert qten_gen(f"./{name}").summary == "2 files written"


def test_show_takes_a_module_with_a_name_of_one_letter(project: Command) -> None:
    project.write("src/m.py", BATCH)
    assert project("show", "m:Batch").out.count("class _Batch_(") == 1
