"""What a file depends on is kept for each name: an edit of another class in the file of a base leaves the children alone."""

from collections.abc import Collection, Mapping

import pytest

from qten_gen.generate.plan import Plan, plan
from qten_gen.generate.readings import Readings
from qten_gen.project.import_graph import SourceGraph
from tests.command import Command

BASE = """
from torch import Tensor
from qten_gen import TensorClass

Mask = Tensor | None

class Base(TensorClass):
    tokens: Tensor
    mask: Mask = None

class Other(TensorClass):
    own: Tensor
"""

CHILD = """
from .base import Base

class Child(Base):
    pass
"""


@pytest.fixture
def project(qten_gen: Command) -> Command:
    """A package with a base and a child in another file, generated."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/base.py", BASE)
    qten_gen.write("shop/child.py", CHILD)
    assert qten_gen("shop").summary == "4 files written"
    return qten_gen


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that runs plan, by name."""
    found: set[str] = set()

    def recorded(
        sources: Mapping[str, bytes],
        existing: Mapping[str, bytes],
        targets: Collection[str],
        graph: SourceGraph,
        readings: Readings,
    ) -> Plan:
        found.update(path.rpartition("/")[2] for path in targets)
        return plan(sources, existing, targets, graph, readings)

    monkeypatch.setattr("qten_gen.generate.plan.plan", recorded)
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Other", "class Another(TensorClass):\n    own: Tensor\n\nclass Other"),
        ("    own: Tensor", "    own: Tensor\n    more: Tensor | None = None"),
        ("from torch import Tensor", "from torch import Tensor, nn"),
        ("class Other", "Ids = Tensor\n\nclass Other"),
    ],
)
def test_an_edit_of_something_else_leaves_a_child_alone(
    project: Command, planned: set[str], old: str, new: str
) -> None:
    project.write("shop/base.py", BASE.replace(old, new))
    project("shop")
    assert planned == {"base.py"}
    assert project("--check", "shop").summary == "4 files up to date"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    tokens: Tensor", "    tokens: Tensor\n    ids: Tensor"),
        ("Mask = Tensor | None", "Mask = str | None"),
        ("from torch import Tensor\n", "from numpy import ndarray as Tensor\n"),
        ("class Base(TensorClass)", "class Base(Root)"),
    ],
)
def test_an_edit_of_the_base_or_of_what_it_uses_plans_the_child(
    project: Command, planned: set[str], old: str, new: str
) -> None:
    root = "class Root(TensorClass):\n    pass\n\n\nclass Base" if "Root" in new else "class Base"
    project.write("shop/base.py", BASE.replace(old, new).replace("class Base", root))
    project("shop")
    assert planned == {"base.py", "child.py"}


def test_a_name_that_begins_to_exist_plans_who_asked_for_it(project: Command, planned: set[str]) -> None:
    project.write("shop/child.py", "from . import base\n\nclass Child(base.Base, base.Mixin):\n    pass\n")
    assert project("shop").status == 1
    planned.clear()
    project.write("shop/base.py", f"{BASE}\nclass Mixin:\n    pass\n")
    assert project("shop").status == 0
    assert planned == {"base.py", "child.py"}


def test_an_error_in_another_class_of_the_base_holds_the_child_back_until_it_is_mended(project: Command) -> None:
    project.write("shop/base.py", BASE.replace("own: Tensor", "own: Tensor = 3"))
    for _ in range(2):
        result = project("shop")
        assert (result.status, "held back: shop/child.py" in result.out) == (1, True)
    project.write("shop/base.py", BASE)
    assert project("shop").summary == "4 files up to date"


def test_a_run_over_the_child_alone_knows_the_base_from_the_last_run(project: Command, planned: set[str]) -> None:
    project("shop/child.py")
    assert planned == set()
    project.write("shop/base.py", BASE.replace("own: Tensor", "own: Tensor = 3"))
    assert "held back: shop/child.py" in project("shop/child.py").out


def test_a_star_import_depends_on_the_whole_file(project: Command, planned: set[str]) -> None:
    project.write("shop/child.py", CHILD.replace("import Base", "import *"))
    project("shop")
    planned.clear()
    project.write("shop/base.py", BASE.replace("class Other", "Ids = Tensor\n\nclass Other"))
    project("shop")
    assert planned == {"base.py", "child.py"}
