"""Class statements to the source layer: names, annotations, values, methods."""

from textwrap import dedent, indent

import pytest

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


def test_what_is_not_a_field() -> None:
    cls = class_of(
        """
        limit = 3
        a, b = 1, 2
        shared: typing.ClassVar[int] = 0
        tokens: Tensor
        """
    )

    assert [field.name for field in cls.fields] == ["tokens"]
    assert cls.attributes == ("limit", "a", "b", "shared")


def test_a_specifier_without_annotation_is_a_field_without_annotation() -> None:
    assert field_of("weight = param(8)").annotation is None


def test_a_string_below_a_field_documents_it() -> None:
    assert field_of('tokens: Tensor\n"""Token ids.\n\n    One row each.\n"""').doc == "Token ids.\n\nOne row each."


@pytest.mark.parametrize(
    ("definition", "parameters", "result"),
    [
        ("def f(self): ...", "", ""),
        ("def f(self, x: Tensor, *, scale: float = 1.0) -> Tensor: ...", "x: Tensor, *, scale: float = 1.0", "Tensor"),
        ("def f(self, x, y=None): ...", "x, y=None", ""),
        ("def f(self, x=-1, y=torch.ones(2), z=(1, 2)): ...", "x=-1, y=..., z=...", ""),
        ("def f(self, /, x: int): ...", "x: int", ""),
        ("def f(self, x: int, /, y: int): ...", "x: int, /, y: int", ""),
        (
            "def f(self, *args: int, key: str, **rest: object) -> None: ...",
            "*args: int, key: str, **rest: object",
            "None",
        ),
        ("@staticmethod\ndef f(x: int) -> int: ...", "x: int", "int"),
        ("@classmethod\ndef f(cls, x: int) -> int: ...", "x: int", "int"),
    ],
)
def test_a_signature_is_kept_without_self_and_with_simple_defaults(
    definition: str, parameters: str, result: str
) -> None:
    signature = method_of(definition).signature

    assert (signature.parameters, signature.result) == (parameters, result)


def test_a_signature_names_what_a_stub_has_to_import() -> None:
    signature = method_of("def f(self, x: 'Inner', y: Float[Tensor, 'b']) -> torch.Size | None: ...").signature

    assert signature.names == ("Inner", "Float", "Tensor", "torch.Size")


def test_a_target_in_parentheses_declares_nothing() -> None:
    """Python keeps no annotation for it."""
    cls = class_of("(x): Tensor\n(y): int = 3\nz: Tensor\n(z) = None")

    assert [field.name for field in cls.fields] == ["z"]
    assert cls.fields[0].value is not None
    assert cls.attributes == ("y",)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("(Tensor)", "Tensor"),
        ("((Tensor) | None)", "(Tensor) | None"),
        ("(\n    Tensor\n    | None  # nothing\n)", "Tensor | None"),
        ("Tensor \\\n    | None", "Tensor | None"),
        ("Union[\n    'Inner', None]", "Union['Inner', None]"),
        ('Literal["ä", "ö"] | None', 'Literal["ä", "ö"] | None'),
    ],
)
def test_an_annotation_is_kept_as_written_without_parentheses_around_it(annotation: str, text: str) -> None:
    found = field_of(f"x: {annotation}").annotation

    assert found is not None and found.text == text


def test_arguments_keep_their_order_when_one_is_unpacked_after_a_keyword() -> None:
    specifier = field_of("x: nn.Linear = submodule(nn.Linear, bias=False, *sizes, **rest)").specifier

    assert specifier is not None
    texts = [argument.value.text for argument in specifier.arguments if isinstance(argument.value, Value)]
    assert texts == ["nn.Linear", "False", "*sizes", "**rest"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_and_form_feeds_do_not_move_texts(line_end: str) -> None:
    text = f"{HEAD}\nclass Batch(TensorClass):\n    a: str = 'ü\x0c'; b: Inner\n\x0c\n    c: int = LIMIT\n"
    source, diagnostics = read(text.replace("\n", line_end).encode(), "shop/model.py", "shop.model")

    assert diagnostics == ()
    values = [field.value and field.value.text for field in source.classes[0].fields]
    assert values == ["'ü\x0c'", None, "LIMIT"]
