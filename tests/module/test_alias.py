"""Constructor arguments whose fields have other names, `field(alias=...)`."""

from __future__ import annotations

import inspect

import pytest
from torch import nn

from qten_gen import DeclarationError, Module, check, choice, derived, field, submodule


class Block(Module):
    dim: int
    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
    given_hidden: int | None = field(default=None, alias="hidden")
    check("given_hidden is None or given_hidden > 2")
    hidden: int = derived("given_hidden or 4*dim")
    norm: nn.Module = submodule(choice("norm_class"), "hidden")


class Sized(Module):
    sizes: list[int] = field(default_factory=list, alias="len")
    count: int = derived("len(sizes)")


def test_the_constructor_takes_the_argument_by_its_alias() -> None:
    block = Block(2, norm=nn.RMSNorm, hidden=6)

    assert (block.norm_class, block.given_hidden, block.hidden) == (nn.RMSNorm, 6, 6)
    assert isinstance(block.norm, nn.RMSNorm)
    assert block.norm.normalized_shape == (6,)


def test_the_constructor_does_not_take_the_name_of_the_field() -> None:
    with pytest.raises(TypeError, match="norm_class"):
        Block(2, norm_class=nn.RMSNorm)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue] # what the test is about


def test_an_argument_can_have_the_name_of_a_builtin_that_expressions_call() -> None:
    assert Sized(len=[1, 2]).count == 2


def test_the_signature_has_the_aliases_with_the_types_of_the_fields() -> None:
    parameters = inspect.signature(Block).parameters

    assert list(parameters) == ["dim", "norm", "hidden", "device", "dtype"]
    assert parameters["hidden"].annotation == int | None
    assert parameters["norm"].annotation == type[nn.Module]


def test_config_has_the_names_of_the_arguments() -> None:
    block = Block(2, hidden=6)

    assert block.get_config() == {"dim": 2, "norm": nn.LayerNorm, "hidden": 6}
    assert Block.from_config(block.get_config()).get_config() == block.get_config()


def test_a_subclass_inherits_the_alias() -> None:
    class Wide(Block):
        extra: int = 1

    assert Wide(2, norm=nn.RMSNorm, extra=3).get_config() == {"dim": 2, "norm": nn.RMSNorm, "hidden": None, "extra": 3}
    assert inspect.signature(Wide).parameters["hidden"].annotation == int | None


def test_a_field_declared_again_without_an_alias_has_none() -> None:
    class Plain(Block):
        norm_class: type[nn.Module] = nn.RMSNorm

    assert Plain(2).get_config() == {"dim": 2, "norm_class": nn.RMSNorm, "hidden": None}
    assert Plain(2).extra_repr().startswith("dim=2, norm_class=")


def test_a_parent_passes_arguments_on_by_their_aliases() -> None:
    class Outer(Module):
        dim: int
        block: Block = submodule(Block, "dim", norm=nn.RMSNorm, hidden="2*dim")

    assert Outer(2).block.get_config() == {"dim": 2, "norm": nn.RMSNorm, "hidden": 4}


def test_a_failed_check_names_the_field() -> None:
    with pytest.raises(ValueError, match="expected given_hidden is None or given_hidden > 2, got given_hidden = 1"):
        Block(2, hidden=1)


NO_ALIASES = ("a b", "class", "_b", "device", "self", "a", "\uff44im")

MISTAKES = {
    "a: int = field(alias='b')\n    b: int = 1": "b is an argument too, so it cannot be the alias of a",
    "a: int = field(alias='c')\n    b: int = field(alias='c')": "c is the alias of b too, so it cannot be the alias of a",
    "a: int = field(alias='b')\n    b: int = field(alias='a')": "b is an argument too, so it cannot be the alias of a",
    **{f"a: int = field(alias={given})": f"{given} cannot be the alias of a" for given in (3, *map(repr, NO_ALIASES))},
}


@pytest.mark.parametrize("body", MISTAKES)
def test_an_alias_that_cannot_be_an_argument_is_refused(body: str) -> None:
    with pytest.raises(DeclarationError) as error:
        exec(f"class Net(Module):\n    {body}", {"Module": Module, "field": field, "__name__": __name__})

    assert f"QG343 [invalid-alias]: {MISTAKES[body]}" in str(error.value)


def test_an_argument_cannot_have_the_name_of_an_inherited_alias() -> None:
    with pytest.raises(DeclarationError, match="norm is the alias of the inherited field norm_class"):

        class Wrong(Block):
            norm: nn.Module  # type: ignore[misc] # an argument in place of the child
