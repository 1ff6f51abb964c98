"""Class keywords, which the flags of a declaration are among, and those that an `__init_subclass__` of a base takes.

Each text is read by the command, and runs as a class statement. Both say the same.
"""

from __future__ import annotations

import linecache
from textwrap import dedent
from typing import Any

import pytest
import torch

from qten_gen import DeclarationError, TensorClass, rules
from qten_gen.read.module import read
from tests.linking import link

HEAD = """
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, param, submodule
"""

BASES = """
from typing import ClassVar

class Tagged:
    __slots__ = ()
    tags: ClassVar[dict[str, type]] = {}

    def __init_subclass__(cls, tag: str | None = None) -> None:
        super().__init_subclass__()
        if tag is not None:
            cls.tags[tag] = cls

class Open:
    __slots__ = ()
    given: ClassVar[dict[str, object]] = {}

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__()
        cls.given = keywords

class Registered(TensorClass):
    x: Tensor
    made: ClassVar[list[tuple[type, int]]] = []

    def __init_subclass__(cls, /, order: int = 0) -> None:
        super().__init_subclass__()
        cls.made.append((cls, order))

class Task(Module):
    names: ClassVar[list[str]] = []

    def __init_subclass__(cls, *, name: str = "", **others: object) -> None:
        super().__init_subclass__(**others)
        cls.names.append(name)

class Sized(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

class Defaulted(nn.Module):
    def __init__(self, size: int = 3, *sizes: int, wide: bool = False, **more: int) -> None:
        super().__init__()
        self.size = size

class Keyword(Defaulted):
    def __init__(self, *, size: int) -> None:
        super().__init__(size)

class Kept(Defaulted):
    pass

class Plain:
    def __init__(self, size: int) -> None:
        self.size = size
"""


def by_command(text: str) -> list[str]:
    """The codes that the command reports."""
    linked, said = link([read((HEAD + text).encode(), "shop/model.py", "shop.model")[0]])
    return [item.code for item in (*said, *rules.check(linked[0]))]


def in_memory(text: str) -> tuple[list[str], dict[str, Any]]:
    """The codes that the class statement is refused with, and what the text defines."""
    source = HEAD + BASES + dedent(text)
    linecache.cache["<bases>"] = (len(source), None, source.splitlines(keepends=True), "<bases>")
    defined: dict[str, Any] = {"__name__": "bases"}
    try:
        exec(compile(source, "<bases>", "exec"), defined)
    except DeclarationError as error:
        return [finding.code for finding in error.findings], defined
    return [], defined


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("class New(TensorClass, Tagged, tag='x'): ...", []),
        ("class New(Tagged, TensorClass, tag='x', frozen=True): ...", []),
        ("class New(TensorClass['frozen'], Tagged, tag='x'): ...", []),
        ("class New(TensorClass, tag='x'): ...", ["QG104"]),
        ("class New(TensorClass, init=False): ...", ["QG104"]),
        ("class New(TensorClass, Open, anything=1, checks='off'): ...", []),
        ("class New(Registered, order=2): ...", []),
        ("class New(Registered, order=2, nocast=True): ...", []),
        (
            "class Registering(TensorClass, order=2):\n    def __init_subclass__(cls, order: int) -> None: ...",
            ["QG104"],
        ),
        ("class New(Module, Tagged, tag='x'): ...", []),
        ("class New(Module, Open, frozen=True): ...", []),
        ("class New(Module, tag='x'): ...", ["QG104"]),
        ("class New(Module, frozen=True): ...", ["QG104"]),
        ("class New(Module, checks='off'): ...", ["QG104"]),
        ("class New(Module, init=True): ...", ["QG104"]),
        ("class New(Task, name='x'): ...", []),
        ("class New(Module, nn.Sequential):\n    dim: int", []),
        ("class New(Module, Defaulted):\n    dim: int", []),
        ("class New(Module, Kept):\n    dim: int", []),
        ("class New(Module, Plain):\n    dim: int", []),
        ("class New(Module, nn.Linear):\n    def __init__(self) -> None: super().__init__(2, 3)", []),
        (
            "class Own(Module, Sized):\n    def __init__(self) -> None: super().__init__(2)\nclass New(Own, init=False): ...",
            [],
        ),
    ],
)
def test_the_command_and_the_class_statement_agree(statement: str, expected: list[str]) -> None:
    assert by_command(BASES + statement) == expected
    assert in_memory(statement)[0] == expected


def test_class_keywords_reach_the_init_subclass_of_bases() -> None:
    _, defined = in_memory("""
    class Text(TensorClass, Tagged, tag="text", frozen=True):
        x: Tensor

    class Opened(TensorClass, Open, width=3):
        x: Tensor

    class Later(Registered, order=2):
        y: Tensor

    class Net(Task, name="net"):
        dim: int
    """)

    assert defined["Tagged"].tags == {"text": defined["Text"]}
    assert defined["Text"]._flags == {"frozen"}
    assert defined["Opened"].given == {"width": 3}
    assert defined["Registered"].made == [(defined["Later"], 2)]
    assert defined["Task"].names == ["net"]
    made = defined["Later"](torch.zeros(2), torch.ones(2), batch_size=2)
    assert made[0].y == 1 and isinstance(made, TensorClass)


def test_a_base_outside_the_run_may_take_any_keyword() -> None:
    assert by_command("from elsewhere import Mixin\nclass Batch(TensorClass, Mixin, tag='x'): ...") == []
    assert by_command(
        "from typing import Generic\nT = TypeVar('T')\nclass Batch(TensorClass, Generic[T], tag='x'): ..."
    ) == ["QG104"]
