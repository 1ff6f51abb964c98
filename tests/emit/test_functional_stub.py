"""What a stub says of classes with handlers that are not Modules."""

import ast

from qten_gen.generate.outputs import render

from .declared import linked

HEAD = "from qten_gen import Functional\n"
AREA = f"""{HEAD}
class Circle: ...
class Area(Functional):
    '''The area of a shape.'''
@Area.register(Circle)
def _(area: Area, circle: Circle, *, unit: float = 1.0) -> float: ...
"""


def stub(module: str, **files: str) -> list[str]:
    """The lines of a stub."""
    text = render(linked(**files)[module])["pyi"]
    ast.parse(text)
    return [line.strip() for line in text.splitlines()]


def test_a_class_without_handlers_is_left_out() -> None:
    (file,) = linked(shop__area=f"{HEAD}\nclass Area(Functional): ...\n").values()
    assert file.functionals == ()


def test_a_generic_class_is_left_out_because_a_handler_may_give_its_variable() -> None:
    text = f"""{HEAD}
from typing import Generic, TypeVar
T = TypeVar("T")
class Area(Functional, Generic[T]): ...
@Area.register(str)
def _(area: Area, text: str) -> int: ...
"""
    (file,) = linked(shop__area=text).values()
    assert file.functionals == ()


def test_what_a_class_writes_itself_is_kept() -> None:
    body = AREA.replace("    '''The area of a shape.'''", "    def __call__(self, x: int) -> str: ...")
    lines = stub("shop.area", shop__area=body)
    assert not any(line.startswith("def __call__") for line in lines)
    assert "def invoke(self, circle: _decl.Circle, /, *, unit: float = 1.0) -> float: ..." in lines
