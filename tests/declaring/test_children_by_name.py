"""A generated constructor calls the Modules of its own file by name, and only while the declaration means them."""

from typing import Any

import pytest

from qten_gen import StaleWarning

MODEL = """
    from torch import nn
    from qten_gen import Module, param, submodule

    def same(cls):
        return cls

    class Head(Module):
        dim: int
        weight: nn.Parameter = param("dim", initializer=nn.init.ones_)

    class Other(Module):
        dim: int
        weight: nn.Parameter = param("dim", initializer=nn.init.zeros_)

    class Net(Module):
        dim: int
        head: Head = submodule(Head, "dim")
"""


def test_another_class_in_its_place_is_seen(project: Any) -> None:
    project.write(model=MODEL)
    project.generate()
    project.write(model=MODEL.replace("submodule(Head", "submodule(Other"))

    with pytest.warns(StaleWarning, match="Net changed after model_qten was generated"):
        model = project.load("model")
    assert type(model.Net(2).head) is model.Other


def test_a_class_whose_name_is_an_argument_is_looked_up(project: Any) -> None:
    project.write(model=MODEL.replace("Head", "device"))
    project.generate()

    assert '_rt.from_declaration(Net, "head.cls")' in (project.root / "model_qten.py").read_text()
    assert type(project.load("model").Net(2, device="cpu").head).__name__ == "device"
