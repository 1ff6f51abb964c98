"""Source files to declarations: names across files, bases, inherited fields."""

import sys
from textwrap import dedent

import pytest

from qten_gen.link.lookups import Lookups
from qten_gen.link.name_resolution import Names
from qten_gen.model import (
    Declaration,
    FieldKind,
    FileDecl,
    ModuleDecl,
    SourceFile,
    TensorClassDecl,
    declares,
)
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read
from tests.linking import link

LANGUAGE = """
from qten_gen import Module, TensorClass, buffer, field, param, submodule, virtual
from torch import Tensor, nn
"""


def source(module: str, text: str) -> SourceFile:
    """A file of the project; `shop` and modules that end in a dot are packages."""
    is_package = module.endswith(".")
    module = module.rstrip(".")
    found, diagnostics = read(dedent(text).encode(), f"{module.replace('.', '/')}.py", module, is_package)
    assert diagnostics == ()
    return found


def linked(**files: str) -> tuple[dict[str, Declaration], tuple[Diagnostic, ...]]:
    """The declarations of files in the package `shop`, by name, and what linking says."""
    files_of = [
        source(f"shop.{name}" if name != "init" else "shop.", LANGUAGE + dedent(text)) for name, text in files.items()
    ]
    found, diagnostics = link(files_of)
    return {d.name: d for file in found for d in file.declarations}, diagnostics


def declared(text: str) -> dict[str, Declaration]:
    found, diagnostics = linked(model=text)
    assert diagnostics == ()
    return found


def tensorclass(declarations: dict[str, Declaration], name: str) -> TensorClassDecl:
    found = declarations[name]
    assert isinstance(found, TensorClassDecl)
    return found


def module(declarations: dict[str, Declaration], name: str) -> ModuleDecl:
    found = declarations[name]
    assert isinstance(found, ModuleDecl)
    return found


def names(declaration: Declaration) -> list[str]:
    return [field.name for field in declaration.fields]


def test_a_root_may_be_re_exported() -> None:
    found, _ = linked(base="Base = TensorClass", model="from .base import Base\nclass Batch(Base): ...")

    assert sorted(found) == ["Batch"]


def test_a_class_that_derives_from_tensor_is_one() -> None:
    found = declared("class Mine(Tensor): ...\nclass Batch(TensorClass):\n    x: Mine\n")

    (field,) = tensorclass(found, "Batch").fields
    assert (field.kind, field.type.text) == (FieldKind.TENSOR, "Mine")


def test_a_package_may_name_a_function_as_the_submodule_that_it_is_from() -> None:
    package = source("shop.", "from .pool import pool, unpool\n")
    names = Names({package.module: package}.get, Lookups())

    assert names.resolve("shop.pool") == "shop.pool.pool"
    assert names.resolve("shop.unpool") == "shop.pool.unpool"


def test_a_recursive_alias_is_static_at_once() -> None:
    text = """from typing import Dict, List, Union
Json = Union[None, str, List["Json"], Dict[str, "Json"], "Deep"]
Deep = List[Union["Json", "Deep", Dict[str, "Deep"]]]
class B(TensorClass):
    x: Json
"""
    assert [(field.name, field.kind) for field in tensorclass(declared(text), "B").fields] == [("x", FieldKind.STATIC)]


def test_an_alias_that_leads_to_ever_longer_names_stays() -> None:
    file = source("shop.model", "first = second.inner\nsecond = first\n")

    assert Names({file.module: file}.get, Lookups()).resolve("shop.model.second") == "shop.model.second"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 there are no type parameters")
def test_a_type_parameter_of_the_class_stands_for_its_bound() -> None:
    found = declared("class Pair[T: Tensor](TensorClass):\n    first: T\n")

    assert tensorclass(found, "Pair").fields[0].kind is FieldKind.TENSOR


def test_a_base_that_the_imported_file_does_not_have_is_reported() -> None:
    _, (found,) = linked(base="class Batch(TensorClass): ...", model="from .base import Bach\nclass Child(Bach): ...")

    assert (found.code, found.path, found.message) == ("QG101", "shop/model.py", "shop.base does not define Bach")
    assert found.help == "did you mean Batch?"


