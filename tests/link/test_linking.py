"""Source files to declarations: names across files, bases, inherited fields."""

import sys
from itertools import permutations
from textwrap import dedent

import pytest

from qten_gen.link import link
from qten_gen.link.names import Names
from qten_gen.model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    FieldKind,
    FileDecl,
    ModuleDecl,
    ParameterDecl,
    SourceFile,
    SubmoduleDecl,
    TensorClassDecl,
    VirtualDecl,
    declares,
)
from qten_gen.model.diagnostics import Diagnostic
from qten_gen.read.module import read

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


def test_only_descendants_of_the_two_roots_declare() -> None:
    found = declared(
        """
        class Batch(TensorClass): ...
        class Net(Module): ...
        class Child(Batch): ...
        class Mixin: ...
        class Plain(nn.Module): ...
        """
    )

    assert sorted(found) == ["Batch", "Child", "Net"]


def test_a_base_is_followed_through_the_package_that_re_exports_it() -> None:
    found, diagnostics = linked(
        init="from .base import Batch as Public",
        base="class Batch(TensorClass):\n    tokens: Tensor",
        model="from shop import Public\nclass Marked(Public):\n    mask: Tensor",
    )

    assert diagnostics == ()
    assert names(found["Marked"]) == ["tokens", "mask"]
    assert found["Marked"].bases[0].name == "shop.base.Batch"


def test_a_root_may_be_re_exported() -> None:
    found, _ = linked(base="Base = TensorClass", model="from .base import Base\nclass Batch(Base): ...")

    assert sorted(found) == ["Batch"]


def test_files_may_import_each_other() -> None:
    found, diagnostics = linked(
        a="""
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from .b import Inner
        class Outer(TensorClass):
            inner: "Inner"
        """,
        b="""
        from .a import Outer
        class Inner(TensorClass):
            outer: Outer | None = None
        """,
    )

    assert diagnostics == ()
    assert tensorclass(found, "Outer").fields[0].nested == "Inner"
    assert tensorclass(found, "Inner").fields[0].nested == "Outer"


def test_the_order_of_files_makes_no_difference() -> None:
    files = [
        source("shop.base", LANGUAGE + "class Base(TensorClass):\n    a: Tensor\n"),
        source("shop.mid", LANGUAGE + "from .base import Base\nclass Mid(Base):\n    b: Base\n"),
        source("shop.top", LANGUAGE + "from .mid import Mid\nclass Top(Mid):\n    c: Mid | None = None\n"),
    ]

    results = set()
    for order in permutations(files):
        found, diagnostics = link(order)
        results.add((tuple(sorted((d.name, repr(d)) for file in found for d in file.declarations)), diagnostics))

    assert len(results) == 1


def test_inherited_fields_come_first_and_a_redefinition_keeps_its_position() -> None:
    found = declared(
        """
        class Base(TensorClass):
            a: Tensor
            b: Tensor
        class Child(Base):
            c: Tensor
            a: Tensor | None
        """
    )

    child = tensorclass(found, "Child")
    assert names(child) == ["a", "b", "c"]
    assert child.own == ("c",)
    assert child.fields[0].optional
    assert [field.owner for field in child.fields] == ["shop.model.Child", "shop.model.Base", "shop.model.Child"]


def test_fields_of_several_bases_follow_the_order_of_dataclasses() -> None:
    found = declared(
        """
        class Root(TensorClass):
            r: Tensor
        class Left(Root):
            x: Tensor
        class Right(Root):
            y: Tensor
        class Both(Left, Right):
            z: Tensor
        """
    )

    assert names(found["Both"]) == ["r", "y", "x", "z"]


def test_a_mixin_gives_no_fields_but_may_give_hooks() -> None:
    found = declared(
        """
        class Mixin:
            extra: int
            def __post_init__(self): ...
        class Batch(Mixin, TensorClass):
            tokens: Tensor
        """
    )

    batch = tensorclass(found, "Batch")
    assert names(batch) == ["tokens"]
    assert batch.post_init
    assert [base.declared for base in batch.bases] == [False, False]


def test_flags_in_keyword_and_bracket_form_are_inherited() -> None:
    found = declared(
        """
        class Base(TensorClass["nocast"], frozen=True): ...
        class Child(Base, open=True, frozen=True): ...
        class Off(TensorClass, frozen=False): ...
        """
    )

    assert tensorclass(found, "Child").flags == {"nocast", "frozen", "open"}
    assert tensorclass(found, "Off").flags == frozenset()


@pytest.mark.parametrize(
    ("flags", "annotation", "kind", "optional"),
    [
        ("", "Tensor", FieldKind.TENSOR, False),
        ("", "nn.Parameter | None", FieldKind.TENSOR, True),
        ("", "Tokens", FieldKind.TENSOR, False),
        ("", "Bounded", FieldKind.TENSOR, False),
        ("", "Mine", FieldKind.TENSOR, False),
        ("", "Batch | None", FieldKind.NESTED, True),
        ("", "'Holder'", FieldKind.NESTED, False),
        ("", "int | None", FieldKind.NUMBER, True),
        (", nocast=True", "int | None", FieldKind.STATIC, False),
        (", autocast=True", "int", FieldKind.STATIC, False),
        ("", "str | None", FieldKind.STATIC, False),
        ("", "list[int]", FieldKind.STATIC, False),
    ],
)
def test_the_annotation_decides_the_kind(flags: str, annotation: str, kind: FieldKind, optional: bool) -> None:
    found = declared(
        f"""
        from typing import TypeVar
        from jaxtyping import Int
        Tokens = Int[Tensor, "b s"]
        Bounded = TypeVar("Bounded", bound=Tensor)
        class Mine(Tensor): ...
        class Batch(TensorClass): ...
        class Holder(TensorClass{flags}):
            x: {annotation}
        """
    )

    (field,) = tensorclass(found, "Holder").fields
    assert (field.kind, field.optional, field.type.text) == (kind, optional, annotation)


