"""Expressions over configuration objects in sequences, choices, lists of parameters and computed values."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import new_class
from typing import Any

import pytest
import torch
from torch import nn

from qten_gen import DeclarationError, Module, Sequential, choice, sequential, submodule
from tests.generated_sources import generated_sources
from tests.sources.kinds.configured import Composed, Config, Step


def test_members_of_a_sequence_read_a_configuration() -> None:
    body = Composed(Config()).body
    assert list(map(type, body)) == [nn.Linear, nn.LayerNorm, Step, Step]
    assert [step.layer for step in body if isinstance(step, Step)] == [0, 10]
    assert Composed(Config()).body[0].weight.shape == (8, 8)


def test_a_false_condition_puts_the_identity_into_a_sequence() -> None:
    body = Composed(Config(bias=False)).body
    assert type(body[1]) is nn.Identity
    assert body[0].bias is None


def test_index_tells_repeated_sequences_apart() -> None:
    rows = Composed(Config()).rows
    assert [row[0].out_features for row in rows] == [4, 8, 12]
    assert [type(row[1]) for row in rows] == [nn.Dropout, nn.Identity, nn.Dropout]


def test_a_choice_evaluates_an_expression() -> None:
    model, other = Composed(Config()), Composed(Config(act="relu", heads=4))
    assert (type(model.activation), type(model.wide), type(model.kept)) == (nn.GELU, nn.ReLU, Sequential)
    assert (type(other.activation), type(other.wide), other.kept) == (nn.ReLU, nn.GELU, None)


def test_a_choice_without_an_option_names_the_expression() -> None:
    with pytest.raises(ValueError, match=r"Composed\.activation: config\.act is 'tanh'; expected 'relu' or 'gelu'"):
        Composed(replace(Config(), act="tanh"))


def test_parameters_and_computed_values_read_derived_values() -> None:
    model = Composed(Config())
    assert [len(scale) for scale in model.scales] == [4, 5, 6]
    assert model.mask is not None
    torch.testing.assert_close(model.mask, torch.arange(4.0))
    assert Composed(Config(heads=1)).mask is None


def test_the_class_in_memory_makes_the_same_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(generated_sources())
    in_files = importlib.import_module("kinds.configured")

    assert not Path(inspect.getfile(Composed.__init__)).exists()
    assert Path(inspect.getfile(in_files.Composed.__init__)).name == "configured_qten.py"
    for config in (Config(), Config(bias=False, act="relu", heads=4)):
        torch.manual_seed(0)
        made = Composed(config)
        torch.manual_seed(0)
        generated = in_files.Composed(in_files.Config(**asdict(config)))
        assert [name for name, _ in made.named_modules()] == [name for name, _ in generated.named_modules()]
        torch.testing.assert_close(made.state_dict(), generated.state_dict(), rtol=0, atol=0)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: sequential(submodule(nn.Linear, 2, 2, when="missing")), "there is no config field missing"),
    (lambda: sequential(submodule(nn.Linear, 2, "index")), "this child is not repeated"),
    (lambda: submodule(choice("confg.act", {"relu": nn.ReLU})), "there is no config field confg"),
    (lambda: submodule(choice("config act", {"relu": nn.ReLU})), "is not an expression"),
]


@pytest.mark.parametrize(("specifier", "message"), MISTAKES)
def test_a_mistake_in_an_inner_expression_stops_the_class_statement(specifier: Callable[[], Any], message: str) -> None:
    body = {"__module__": __name__, "__annotations__": {"config": Config, "child": nn.Module}, "child": specifier()}

    with pytest.raises(DeclarationError, match=message):
        new_class("Wrong", (Module,), {}, lambda names: names.update(body))
