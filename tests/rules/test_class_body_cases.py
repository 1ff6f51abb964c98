"""What rules report of names that a class body binds: aliases, values of fields, and specifiers in other classes."""

import pytest

from qten_gen import rules
from qten_gen.read.module import read
from tests.linking import link

HEAD = """\
from torch import Tensor, nn
from qten_gen import Module, TensorClass, const, field, param
"""


def codes(text: str, head: str = HEAD) -> list[str]:
    """The codes of what the rules say about a file with this text below some imports."""
    source, problems = read(f"{head}{text}".encode(), "shop/model.py", "shop.model")
    linked, said = link([source])
    return [item.code for item in (*problems, *said, *rules.check(linked[0]))]


@pytest.mark.parametrize(
    "alias", ["Alias = Tensor", "import torch as t\nAlias = t.Tensor", "One = Tensor\nAlias = One"]
)
def test_an_alias_of_a_type_is_that_type_where_an_annotation_is_missing(alias: str) -> None:
    assert codes(f"{alias}\nclass Batch(TensorClass):\n    x: Tensor\n    mask = Alias\n") == ["QG217"]


@pytest.mark.parametrize("other", ["Alias = 'Tensor'", "from typing import NewType\nAlias = NewType('Alias', Tensor)"])
def test_a_name_that_is_only_a_type_for_checkers_may_be_an_attribute(other: str) -> None:
    assert codes(f"{other}\nclass Batch(TensorClass):\n    x: Tensor\n    mask = Alias\n") == []


def test_an_alias_of_a_class_makes_a_module_that_no_instance_registers() -> None:
    assert codes("Layer = nn.Linear\nclass Net(Module):\n    dim: int\n    head = Layer(2, 2)\n") == ["QG217"]


def test_a_class_variable_may_be_a_type_or_none_or_a_module() -> None:
    assert codes("from typing import ClassVar\nclass Net(Module):\n    head: ClassVar = nn.Linear(2, 2)\n") == []
    text = "from typing import ClassVar\nclass Batch(TensorClass):\n    x: Tensor\n    kind: ClassVar[type] = int\n"
    assert codes(f"{text}    best: ClassVar[float | None] = None\n") == []


def test_a_specifier_may_be_the_value_of_an_enum_member() -> None:
    scale = "param(2, initializer=nn.init.ones_)"
    assert codes(f"import enum\nclass Base(enum.Enum): pass\nclass Scale(Base):\n    UNIT = {scale}\n") == []
    assert codes(f"class Scale:\n    UNIT = {scale}\n") == ["QG111"]


@pytest.mark.parametrize(
    ("bound", "annotation"),
    [
        ("Tensor: int = 3", "Tensor"),
        ("Tensor: str = 'a'", "list[Tensor]"),
        ("Tensor: int = const(3)", "dict[str, Tensor]"),
        ("nn: int = 3", "nn.Module"),
        ("def Tensor(self) -> None: ...", "Tensor"),
    ],
)
def test_an_annotation_cannot_name_what_the_class_body_binds_to_a_value(bound: str, annotation: str) -> None:
    body = f"class Net(Module):\n    {bound}\n    x: {{}} = const(None)\n"
    assert "QG221" in codes(body.format(annotation))
    assert "QG221" not in codes(body.format(repr(annotation)))
    assert "QG221" not in codes(body.format(annotation), head=f"from __future__ import annotations\n{HEAD}")


def test_a_field_hides_the_type_of_its_own_annotation() -> None:
    assert codes("class Batch(TensorClass):\n    Tensor: list[Tensor] = field()\n") == ["QG221"]
