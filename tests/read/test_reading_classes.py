"""Class statements to the source layer: names, annotations, values, methods."""

from textwrap import dedent, indent

from qten_gen.model import ClassSource, DimError, FieldSource, MethodSource, Value
from qten_gen.read.module import read

HEAD = """
import typing
import qten_gen as q
import torch
from typing import Annotated, Literal, Optional, Union
from torch import Tensor, nn
from jaxtyping import Float, Int
from qten_gen import Module, TensorClass, buffer, const, field, param, submodule, virtual
from .inner import Inner
"""


def class_of(body: str, statement: str = "class Batch(TensorClass):") -> ClassSource:
    text = f"{HEAD}\n{statement}\n{indent(dedent(body).strip(), '    ')}\n"
    source, diagnostics = read(text.encode(), "shop/model.py", "shop.model")
    assert diagnostics == ()
    return source.classes[0]


def field_of(body: str) -> FieldSource:
    (found,) = class_of(body).fields
    return found


def method_of(body: str) -> MethodSource:
    (found,) = class_of(body).methods
    return found


def test_an_annotation_keeps_its_spelling_and_the_names_to_import() -> None:
    annotation = field_of("x: Int[torch.Tensor, 'seq'] | None").annotation

    assert annotation is not None
    assert annotation.text == "Int[torch.Tensor, 'seq'] | None"
    assert annotation.names == ("Int", "torch.Tensor")


def test_a_malformed_dimension_is_kept_with_its_fault() -> None:
    specifier = field_of('x: nn.Parameter = param("3*")').specifier

    assert specifier is not None and isinstance(specifier.arguments[0].value, DimError)


def test_a_specifier_without_annotation_is_a_field_without_annotation() -> None:
    assert field_of("weight = param(8)").annotation is None


def test_a_string_below_a_field_documents_it() -> None:
    assert field_of('tokens: Tensor\n"""Token ids.\n\n    One row each.\n"""').doc == "Token ids.\n\nOne row each."


def test_a_signature_names_what_a_stub_has_to_import() -> None:
    signature = method_of("def f(self, x: 'Inner', y: Float[Tensor, 'b']) -> torch.Size | None: ...").signature

    assert signature.names == ("Inner", "Float", "Tensor", "torch.Size")


def test_a_target_in_parentheses_declares_nothing() -> None:
    """Python keeps no annotation for it."""
    cls = class_of("(x): Tensor\n(y): int = 3\nz: Tensor\n(z) = None")

    assert [field.name for field in cls.fields] == ["z"]
    assert cls.fields[0].value is not None
    assert cls.attributes == ("y",)


def test_arguments_keep_their_order_when_one_is_unpacked_after_a_keyword() -> None:
    specifier = field_of("x: nn.Linear = submodule(nn.Linear, bias=False, *sizes, **rest)").specifier

    assert specifier is not None
    texts = [argument.value.text for argument in specifier.arguments if isinstance(argument.value, Value)]
    assert texts == ["nn.Linear", "False", "*sizes", "**rest"]