def test_an_alias_keeps_its_name_and_gives_its_meaning() -> None:
    found, _ = linked(
        kinds="from jaxtyping import Int as I\nTokens = I[Tensor, 'b s']",
        model="from .kinds import Tokens\nclass Batch(TensorClass):\n    tokens: Tokens",
    )

    (field,) = tensorclass(found, "Batch").fields
    assert (field.type.text, field.dtype, field.dims) == ("Tokens", "Int", "b s")


def test_a_package_may_name_a_function_as_the_submodule_that_it_is_from() -> None:
    package = source("shop.", "from .pool import pool, unpool\n")
    names = Names({package.module: package}.get)

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

    assert Names({file.module: file}.get).resolve("shop.model.second") == "shop.model.second"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 there are no type parameters")
def test_a_type_parameter_of_the_class_stands_for_its_bound() -> None:
    found = declared("class Pair[T: Tensor](TensorClass):\n    first: T\n")

    assert tensorclass(found, "Pair").fields[0].kind is FieldKind.TENSOR


def test_defaults_factories_and_keyword_only_fields() -> None:
    found = declared(
        """
        class Batch(TensorClass):
            a: str = "x"
            b: list[str] = field(default_factory=list)
            c: str = field(default="y", kw_only=True)
            d: str = field(kw_only=True)
        """
    )

    fields = tensorclass(found, "Batch").fields
    defaults = [(f.default.value.text, f.default.factory) if f.default else None for f in fields]
    assert defaults == [('"x"', False), ("list", True), ('"y"', False), None]
    assert [f.kw_only for f in fields] == [False, False, True, True]


def test_the_fields_of_a_module() -> None:
    found = declared(
        """
        class Net(Module):
            dim: int
            heads: int = 8
            weight: nn.Parameter = param("3*dim", initializer=nn.init.ones_, requires_grad=False)
            scale: Tensor = buffer("heads", persistent=False, dtype=None, initializer=nn.init.ones_)
            norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", eps=1e-6, init=False)

            @virtual(cached=True, sources=("dim",))
            def mask(self, dtype, device) -> Tensor:
                "What is seen."

            def forward(self, x: Tensor) -> Tensor: ...
        """
    )

    net = module(found, "Net")
    dim, heads, weight, scale, norm, mask = net.fields
    assert isinstance(dim, ConfigDecl) and dim.default is None
    assert isinstance(heads, ConfigDecl) and heads.default is not None
    assert isinstance(weight, ParameterDecl) and not weight.requires_grad
    assert isinstance(scale, BufferDecl) and not scale.persistent and scale.dtype is None
    assert isinstance(norm, SubmoduleDecl) and norm.cls.torch_name == "torch.nn.LayerNorm"
    assert [argument.keyword for argument in norm.arguments] == [None, "eps"]
    assert isinstance(mask, VirtualDecl) and mask.cached and mask.doc == "What is seen."
    assert net.forward is not None and net.forward.parameters == "x: Tensor"
    assert [method.name for method in net.methods] == ["forward"]


def test_a_hand_written_constructor_and_reset_are_noted() -> None:
    found = declared(
        """
        class Base(Module):
            def reset_parameters(self): ...
        class Net(Base):
            def __init__(self): ...
        """
    )

    assert not module(found, "Base").custom_init
    assert module(found, "Net").custom_init and module(found, "Net").custom_reset


def test_registrations_of_all_files_belong_to_the_module_they_name() -> None:
    found, _ = linked(
        net="class Net(Module): ...\nclass Child(Net): ...\n@Net.register(int)\ndef _(net, x): ...",
        more="from . import net\n@net.Net.register(str)\ndef read(net, text): ...",
    )

    registered = [(r.type.name, r.handler, r.module) for r in module(found, "Net").registrations]
    assert registered == [("builtins.str", "read", "shop.more"), ("builtins.int", "_", "shop.net")]
    assert module(found, "Child").registrations == ()


def test_a_base_that_the_imported_file_does_not_have_is_reported() -> None:
    _, (found,) = linked(base="class Batch(TensorClass): ...", model="from .base import Bach\nclass Child(Bach): ...")

    assert (found.code, found.path, found.message) == ("QG101", "shop/model.py", "shop.base does not define Bach")
    assert found.help == "did you mean Batch?"


def test_a_base_in_a_module_that_was_not_read_is_not_a_mistake() -> None:
    assert linked(init="", model="from .plain import Mixin\nclass Child(Mixin): ...") == ({}, ())


def test_a_base_outside_the_run_is_taken_for_a_plain_class() -> None:
    assert linked(model="from elsewhere import Base\nclass Child(Base): ...") == ({}, ())


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
