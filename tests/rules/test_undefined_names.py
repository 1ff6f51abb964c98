"""Names in declarations that the file does not define (QG114), wherever a class statement evaluates them."""

import pytest

from tests.rules.reported import reported

HEAD = """\
import torch
from torch import Tensor, nn
from qten_gen import Functional, Module, TensorClass, check, field, param, sequential, submodule, virtual
"""
NET = "class Net(Module):\n    dim: int\n"


def undefined(text: str, head: str = HEAD) -> list[str]:
    return [f"{item.message}; {item.help}" for item in reported(head, NET + text) if item.code == "QG114"]


ABSENT = "absent is not defined in this file; import it, or define it in this file"


@pytest.mark.parametrize(
    "line",
    [
        "    x: nn.Linear = submodule(absent.Linear, 'dim', 'dim')",
        "    x: nn.Linear = submodule(nn.Linear, 'dim', absent)",
        "    x: nn.Linear = submodule(lambda dim: nn.Linear(dim, absent), 'dim')",
        "    x: nn.Sequential = sequential(submodule(absent))",
        "    x: nn.Parameter = param('dim', dtype=absent, initializer=nn.init.ones_)",
        "    x: nn.Parameter = param('dim', initializer=absent)",
        "    x: int = absent",
        "    x: int = len([absent for _ in range(3)])",
        "    check(absent)",
        "    @virtual(sources=absent)\n    def x(self, dtype: torch.dtype, device: torch.device) -> Tensor: ...",
        "    def go(self, x: absent): ...",
        "    def go(self, *x: list[absent.X]): ...",
        "    def go(self, x: Tensor, /, *, y: str = 'a', **z: 'int' | absent): ...",
        "    def go(self) -> 'Net' | absent: ...",
        "    def go(self, x: int = absent): ...",
        "    def go(self, *, x: int = 1, y: int = absent + 1): ...",
        "class Batch(TensorClass, shadow=absent):\n    x: Tensor",
        "@absent\nclass Batch(TensorClass):\n    x: Tensor",
        "class Batch(TensorClass):\n    x: Tensor = field(default_factory=absent)",
        "class Batch(TensorClass):\n    x: str = absent",
        "@Net.register(absent)\ndef handle(net, given): ...",
        "@absent.register(str)\ndef handle(net, given): ...",
    ],
)
def test_a_name_that_nothing_defines_is_reported(line: str) -> None:
    assert undefined(line + "\n") == [ABSENT]


@pytest.mark.parametrize(
    "line",
    [
        "    x: int = len([(lambda a, *b, **c: (a, b, c))(i) for i in range(3)])",
        "    x: int = (size := 3)\n    y: int = size",
        "    for size in range(3):\n        pass\n    x: int = size",
        "    x: int = len(__name__)",
        "    x: int = 3\n    y: int = x",
        "    x: nn.Linear = submodule(below, 'dim', 'dim')\nfrom library import below",
        "    def start(self): ...\n    x: nn.Parameter = param('dim', initializer=start)",
        "class Batch[T](TensorClass):\n    x: str = str(T)",
        "    def go[T](self, x: T) -> T: ...",
        "    def go(self, x: 'absent') -> list['absent']: ...",
        "    Own = Tensor\n    def go(self, x: Own = Own()) -> Own: ...",
        "class Batch(TensorClass):\n    class Inner: ...\n    x: str = str(Inner)",
    ],
)
def test_a_name_that_the_expression_the_class_the_file_or_python_defines_is_not(line: str) -> None:
    assert undefined(line + "\n") == []


def test_the_bare_name_of_a_constructor_argument_is_one_that_lacks_quotes() -> None:
    (said,) = undefined("    out: nn.Linear = submodule(nn.Linear, dim, 4)\n")
    assert said == 'dim is not defined in this file; write "dim", in quotes, for the constructor argument dim'


def test_the_bare_name_of_a_constructor_argument_has_no_value_in_the_defaults_of_methods() -> None:
    assert undefined("    def go(self, x: int = dim): ...\n") == [ABSENT.replace("absent", "dim")]


def test_annotations_of_methods_that_are_not_evaluated_are_left_to_checkers() -> None:
    text = "    def go(self, x: absent) -> absent: ...\n"
    assert undefined(text, f"from __future__ import annotations\n{HEAD}") == []


def test_a_misspelt_name_is_compared_with_those_of_the_file() -> None:
    (said,) = undefined("class Linear(nn.Module): ...\nclass Own(Module):\n    out: Linear = submodule(Linaer)\n")
    assert said == "Linaer is not defined in this file; did you mean Linear?"


def test_a_star_import_may_bind_any_name() -> None:
    assert undefined("    x: int = absent\n", f"from library import *\n{HEAD}") == []
