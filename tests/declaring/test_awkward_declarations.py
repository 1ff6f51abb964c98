"""Ways in which people write declarations: what is generated for them is what their class statements say when they run."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass


class Names(TensorClass):
    """Fields called like private attributes of a class or its metaclass, with and without underscores behind."""

    zip: Tensor
    zip_: Tensor
    zip__: Tensor
    complete: Tensor
    abc_impl: Tensor


class Endless(TensorClass, nocast=True):
    """Defaults whose text is no literal of Python."""

    limit: float = float("inf")
    start: float = -float("inf")
    rate: float = float("nan")


def test_every_field_has_a_place_of_its_own() -> None:
    fields = Names._fields
    made = Names(*(torch.full((2,), float(position)) for position, _ in enumerate(fields)), batch_size=2)
    assert {name: getattr(made, name)[0].item() for name in fields} == {
        name: position for position, name in enumerate(fields)
    }


def test_a_default_without_literal_is_kept() -> None:
    made = Endless()
    assert (made.limit, made.start) == (math.inf, -math.inf)
    assert math.isnan(made.rate)


MODEL = """
    from torch import nn
    from qten_gen import Module, submodule

    class device(Module):
        dim: int

    class Net(Module):
        dim: int
        head: device = submodule(device, "dim")
"""


def test_a_class_whose_name_is_an_argument_is_looked_up(project: Any) -> None:
    project.write(model=MODEL)
    project.generate()

    assert '_rt.from_declaration(Net, "head.cls")' in (project.root / "model_qten.py").read_text()
    assert type(project.load("model").Net(2, device="cpu").head).__name__ == "device"


HEAD = """\
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, buffer, field, param
"""

WAYS: dict[str, str | bytes] = {
    "a byte order mark": b"\xef\xbb\xbf" + HEAD.encode() + b"class Batch(TensorClass):\n    x: Tensor\n",
    "lines of Windows": HEAD.replace("\n", "\r\n").encode() + b"class Batch(TensorClass):\r\n    x: Tensor\r\n",
    "lines of old Macs": HEAD.replace("\n", "\r").encode() + b"class Batch(TensorClass):\r    x: Tensor\r",
    "a coding line": b"# -*- coding: latin-1 -*-\n"
    + HEAD.encode()
    + b"class Batch(TensorClass):\n    x: Tensor  # \xe9\n",
    "tabs": "class Batch(TensorClass):\n\tx: Tensor\n",
    "a form feed": "\x0cclass Batch(TensorClass):\n    x: Tensor\n",
    "no last line end": "class Batch(TensorClass):\n    x: Tensor",
    "one line": "class Batch(TensorClass): x: Tensor; y: str = 'a'\n",
    "comments and breaks": (
        "class Batch(  # a\n    TensorClass,\n    frozen=\\\n    True,\n):\n    x: (  # b\n        Tensor\n    )\n"
    ),
    "quotes inside": (
        "from typing import Optional, Union\n"
        "class Batch(TensorClass):\n    x: Tensor\n    n: Optional['Batch'] = None\n    o: 'Optional[Tensor]' = None\n"
        "    p: Optional['Tensor'] = None\n    q: Union['Batch', None] = None\n"
    ),
    "a class further down": (
        "class Batch(TensorClass):\n    x: Tensor\n    n: 'Later | None' = None\n"
        "class Later(TensorClass):\n    x: Tensor\n"
    ),
    "a subclass of Tensor": "class Batch(TensorClass):\n    x: torch.FloatTensor\n",
    "a class variable in quotes": "class Batch(TensorClass):\n    x: Tensor\n    d: 'ClassVar[int]' = 4\n",
    "a decorator": "from typing import final\n@final\nclass Batch(TensorClass):\n    x: Tensor\n",
    "an abstract base": (
        "from abc import ABC, abstractmethod\nclass Base(TensorClass, ABC):\n    x: Tensor\n"
        "    @abstractmethod\n    def f(self) -> int: ...\nclass Batch(Base):\n    def f(self) -> int: return 1\n"
    ),
    "a bounded variable": (
        "from typing import Generic, TypeVar\nT = TypeVar('T', bound=Tensor)\n"
        "class Batch(TensorClass, Generic[T]):\n    x: T\n"
    ),
    "a constrained variable": (
        "from typing import Generic, TypeVar\nT = TypeVar('T', Tensor, nn.Parameter)\n"
        "class Batch(TensorClass, Generic[T]):\n    x: T\n"
    ),
    "a template in a docstring": (
        'class Batch(TensorClass):\n    """A \\"\\"\\" {{ x }} {% raw %} \\\\ and \\\\"""\n    x: Tensor\n'
    ),
    "half a character": 'class Batch(TensorClass):\n    """A \\x00"""\n    x: Tensor\n    """B \\ud800"""\n',
    "a literal with quotes": (
        "from typing import Literal\nclass Batch(TensorClass):\n    x: Tensor\n"
        "    k: Literal['a\"b', \"c'd\"] = 'a\"b'\n"
    ),
    "a function as default": ("class Batch(TensorClass, nocast=True):\n    x: Tensor\n    f: object = lambda a: a\n"),
    "many fields": (
        "class Batch(TensorClass):\n    x: Tensor\n" + "".join(f"    f{i}: str = ''\n" for i in range(200))
    ),
}


