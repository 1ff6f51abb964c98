"""A generated constructor calls the Modules of its own file by name, and only while the declaration means them."""

import warnings
from typing import Any

import pytest
import torch

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


def test_a_child_of_the_same_file_is_made_by_its_name(project: Any) -> None:
    project.write(model=MODEL)
    project.generate()

    assert "self.head = Head(dim, device=device, dtype=dtype)" in (project.root / "model_qten.py").read_text()
    model = project.load("model")
    assert type(model.Net(2, dtype=torch.float64).head) is model.Head
    assert model.Net(2, dtype=torch.float64).head.weight.dtype == torch.float64


def test_another_class_in_its_place_is_seen(project: Any) -> None:
    project.write(model=MODEL)
    project.generate()
    project.write(model=MODEL.replace("submodule(Head", "submodule(Other"))

    with pytest.warns(StaleWarning, match="Net changed after model_qten was generated"):
        model = project.load("model")
    assert type(model.Net(2).head) is model.Other


def test_a_child_that_has_changed_is_the_changed_one(project: Any) -> None:
    project.write(model=MODEL)
    project.generate()
    project.write(model=MODEL.replace('param("dim"', 'param("3*dim"', 1))

    with pytest.warns(StaleWarning) as caught:
        model = project.load("model")
    assert [str(warning.message).split()[0] for warning in caught] == ["Head"]
    assert model.Net(2).head.weight.shape == (6,)


def test_a_class_that_a_decorator_may_replace_is_looked_up(project: Any) -> None:
    project.write(model=MODEL.replace("    class Head", "    @same\n    class Head"))
    project.generate()

    looked_up = '_rt.construct(_rt.from_declaration(Net, "head.cls"), dim, device=device, dtype=dtype)'
    assert looked_up in (project.root / "model_qten.py").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(project.load("model").Net(2).head).__name__ == "Head"


def test_a_class_whose_name_is_an_argument_is_looked_up(project: Any) -> None:
    project.write(model=MODEL.replace("Head", "device"))
    project.generate()

    assert '_rt.from_declaration(Net, "head.cls")' in (project.root / "model_qten.py").read_text()
    assert type(project.load("model").Net(2, device="cpu").head).__name__ == "device"


def test_a_class_with_a_constructor_of_its_own_is_asked_what_it_takes(project: Any) -> None:
    own = "        def __init__(self, dim: int) -> None:\n            super().__init__()\n"
    project.write(
        model=MODEL.replace("    class Other", f"    class Plain(Module):\n{own}\n    class Other").replace(
            "submodule(Head", "submodule(Plain"
        )
    )
    project.generate()

    assert '_rt.from_declaration(Net, "head.cls")' in (project.root / "model_qten.py").read_text()
    assert type(project.load("model").Net(2, device="cpu").head).__name__ == "Plain"
