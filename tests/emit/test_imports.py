"""The imports of generated files: what each view says that it needs, and how a file writes it."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from qten_gen.emit.file import PythonFileView, python_class, python_file
from qten_gen.emit.imports import IMPORTS, statement, statements
from qten_gen.emit.stub_file import StubFileView, stub_file
from qten_gen.generate.render import render_class
from qten_gen.link import link
from qten_gen.model import FileDecl
from qten_gen.read.module import read

REPOSITORY = Path(__file__).parents[2]
GENERATED = [*sorted(REPOSITORY.glob("tests/samples/*/*_qten.py*")), *sorted(REPOSITORY.glob("examples/*/*_qten.py*"))]

HEAD = """\
import torch
from torch import Tensor, nn
from qten_gen import Module, PerItem, TensorClass, Unbatched, buffer, field, param, submodule, virtual_tensor
"""

TENSORCLASS = {"_rt", "_t", "_torch"}
STORED = {*TENSORCLASS, "_repeat"}
STUB = {"_ReadOnly", "_Array", "_BatchSize", "_DeviceLike", "_Index", "_NamesLike"}
MODULE_STUB = {"_Destination", "_DeviceLike", "_ExactCall", "_LabelledTensor", "_OrderedDict", "_torch"}
STATE = {"_Destination", "_KeyedState", "_NestedState", "_OrderedDict", "_torch"}


def linked(text: str, head: str = HEAD) -> FileDecl:
    """`shop/model.py` with this text below the usual imports, as the emitters get it."""
    source, found = read((head + dedent(text)).encode(), "shop/model.py", "shop.model")
    assert found == ()
    return link([source])[0][0]


def lines(view: PythonFileView | StubFileView) -> list[str]:
    return [line for group in view.imports for line in group]


@pytest.mark.parametrize(
    ("aliases", "expected"),
    [
        ([], ()),
        (["_nn"], (("from torch import nn as _nn",),)),
        (
            ["_rt", "_torch", "_t", "_builtins", "_repeat", "annotations"],
            (
                ("from __future__ import annotations",),
                ("import builtins as _builtins", "import typing as _t", "from itertools import repeat as _repeat"),
                ("import torch as _torch", "from qten_gen.runtime import generated as _rt"),
            ),
        ),
    ],
)
def test_statements_are_grouped_and_sorted(aliases: list[str], expected: tuple[tuple[str, ...], ...]) -> None:
    assert statements(aliases) == expected


@pytest.mark.parametrize(
    ("fields", "python", "stub"),
    [
        ("x: Tensor", TENSORCLASS, STUB | STATE),
        ("x: Tensor | None", STORED, STUB | STATE | {"_Default"}),
        ("x: float", TENSORCLASS, STUB | STATE | {"_Slot"}),
        ("x: Unbatched[Tensor]", {*STORED, "_features"}, STUB | STATE),
        ("x: list[Tensor]", {*STORED, "_features"}, STUB),
        ("x: Unbatched[list[Tensor]]", {*STORED, "_features"}, STUB),
        ("x: str", STORED, STUB - {"_Array"}),
        ("x: PerItem[str]", {*STORED, "_features"}, STUB - {"_Array"} | {"_PerItemInput", "_Slot"}),
        ("len: Tensor", {*TENSORCLASS, "_builtins"}, STUB | STATE),
        ("len: str", STORED, STUB - {"_Array"}),
        ("type: str", {*STORED, "_builtins"}, STUB - {"_Array"}),
        ("x: Tensor = field(default=torch.nn.init.ones_)", {*TENSORCLASS, "_nn"}, STUB | STATE),
        ("pass", TENSORCLASS, STUB - {"_Array", "_ReadOnly"}),
    ],
)
def test_a_tensorclass_imports_what_its_fields_need(fields: str, python: set[str], stub: set[str]) -> None:
    file = linked(f"class Batch(TensorClass):\n    {fields}\n")
    assert python_file(file).classes[0].imports == python
    assert stub_file(file).classes[0].imports == stub


def test_a_nested_field_needs_a_slot_and_a_default_where_a_key_leads_through_none() -> None:
    point, required, optional = stub_file(
        linked("""
        class Point(TensorClass):
            x: Tensor
        class Line(TensorClass):
            point: Point
        class Area(TensorClass):
            point: Point | None
        """)
    ).classes
    assert point.imports == STUB | STATE
    assert required.imports == STUB - {"_Array"} | STATE | {"_ReadOnly", "_Slot"}
    assert optional.imports == STUB - {"_Array"} | STATE | {"_ReadOnly", "_Slot", "_Default"}


@pytest.mark.parametrize(
    ("fields", "python", "stub"),
    [
        ("dim: int", {"_torch"}, MODULE_STUB),
        (
            'dim: int\n    x: Tensor = param("dim", initializer=nn.init.ones_)',
            {"_torch"},
            MODULE_STUB | {"_KeyedState"},
        ),
        (
            'dim: int\n    x: Tensor = param("dim", initializer=nn.init.normal_)',
            {"_torch"},
            MODULE_STUB | {"_KeyedState"},
        ),
        (
            'dim: int\n    x: Tensor = buffer("dim", initializer=nn.init.ones_)',
            {"_torch"},
            MODULE_STUB | {"_KeyedState"},
        ),
        (
            'dim: int\n    x: nn.Linear = submodule(nn.Linear, "dim", "dim")',
            {"_torch", "_nn"},
            MODULE_STUB | {"_KeyedState"},
        ),
        (
            'dim: int\n    x: Tensor = buffer("dim", value=torch.arange)',
            {"_torch", "_features"},
            MODULE_STUB | {"_KeyedState"},
        ),
        ("def __init__(self) -> None: ...", set(), MODULE_STUB - {"_DeviceLike", "_LabelledTensor"}),
    ],
)
def test_a_module_imports_what_its_fields_need(fields: str, python: set[str], stub: set[str]) -> None:
    file = linked(f"class Net(Module):\n    {fields}\n")
    assert python_file(file).classes[0].imports == python
    assert stub_file(file).classes[0].imports == stub


def test_a_docstring_causes_no_import() -> None:
    """Words that a search of the text would take for names of ours."""
    plain = linked("class Batch(TensorClass):\n    x: Tensor\n")
    words = "_nn. _repeat( _builtins. _torch. index: _Index tuple[_Key, _Default) _Slot[ _PerItemInput[ _OrderedDict["
    told = linked(f'class Batch(TensorClass):\n    """{words}"""\n\n    x: Tensor\n    """{words}"""\n')
    assert python_file(told).imports == python_file(plain).imports
    assert stub_file(told).imports == stub_file(plain).imports


def test_a_file_joins_the_imports_of_its_classes() -> None:
    view = python_file(
        linked("""
        class Batch(TensorClass):
            x: Tensor
            name: str
        class Net(Module):
            layer: nn.Linear = submodule(nn.Linear, 1, 1)
        """)
    )
    assert view.imports == (
        ("from __future__ import annotations",),
        (
            "import typing as _t",
            "from itertools import repeat as _repeat",
        ),
        (
            "import torch as _torch",
            "from qten_gen.runtime import generated as _rt",
            "from torch import nn as _nn",
        ),
    )
    assert view.checking == ("from torch import nn", "from .model import Batch, Net")


def test_a_class_in_memory_has_the_imports_of_its_file() -> None:
    file = linked("class Batch(TensorClass):\n    x: Unbatched[Tensor]\n")
    (declaration,) = file.declarations
    assert python_class(declaration).imports == python_file(file).imports
    assert "from itertools import repeat as _repeat\n" in render_class(declaration)


def test_a_name_of_the_user_gives_way_to_ours() -> None:
    head = "from torch import Tensor\nfrom qten_gen import TensorClass\nfrom pandas import Index as _Index\n"
    view = stub_file(linked("class Batch(TensorClass):\n    x: Tensor\n    index: _Index\n", head))
    assert "from pandas import Index as _Index_" in lines(view)
    assert statement("_Index", IMPORTS["_Index"]) in lines(view)


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_generated_file_imports_the_names_that_it_uses_and_no_others(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {name.asname or name.name for node in statements for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    ours = set(IMPORTS) - {"annotations"}
    assert imported & ours == used & ours
