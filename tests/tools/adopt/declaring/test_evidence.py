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


def test_calls_in_the_project_give_a_type() -> None:
    found = report(f"{_net('self.size = size')}\nnet = Net(4)\n", Level.DECLARE)["Net"]
    assert "inferred size: int by a call in model.py" in found.notes


_RATE = """
from torch import nn

class Net(nn.Module):
    {documentation}

    def __init__(self, dim: int, drop={default}):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.kept = {body}

{below}
"""


@pytest.mark.parametrize(
    ("default", "documentation", "body", "below", "annotation"),
    [
        ("0.", "", "drop", "", "float by its default"),
        (
            "0.",
            "Args:\n    drop (float | tuple[float]): It.",
            "drop",
            "",
            "float | tuple[float, ...] by its default and the docstring",
        ),
        (
            "0.",
            "",
            "drop[0] if isinstance(drop, list) else drop",
            "",
            "float | list[Any] by its default and a test of it",
        ),
        ("0.", "", "(drop, drop) if isinstance(drop, float) else drop", "", "Any by its default and a test of it"),
        ("0", "", "drop", "Net(4, drop=0.5)", "float by its default and a call in model.py"),
        ("0.", "", "drop", "Net(4, rates[1:3])", "float | Sequence[Any] by its default and a call in model.py"),
        ("0.", "", "drop", "Net(4, None)", "float | None by its default and a call in model.py"),
        (
            "0.",
            "Args:\n    drop (float | tuple[float]): It.",
            "drop[0] if isinstance(drop, list) else drop",
            "Net(4, rates[1:3])",
            "float | Sequence[float] by its default and the docstring",
        ),
        ("'a'", "", "drop", "Net(4, name[1:3])", "str by its default"),
    ],
)
def test_a_default_is_evidence_as_far_as_nothing_contradicts(
    default: str, documentation: str, body: str, below: str, annotation: str
) -> None:
    text = _RATE.format(
        default=default, documentation=f"'{documentation!s}.'".replace("\n", "\\n"), body=body, below=below
    )
    assert f"inferred drop: {annotation}" in report(text, Level.DECLARE)["Net"].notes


def test_a_test_that_only_makes_sure_of_a_type_contradicts_nothing() -> None:
    text = _RATE.format(default="0.", documentation="''", body="drop", below="")
    text = text.replace("self.kept", "assert isinstance(drop, (float, list))\n        self.kept")
    assert "inferred drop: float by its default" in report(text, Level.DECLARE)["Net"].notes


def test_an_argument_of_arithmetic_that_a_layer_takes_as_an_integer_is_one() -> None:
    body = "self.size = size\n        self.decoder = nn.Sequential(nn.Linear(2, self.size ** 2), nn.PixelShuffle(self.size))"
    assert "inferred size: int by what takes it" in report(_net(body), Level.DECLARE)["Net"].notes


def test_a_value_that_takes_the_place_of_none_says_what_the_argument_is() -> None:
    text = _net("size = size or 4\n        self.inner = nn.Linear(size, 2)").replace("size):", "size=None):")
    assert "inferred size: int | None by what takes it" in report(text, Level.DECLARE)["Net"].notes


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