def test_a_base_in_a_module_that_was_not_read_is_not_a_mistake() -> None:
    assert linked(init="", model="from .plain import Mixin\nclass Child(Mixin): ...") == ({}, ())


def test_a_base_outside_the_run_is_taken_for_a_plain_class() -> None:
    assert linked(model="from elsewhere import Base\nclass Child(Base): ...") == ({}, ())


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ("import qten_gen as q\nclass Child(q.TensorClas): ...", "qten_gen TensorClas", "TensorClass"),
        ("from qten_gen import Modul\nclass Child(Modul): ...", "qten_gen Modul", "Module"),
        ("from . import base\nclass Child(TensorClass):\n    x: 'base.Bach | None'", "shop.base Bach", "Batch"),
        ("from qten_gen import PerItm\nclass Child(TensorClass):\n    x: PerItm[int]", "qten_gen PerItm", "PerItem"),
    ],
)
def test_a_name_that_no_module_defines_is_reported(text: str, name: str, meant: str) -> None:
    _, (found,) = linked(base="class Batch(TensorClass): ...", model=text)
    module, name = name.split()
    assert (found.message, found.help) == (f"{module} does not define {name}", f"did you mean {meant}?")


def test_a_base_that_a_star_import_may_bring_is_not_a_mistake() -> None:
    assert linked(model="from elsewhere import *\nclass Child(Base): ...") == ({}, ())


@pytest.mark.parametrize(
    "text",
    [
        "class A(TensorClass): ...\nclass B(TensorClass, A): ...",
        "class A(B, TensorClass): ...\nclass B(A): ...",
        "class A(A, TensorClass): ...",
    ],
)
def test_bases_without_a_consistent_order_are_reported(text: str) -> None:
    _, diagnostics = linked(model=text)

    assert {item.code for item in diagnostics} == {"QG102"}


def test_declarations_come_in_the_order_of_the_file() -> None:
    (found,), _ = link([source("shop.model", LANGUAGE + "class B(TensorClass): ...\nclass A(TensorClass): ...\n")])

    assert isinstance(found, FileDecl)
    assert [d.name for d in found.declarations] == ["B", "A"]


def test_a_field_of_a_namesake_in_another_module_is_inherited() -> None:
    text = "from . import model_base\nclass Batch(model_base.Batch):\n    y: Tensor"
    found, _ = linked(model_base="class Batch(TensorClass):\n    x: Tensor", model=text)

    batch = found["Batch"]
    assert {field.name: declares(batch, field) for field in batch.fields} == {"x": False, "y": True}


def test_a_base_may_be_a_generic_class_that_another_name_gives_its_arguments() -> None:
    text = "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Pair(TensorClass, Generic[T]):\n    x: T\n"
    found, _ = linked(model=f"{text}Named = Pair[Tensor]\nclass Batch(Named):\n    y: Tensor\n")
    assert [field.name for field in found["Batch"].fields] == ["x", "y"]


def test_bases_that_are_unpacked_may_be_declarations() -> None:
    _, (found,) = linked(model="bases = (TensorClass,)\nclass Batch(*bases):\n    x: Tensor\n")
    assert found.message == "the bases of Batch are known only at run time, because they are unpacked"


@pytest.mark.parametrize("base", ["OpenModule", "q.OpenModule", "Base"])
def test_an_open_module_is_a_module(base: str) -> None:
    text = f"import qten_gen as q\nfrom qten_gen import OpenModule\nBase = OpenModule\nclass Net({base}):\n    width: int\n"
    source, _ = read(text.encode(), "shop/model.py", "shop.model")
    (declaration,) = link([source])[0][0].declarations
    assert isinstance(declaration, ModuleDecl) and declaration.bases[0].name == "qten_gen.OpenModule"


@pytest.mark.parametrize("base", ["SizedTensorClass", "Base"])
def test_a_sized_class_has_the_flag_of_its_base(base: str) -> None:
    text = f"from qten_gen import SizedTensorClass\nBase = SizedTensorClass\nclass Batch({base}, frozen=True): ...\n"
    source, _ = read(text.encode(), "shop/model.py", "shop.model")
    (declaration,) = link([source])[0][0].declarations
    assert isinstance(declaration, TensorClassDecl) and declaration.flags == {"frozen", "sized"}
