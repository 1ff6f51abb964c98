"""A class statement that breaks a rule is refused in memory with the words of the command."""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor, nn

from qten_gen import DeclarationError, Module, TensorClass, buffer, param, submodule


class State(TensorClass):
    """A parent with a field."""

    state: Tensor


def called(specifier: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """A specifier with arguments that type checkers refuse."""
    return specifier(*args, **kwargs)


def test_an_unknown_flag_is_refused_with_a_suggestion() -> None:
    with pytest.raises(DeclarationError, match="QG104 \\[unknown-flag\\]: .*frozn(.|\n)*frozen"):

        class Batch(TensorClass, frozn=True):  # pyright: ignore[reportGeneralTypeIssues]  # the mistake under test
            tokens: Tensor


@pytest.mark.parametrize("text", ["nn.Linear |", "int:\n print(1)\n x: int"])
def test_a_quoted_type_that_is_no_expression_is_refused(text: str) -> None:
    namespace = {"__annotations__": {"dim": "int", "child": text}, "child": called(submodule, nn.Linear, "dim", "dim")}
    with pytest.raises(DeclarationError, match="QG208"):
        types.new_class("Net", (Module,), exec_body=lambda body: body.update(namespace))


def test_a_finding_names_its_field() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Scale(Module):
            dim: int
            weight: nn.Parameter = param("3 dim", initializer=nn.init.ones_)
            offset: Tensor = called(buffer, (3, "dim"), persistent=1, initializer=nn.init.zeros_)

    assert str(caught.value) == (
        "Scale cannot be generated\n"
        "  weight: error QG301 [invalid-dimension]: '3 dim' is not an expression: an operator is missing before 'dim'\n"
        "  offset: error QG305 [invalid-specifier-argument]: a dimension must be an integer or a string, got (3, 'dim')\n"
        '    help: write an integer, or an expression over config fields such as "3*dim"\n'
        "  offset: error QG305 [invalid-specifier-argument]: persistent must be True or False, got 1\n"
        "    help: write persistent=True or persistent=False"
    )


def test_what_is_not_there_yet_is_an_attribute_error() -> None:
    import torch

    state = State(torch.ones(2), batch_size=2)
    with pytest.raises(AttributeError, match="to_h5"):
        _ = state.to_h5  # type: ignore[attr-defined]  # the mistake under test


def test_the_traceback_of_a_mistake_ends_at_the_class_statement() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Net(Module):
            dim: int
            head: nn.Linear = submodule(nn.Linear, "dmi", 2)

    files = [Path(entry.path).name for entry in caught.traceback]
    assert files == [Path(__file__).name]
