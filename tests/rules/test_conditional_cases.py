"""What may stand under a condition in a class body, and what is reported."""

from textwrap import dedent

import pytest

from qten_gen.generate.plan import plan
from qten_gen.model.diagnostics import Diagnostic

HEAD = """\
from torch import Tensor
from qten_gen import Module, TensorClass, buffer, virtual
"""


def found(text: str) -> tuple[Diagnostic, ...]:
    """What a run says about a file with this text below the usual imports."""
    return plan({"model.py": (HEAD + dedent(text)).encode()}, {}).diagnostics


def codes(text: str) -> list[str]:
    return [item.code for item in found(text)]


@pytest.mark.parametrize(
    "block",
    [
        "if FLAG:\n        y: Tensor",
        "if FLAG: y: Tensor",
        "if not TYPE_CHECKING:\n        y: Tensor",
        "if TYPE_CHECKING:\n        pass\n    else:\n        y: Tensor",
        "if sys.version_info >= (3, 12):\n        pass\n    elif FLAG:\n        y: Tensor",
        "try:\n        y: Tensor\n    except ImportError:\n        pass",
        "try:\n        pass\n    except ImportError:\n        y: Tensor",
        "try:\n        pass\n    finally:\n        y: Tensor",
        "with manager():\n        if FLAG:\n            y: Tensor",
        "for _ in range(1):\n        y: Tensor",
        "match FLAG:\n        case 1:\n            y: Tensor",
        "if FLAG:\n        def __post_init__(self) -> None: ...",
        "if TYPE_CHECKING:\n        y: Tensor",
        "if typing.TYPE_CHECKING:\n        if FLAG:\n            y: Tensor",
    ],
)
def test_what_a_declaration_is_made_of_stands_under_no_condition(block: str) -> None:
    assert codes(f"class Batch(TensorClass):\n    x: Tensor\n    {block}\n") == ["QG212"]


@pytest.mark.parametrize(
    "block",
    [
        "if FLAG:\n        def shown(self) -> str: return ''",
        "if FLAG:\n        LIMIT = 3",
        "if FLAG:\n        names: ClassVar[list[str]] = []",
        "if TYPE_CHECKING:\n        def __init__(self, x: Tensor) -> None: ...",
    ],
)
def test_anything_else_may(block: str) -> None:
    assert codes(f"from typing import ClassVar\nclass Batch(TensorClass):\n    x: Tensor\n    {block}\n") == []


@pytest.mark.parametrize("statement", ["def forward(self) -> None: ...", "scale: Tensor = buffer()"])
def test_the_same_holds_for_a_module(statement: str) -> None:
    assert codes(f"class Net(Module):\n    if FLAG:\n        {statement}\n") == ["QG212"]


def test_a_virtual_tensor_stands_under_no_condition() -> None:
    text = "class Net(Module):\n    if FLAG:\n        @virtual\n        def mask(self) -> Tensor: ...\n"
    assert codes(text) == ["QG212"]


def test_a_module_that_writes_its_constructor_may_tell_checkers_of_an_attribute() -> None:
    text = """
    class Net(Module):
        if TYPE_CHECKING:
            ready: bool
        def __init__(self) -> None:
            super().__init__()
    """
    assert codes(text) == []


def test_the_place_is_the_name_and_the_help_says_what_to_write_instead() -> None:
    (item,) = found("class Net(Module):\n    if FLAG:\n        scale: Tensor = buffer()\n")
    assert (item.span.line, item.span.column, item.span.end_column) == (5, 9, 14)
    assert item.help == 'declare it without a condition and add when="flag", or write a class for each case'
