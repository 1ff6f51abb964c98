"""The types of arguments that have no annotation, and what the report says of their evidence."""

from __future__ import annotations

import pytest

from qten_gen.tools.adopt.adoption import Level
from qten_gen.tools.adopt.declaring.docstrings import as_annotation
from tests.tools.adopt.adopted import adopted, report

_NET = """
import torch
from torch import nn

class Net(nn.Module):
    {documentation}

    def __init__(self, size):
        super().__init__()
        {body}
        self.proj = nn.Linear(2, 2)
"""


def _net(body: str, documentation: str = '"Projects."') -> str:
    return _NET.format(body=body, documentation=documentation)


@pytest.mark.parametrize(
    ("body", "documentation", "inferred"),
    [
        ("self.inner = nn.Linear(size, 2)", "'Projects.'", "size: int by what takes it"),
        ("self.size = size", "'Args:\\n    size (int, optional): Its width.'", "size: int by the docstring"),
        (
            "self.size = size",
            "'Arguments\\n---------\\nsize : list of int'",
            "size: list[int] by the docstring",
        ),
        ("self.size = size", "':param float size: Its width.'", "size: float by the docstring"),
        ("self.half = size // 2", "'Projects.'", "size: int by its uses"),
        ("self.is_max = size == 'max'", "'Projects.'", "size: str by its uses"),
        (
            "self.inner = nn.Linear(size['width'], 2)",
            "'Projects.'",
            "size: Any without evidence",
        ),
    ],
)
def test_a_type_has_evidence(body: str, documentation: str, inferred: str) -> None:
    found = report(_net(body, documentation), Level.DECLARE)["Net"]
    assert f"inferred {inferred}" in found.notes


def test_an_argument_that_a_function_gets_stays_because_it_may_be_a_module() -> None:
    found = report(_net("register(size)").replace("size", "given"), Level.DECLARE)["Net"]
    assert [reason.text for _, reason in found.stays] == [
        "the argument `given` has no annotation, and nothing proves its type"
    ]


@pytest.mark.parametrize(
    "body", ["self.inner = nn.Linear(size.width, 2)", "self.width = size.width\n        self.size = size"]
)
def test_an_argument_of_which_attributes_are_read_stays_because_a_module_has_them_too(body: str) -> None:
    assert report(_net(body).replace("size", "given"), Level.DECLARE)["Net"].stays


@pytest.mark.parametrize("name", ["num_blocks", "dim_out", "use_bias", "kernel_size", "size_2", "encoder_dim"])
def test_the_name_of_a_value_is_evidence(name: str) -> None:
    found = report(_net("self.width = size.width").replace("size", name), Level.DECLARE)["Net"]
    assert f"inferred {name}: Any by its name" in found.notes


def test_any_is_imported_where_it_is_written() -> None:
    text = adopted(_net("self.inner = nn.Linear(size['width'], 2)"), Level.DECLARE)
    assert "from typing import Any" in text
    assert "    size: Any\n" in text


@pytest.mark.parametrize(
    ("said", "annotation"),
    [
        ("int, optional", "int"),
        ("`bool`", "bool"),
        ("int or float", "float"),
        ("tuple(int)", "tuple[int, ...]"),
        ("Optional[str]", "str"),
        ("float (default: 0.1)", "float"),
        ("bool. If True, it is causal", "bool"),
        ("dict", "dict[str, Any]"),
        ("torch.Tensor", None),
        ("the number of heads", None),
    ],
)
def test_words_of_a_docstring_become_an_annotation(said: str, annotation: str | None) -> None:
    assert as_annotation(said) == annotation