def written(text: str | bytes) -> bytes:
    """The bytes of a file; a text stands below the usual imports."""
    return text if isinstance(text, bytes) else f"from typing import ClassVar\n{HEAD}{text}".encode()


FILES = {
    **{way: written(text) for way, text in WAYS.items()},
    **{
        f"{way}, annotations put off": b"from __future__ import annotations\n" + written(text)
        for way, text in WAYS.items()
        if isinstance(text, str)
    },
}


@pytest.mark.parametrize("way", FILES)
def test_what_is_generated_is_fresh(project: Any, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    (project.root / "written.py").write_bytes(FILES[way])
    project.generate()
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    batch = project.load("written").Batch(torch.ones(2), batch_size=[2])
    assert batch.x.shape == (2,)


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("straight", "from .base import Base"),
        ("passed", "from .passing import Base"),
        ("star", "from .passing import *"),
    ],
)
def test_a_class_for_checkers_only_is_known_through_the_files_of_its_bases(
    project: Any, package: str, line: str
) -> None:
    project.write(
        **{
            f"{package}__": "",
            f"{package}__base": "from qten_gen import TensorClass\nclass Base(TensorClass): ...\n",
            f"{package}__passing": "from .base import Base\n",
            f"{package}__point": f"{line}\nclass Point(Base): ...\n",
            f"{package}__model": """
            from typing import TYPE_CHECKING
            from qten_gen import TensorClass
            if TYPE_CHECKING:
                from .point import Point

            class Batch(TensorClass):
                point: "Point"
            """,
        }
    )
    model, point = project.load(f"{package}.model"), project.load(f"{package}.point")
    assert model.Batch._declaration.fields[0].kind.value == "nested"
    assert model.Batch(point.Point(batch_size=[2]), batch_size=[2]).point.batch_size == (2,)


def test_jit_off_says_that_a_class_in_a_class_has_to_move(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(model=f"{HEAD}class Outer:\n    class Batch(TensorClass):\n        x: Tensor\n")
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    message = r"nothing is generated for Outer\.Batch, which stands in a class or a function.* Move it to the top level"
    with pytest.raises(ImportError, match=message):
        project.load("model")


AROUND = """class Outer(TensorClass):
    class Kind: ...
    class Inner(TensorClass):
        class Deep(TensorClass):
            kind: "Outer.Kind | None" = None
        deep: "Outer.Inner.Deep | None" = None
        later: "Outer.{}" = None
    class Later(TensorClass): ...
"""


def test_what_a_class_around_holds_is_found_before_that_class_has_its_name(project: Any) -> None:
    project.write(model=HEAD + AROUND.format("Kind"), wrong=HEAD + AROUND.format("Later"))
    inner = project.load("model").Outer.Inner
    assert [inner._static, list(inner._nested), inner.Deep._static] == [("later",), ["deep"], ("kind",)]
    with pytest.raises(Exception, match=r"later is annotated with Outer\.Later, which is not defined"):
        project.load("wrong")
