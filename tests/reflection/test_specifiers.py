"""What a class body binds to a name, read like the same text."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple
from unittest.mock import MagicMock

import pytest
import torch
from torch import nn

import qten_gen
from qten_gen.common.fingerprint_rows import RecordedCall, recorded_call
from qten_gen.common.language import SEQUENTIAL, SPECIFIER_KEYWORDS, SUBMODULE, VIRTUAL
from qten_gen.model import ImportedName, NodePath, SpecifierCall
from qten_gen.read.dotted_names import Scope
from qten_gen.read.values import specifier
from qten_gen.reflection.specifiers import place_of, specifier_call
from qten_gen.runtime.declaring import fields

CALLS = [
    "field()",
    "field(default=3, kw_only=True)",
    "field(default_factory=list)",
    'field(default=3, alias="norm")',
    'param("3*dim", 8, initializer=nn.init.ones_, dtype=torch.float64, requires_grad=False, keep_dtype=True)',
    'param("dim", when="bias")',
    'param(tie="embed.weight")',
    "buffer(-2, persistent=False, keep_dtype=True)",
    'buffer("dim", when="bias", initializer=nn.init.ones_)',
    'submodule(nn.Linear, "dim", 3, bias=False)',
    'submodule(nn.Linear, "dim", dtype=torch.float64, requires_grad=True)',
    'submodule(nn.Conv1d, "dim", 2.5, padding_mode=const("circular"))',
    'submodule(nn.Linear, 2, "dim", repeat="depth")',
    'submodule(nn.Linear, 2, 3, when="bias", repeat=4)',
    'submodule(nn.Linear, 2, 3, keys="tasks", keep_dtype=True)',
    'submodule(nn.Linear, 2, 3, keys=("a", "b"))',
    'submodule(nn.Embedding, 3, 4, initializer="normal", tie="dim")',
    "virtual(cast=True)",
    "virtual(cached=True)",
    "virtual(cached=True, cast=True)",
]

NAMES: dict[str, object] = {**{name: getattr(qten_gen, name) for name in qten_gen.__all__}, "nn": nn, "torch": torch}
SCOPE = Scope(
    "shop.model",
    False,
    {
        **{name: ImportedName("qten_gen", name) for name in qten_gen.__all__},
        "nn": ImportedName("torch", "nn"),
        "torch": ImportedName("torch", None),
    },
    frozenset(NAMES),
    frozenset(),
)


def from_text(text: str) -> SpecifierCall:
    found = specifier(ast.parse(text, mode="eval").body, NodePath(), replace(SCOPE, lines=[text]))
    assert found is not None
    return found


def from_object(given: object) -> SpecifierCall:
    if callable(given):  # `virtual(...)` waits for the function that it decorates
        given = given(lambda self, dtype, device: None)
    call = recorded_call(given)
    assert call is not None
    args = () if call.name == VIRTUAL else call.args
    return specifier_call(RecordedCall(call.name, args, call.kwargs), place_of("x"))


def arguments(call: SpecifierCall) -> dict[object, object]:
    """The arguments by keyword or position. What is given and what is left out as a default are alike."""
    defaults = {"kw_only": "False", "requires_grad": "True", "persistent": "True", "cached": "False", "cast": "False"}
    positions = iter(range(len(call.arguments)))
    found: dict[object, object] = {}
    for argument in call.arguments:
        literal = getattr(argument.value, "literal", None)
        if argument.keyword is None or literal is None or defaults.get(argument.keyword) != literal:
            key = next(positions) if argument.keyword is None else argument.keyword
            found[key] = (argument.value, literal, getattr(argument.value, "torch_name", None))
    return found


@pytest.mark.parametrize("text", CALLS)
def test_both_readers_make_the_same_call(text: str) -> None:
    read, reflected = from_text(text), from_object(eval(text, NAMES))

    assert reflected.name == read.name
    assert arguments(reflected) == arguments(read)


class Parameter(NamedTuple):
    """Called like a record of the runtime."""

    dims: tuple[int, ...] = ()


@pytest.mark.parametrize("name", sorted(SPECIFIER_KEYWORDS.keys() - {SUBMODULE, SEQUENTIAL}))
def test_every_specifier_takes_the_keywords_that_the_readers_know(name: str) -> None:
    """`submodule` takes any keyword, for the class of the child, and `sequential` for the names of its members."""
    parameters = inspect.signature(getattr(qten_gen, name.rpartition(".")[2])).parameters.values()
    assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == list(SPECIFIER_KEYWORDS[name])


@pytest.mark.parametrize("value", [Parameter(), MagicMock(), fields.Parameter, 3, None, fields])
def test_other_objects_are_not_taken_for_records(value: object) -> None:
    assert recorded_call(value) is None


class Task(StrEnum):
    """Names that are strings of another class."""

    PARSE = "parse"
