"""Notebooks: cells that run again, `%autoreload 2`, workers, pickles, and what IPython says of a class.

Each test is a notebook. `edit` changes `model.py`.
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
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, param, virtual

class Point(TensorClass):
    xy: Tensor

class Batch(TensorClass):
    x: Tensor
    name: str = "a"

    def measure(self):
        return 1

class Line(TensorClass):
    x: Tensor
    at: Point | None = None

    def measure(self):
        return 1

class Net(Module):
    width: int
    weight: nn.Parameter = param("width", initializer=nn.init.ones_)

    def forward(self, x):
        return 1

    @virtual
    def twice(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.weight * 2

@Net.register(Batch)
def _(net, batch):
    return "one"
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


def test_handlers_follow_a_class_that_is_declared_again(notebook: Notebook) -> None:
    found = notebook(
        f"{HEAD}{NET}",
        POINT,
        f"{HANDLER.format('first')}net, old = Net(2), Point(torch.ones(2), batch_size=2)",
        POINT,
        "new = Point(torch.ones(2), batch_size=2)\nprint(type(new) is type(old), net(new), net(old), Net(1)(new))",
        HANDLER.format("second"),
        "print(net(new), net(old), Net.get_applicable_types() == (Point,))",
    )
    assert found == ["False first first first", "second second True"]


def test_a_module_that_is_declared_again_keeps_the_handlers_of_other_cells(notebook: Notebook) -> None:
    inner = "@Net.register(int)\ndef of_int(net, number):\n    return 'int'\n"
    found = notebook(
        f"{HEAD}{POINT}",
        f"{NET}{inner}",
        HANDLER.format("point"),
        NET,
        "net = Net(2)\nprint(net(Point(torch.ones(2))), net(3), net('text'))",
        "class Child(Net):\n    pass\nprint(Child(1)(Point(torch.ones(2))))",
    )
    assert found == ["point forward forward", "point"], "the cell that runs again no longer registers int"


def test_autoreload_takes_over_what_has_changed(notebook: Notebook) -> None:
    found = notebook(
        "%load_ext autoreload\n%autoreload 2",
        "import torch\nfrom model import Batch, Net\nimport model\nbatch, net = Batch(torch.ones(2), batch_size=2), Net(2)",
        "edit('return 1', 'return 2')",
        "print(batch.measure(), net(0), net.forward(0), Net(1)(0), isinstance(batch, Batch), isinstance(net, Net))",
        "edit('return \"one\"', 'return \"two\"')",
        "print(net(batch), net.forward(batch), net(Batch(torch.ones(1))))",
        "edit('weight * 2', 'weight * 3')",
        "print(net.twice.tolist(), Net(1).twice.tolist())",
        "edit('width: int', 'width: int = 5')",
        "print(Net().get_config(), Batch is model.Batch)",
    )
    assert found == ["2 2 2 2 True True", "two two two", "[3.0, 3.0] [3.0]", "{'width': 5} True"]


def test_autoreload_says_which_objects_stay_as_they_are(notebook: Notebook) -> None:
    found = notebook(
        "%load_ext autoreload\n%autoreload 2",
        "import torch\nfrom model import Batch, Line\nbatch, line = Batch(torch.ones(2), batch_size=2), Line(torch.ones(1))",
        "edit('name: str = \"a\"', 'name: str = \"b\"\\n    y: Tensor | None = None')",
        "made = Batch(torch.ones(2), y=torch.ones(2), batch_size=2)\nprint(made.name, made[0].y, batch.name, len(batch))",
        "edit('return 1', 'return 2')",
        "print(batch.measure(), line.measure(), Line(torch.ones(1)).measure())",
        "print(torch.stack([batch, made]))",
    )
    assert found[0] == "b tensor(1.) a 2"
    assert found[1] == "2 2 2"
    assert any(
        line.startswith("raised TypeError: stack")
        and line.endswith("one of them was declared again: run again what uses the old one")
        for line in found
    )
    errors = "\n".join(found)
    assert "model.Batch was declared again, and one object keeps the old class: make them again" in errors
    assert "autoreload of model failed" not in errors


def test_autoreload_does_not_execute_a_generated_module_alone(notebook: Notebook) -> None:
    run = "subprocess.run([sys.executable, '-m', 'qten_gen', '-q', 'model.py'], check=True)"
    found = notebook(
        "%load_ext autoreload\n%autoreload 2",
        f"import subprocess, sys\ndef generate(): {run}\ngenerate()",
        "import model_qten\nfrom model_qten import Point",
        "edit('xy: Tensor', 'xy: Tensor\\n    z: Tensor | None = None')",
        "generate()",
        "print(*Point._fields)",
        "edit('xy: Tensor', 'xy: Tensor\\n    t: Tensor | None = None')\ngenerate()",
        "import model_qten\nprint(model_qten.Point is Point, *Point._fields)",
    )
    assert found[:2] == ["xy z", "True xy t z"]
    assert len([line for line in found if "StaleWarning" in line]) == 1, "only the edit that nothing was generated for"


def test_workers_that_cannot_import_a_notebook_say_what_to_do(notebook: Notebook) -> None:
    load = "from torch.utils.data import DataLoader\ndata = Point(torch.ones(4, 3), batch_size=4)"
    use = "print([len(part) for part in DataLoader({}, batch_size=2, num_workers=1, multiprocessing_context='{}')])"
    found = notebook(
        f"{HEAD}{POINT}{NET}{load}",
        use.format("data", "fork"),
        use.format("data", "spawn"),
        use.format("[Net(1)]", "forkserver"),
        "print(pickle.loads(pickle.dumps(data)).batch_size, copy.deepcopy(Net(1)).n)",
    )
    errors = [line for line in found if line.startswith("raised")]
    assert found[0] == "[2, 2]" and "torch.Size([4]) 1" in found
    assert [line.split(" is declared in a notebook")[0] for line in errors] == [
        "raised PicklingError: Point",
        "raised PicklingError: Net",
    ]
    assert "num_workers=0" in errors[0]


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


def test_help_and_question_marks_say_what_a_class_takes(notebook: Notebook) -> None:
    found = "\n".join(
        notebook(
            "from model import Batch, Net",
            "Batch??",
            "Net.forward??",
            "Net?",
            "Batch.measure??",
            "help(Batch.sum)",
        )
    )
    assert "    name: str = 'a'," in found and "    width: int," in found
    assert 'class Batch(TensorClass):\n    x: Tensor\n    name: str = "a"\n' in found.replace("Source:        \n", "")
    assert "def forward(self, x):\n        return 1" in found
    assert re.search(r"sum\(\s*self", found), "help of Python 3.13 has a line for each parameter"


def test_cells_show_objects_by_their_text(notebook: Notebook) -> None:
    found = notebook(
        f"{HEAD}{POINT}{NET}",
        "from IPython.core.formatters import DisplayFormatter\nshow = lambda one: DisplayFormatter().format(one)[0]",
        "for one in (Point(torch.ones(2), batch_size=2), Net(2)):\n    print(sorted(show(one)))",
    )
    assert found == ["['text/plain']"] * 2
