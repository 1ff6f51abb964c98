"""Modules whose sizes, values, conditions and children are computed from constructor arguments, beside hand-written ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import new_class
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from qten_gen import (
    DeclarationError,
    Module,
    ModuleDict,
    ModuleList,
    Sequential,
    check,
    choice,
    derived,
    sequential,
    submodule,
)
from qten_gen.generate.plan import plan
from tests.golden.kinds.configured import Composed, Config
from tests.golden.llama import model, plain
from tests.golden.llama.model import DecoderConfig

configurations = st.builds(
    DecoderConfig,
    vocab=st.integers(2, 9),
    dim=st.sampled_from([4, 8]),
    depth=st.integers(0, 3),
    heads=st.just(4),
    key_heads=st.sampled_from([None, 1, 2, 4]),
    hidden=st.sampled_from([None, 0, 5]),
    bias=st.booleans(),
    tied=st.booleans(),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
)


def from_seed(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make()


@given(configurations)
@settings(max_examples=25)
def test_a_module_is_what_a_hand_written_one_is_from_the_same_seed(config: DecoderConfig) -> None:
    declared, written = from_seed(lambda: model.Decoder(config)), from_seed(lambda: plain.Decoder(config))
    tokens = torch.arange(config.vocab)[None]

    assert list(declared.state_dict()) == list(written.state_dict())
    assert all(torch.equal(a, written.state_dict()[name]) for name, a in declared.state_dict().items())
    results = declared(tokens), written(tokens)
    assert torch.equal(*results)
    for result in results:
        result.sum().backward()
    gradients = [{name: p.grad for name, p in m.named_parameters() if p.grad is not None} for m in (declared, written)]
    assert gradients[0].keys() == gradients[1].keys()
    assert all(torch.equal(gradient, gradients[1][name]) for name, gradient in gradients[0].items())


def test_the_generated_constructor_reads_as_written_by_hand() -> None:
    assert "head_dim = config.dim // heads" in inspect.getsource(cast(Any, model.Attention).__init__)


def test_a_check_gives_the_class_the_expression_and_each_value() -> None:
    with pytest.raises(
        ValueError, match=r"^Attention: expected config\.dim % config\.heads == 0, got config\.dim = 9, "
    ):
        model.Attention(DecoderConfig(dim=9))
    with pytest.raises(ValueError, match=r"^Attention: expected heads % key_heads == 0, got heads = 4, key_heads = 3$"):
        model.Attention(DecoderConfig(key_heads=3))


def test_a_check_says_nothing_of_what_is_not_there() -> None:
    class Net(Module):
        config: DecoderConfig | None
        check("config is not None and config.dim > 3")

    with pytest.raises(ValueError, match=r"got config = None$"):
        Net(None)
    assert Net(DecoderConfig()).config == DecoderConfig()


def test_derived_values_come_after_those_that_they_mention() -> None:
    class Net(Module):
        last: int = derived("middle + 1")
        middle: int = derived("first + 1")
        first: int = derived("dim + 1")
        dim: int

    assert (Net(1).first, Net(1).middle, Net(1).last) == (2, 3, 4)


def test_index_leaves_out_children_and_is_passed_to_those_that_stay() -> None:
    class Net(Module):
        names: tuple[str, ...]
        layers: ModuleList[nn.Linear] = submodule(nn.Linear, 2, "index + 1", repeat=5, when="index % 2 == 0")
        heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, "index + 1", keys="names", when="index != 1")

    net = Net(("a", "b", "c"))
    assert [layer.out_features for layer in net.layers] == [1, 3, 5]
    assert {name: head.out_features for name, head in net.heads.items()} == {"a": 1, "c": 3}


def test_a_check_outside_of_a_class_body_is_refused() -> None:
    with pytest.raises(TypeError, match="is a statement in the body of a Module"):
        check("dim > 0")


PREAMBLE = """\
from typing import Any
from qten_gen import Module, derived

class Config:
    width: int = 7
    name: str = "rms"

"""
VALUES: dict[str, object] = {"a": 3, "b": 0, "rate": 0.25, "none": None, "name": "rms", "widths": (4, 2, 9)}
NAMES = st.sampled_from([*VALUES, "config.width", "config.name", "widths[a - 2]", "widths[-1]"])
LITERALS = st.sampled_from(["0", "1", "2", "7", "0.5", "None", "True", "False", "'rms'", "()", "(1, a)"])


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["+", "-", "*", "//", "/", "%", "==", "!=", "<", ">=", "and", "or", "in", "is", "is not"]
    )
    return (
        st.tuples(inner, operators, inner).map(lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})")
        | st.tuples(inner, operators, inner).map(" ".join)
        | st.tuples(inner, inner, inner).map(lambda parts: f"{parts[0]} if {parts[1]} else {parts[2]}")
        | inner.map("not {}".format)
        | inner.map("-({})".format)
        | st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        )
        | inner.map("len({})".format)
        | inner.map("({},)".format)
    )


EXPRESSIONS = st.recursive(NAMES | LITERALS, larger, max_leaves=6)


def outcome(compute: Callable[[], object]) -> tuple[object, ...]:
    """The value and its type, or the type of the error."""
    try:
        value = compute()
    except Exception as error:
        return (type(error),)
    return type(value), repr(value)


@given(EXPRESSIONS)
@settings(max_examples=40)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_python_evaluates_what_is_written(text: str) -> None:
    """In memory and in the file. The class annotates its arguments with Any, so that no rule knows a type."""
    fields = "".join(f"    {name}: Any\n" for name in VALUES)
    source = f"{PREAMBLE}class Net(Module):\n{fields}    config: Any\n    value: Any = derived({text!r})\n"
    made = plan({"model.py": source.encode()}, {})
    namespace: dict[str, Any] = {"__name__": "expressions"}
    try:
        exec(source, namespace)
    except DeclarationError:
        assert made.diagnostics  # what the statement refuses, the command does too
        return
    assert not made.diagnostics
    values = {**VALUES, "config": namespace["Config"]()}
    line = next(line for line in (made.outputs["model_qten.py"] or "").splitlines() if " value = " in line)

    expected = outcome(lambda: eval(text, {}, values))
    assert outcome(lambda: namespace["Net"](**values).value) == expected
    assert outcome(lambda: eval(line.partition(" value = ")[2], {}, values)) == expected


def test_index_tells_repeated_sequences_apart() -> None:
    rows = Composed(Config()).rows
    assert [row[0].out_features for row in rows] == [4, 8, 12]
    assert [type(row[1]) for row in rows] == [nn.Dropout, nn.Identity, nn.Dropout]


def test_a_choice_evaluates_an_expression() -> None:
    model, other = Composed(Config()), Composed(Config(act="relu", heads=4))
    assert (type(model.activation), type(model.wide), type(model.kept)) == (nn.GELU, nn.ReLU, Sequential)
    assert (type(other.activation), type(other.wide), other.kept) == (nn.ReLU, nn.GELU, None)


def test_parameters_and_computed_values_read_derived_values() -> None:
    model = Composed(Config())
    assert [len(scale) for scale in model.scales] == [4, 5, 6]
    assert model.mask is not None
    torch.testing.assert_close(model.mask, torch.arange(4.0))
    assert Composed(Config(heads=1)).mask is None


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
