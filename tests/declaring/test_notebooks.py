"""Notebooks: cells that run again, workers, pickles, and what IPython says of a class.

Each test is a notebook beside a file `model.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from .notebook import Kernel
from .notebook import kernel as notebook_kernel

HEAD = """
import copy, pickle
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, param, virtual
"""

POINT = "class Point(TensorClass):\n    x: Tensor\n"
NET = """
class Net(Module):
    n: int
    w: nn.Parameter = param("n", initializer=nn.init.ones_)

    def forward(self, x: object) -> str:
        return "forward"
"""
HANDLER = "@Net.register(Point)\ndef _(net, point):\n    return '{}'\n"

MODEL = """
from torch import Tensor
from qten_gen import Module, TensorClass

class Batch(TensorClass):
    x: Tensor
    name: str = "a"

    def measure(self):
        return 1

class Net(Module):
    width: int

    def forward(self, x):
        return 1
"""

Notebook = Callable[..., list[str]]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with notebook_kernel() as found:
        yield found


@pytest.fixture
def notebook(kernel: Kernel, tmp_path: Path) -> Notebook:
    """Runs cells beside a file `model.py`, and gives what they print."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return partial(kernel.run, tmp_path)


def test_a_handler_whose_cell_runs_again_takes_the_place_of_the_old_one(notebook: Notebook) -> None:
    head = f"{HEAD}{POINT}{NET}"
    use = "print(net(point))"
    made = "net, point = Net(2), Point(torch.ones(2), batch_size=2)"
    found = notebook(head, made, HANDLER.format("first"), use, HANDLER.format("second"), use)
    assert found == ["first", "second"]


def test_a_class_of_a_cell_that_runs_again_is_another_one(notebook: Notebook) -> None:
    found = notebook(
        f"{HEAD}{NET}",
        f"{POINT}{HANDLER.format('point')}net, old = Net(2), Point(torch.ones(2), batch_size=2)",
        POINT,
        "new = Point(torch.ones(2), batch_size=2)\nprint(net(old), net(new))",
        "print(torch.stack([old, new]))",
    )
    assert found[0] == "point forward"
    assert found[-1].startswith("raised TypeError: stack")
    assert found[-1].endswith("one of them was declared again: run again what uses the old one")


def test_objects_of_a_notebook_are_pickled_and_copied(notebook: Notebook) -> None:
    found = notebook(
        f"{HEAD}{POINT}{NET}",
        "point, net = Point(torch.ones(2), batch_size=2), Net(2)",
        "again = [pickle.loads(pickle.dumps(one)) for one in (point, net)] + [copy.deepcopy(point), copy.deepcopy(net)]",
        "print([type(one).__name__ for one in again], again[0].x.tolist(), again[1].w.tolist())",
        POINT,
        "print(pickle.loads(pickle.dumps(Point(torch.zeros(1)))).x.item())",
    )
    assert found == ["['Point', 'Net', 'Point', 'Net'] [1.0, 1.0] [1.0, 1.0]", "0.0"]


def test_what_a_module_registers_is_completed(notebook: Notebook) -> None:
    asked = (
        "import jedi; print([found.name for found in jedi.Interpreter('net.w.requires_grad_', [globals()]).complete()])"
    )
    assert notebook(f"{HEAD}{NET}net = Net(2)", asked) == ["['requires_grad_']"]


def test_help_and_question_marks_say_what_a_class_takes(notebook: Notebook) -> None:
    found = "\n".join(
        notebook(
            "from model import Batch, Net",
            "Batch??",
            "Net.forward??",
            "Net?",
            "Batch.measure??",
            "help(Batch.reshape)",
        )
    )
    assert "    name: str = 'a'," in found and "    width: int," in found
    assert 'class Batch(TensorClass):\n    x: Tensor\n    name: str = "a"\n' in found.replace("Source:        \n", "")
    assert "def forward(self, x):\n        return 1" in found
    assert re.search(r"reshape\(\s*self", found), "help of Python 3.13 has a line for each parameter"
