"""Methods that tensordict has too take its parameters, or say what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.core.tensordict_keywords import INSTEAD, RENAMED
from templates.from_tensordict_page import same_names

PAGE = Path(__file__).parents[3] / "docs" / "from-tensordict.md"

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
SPREAD = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Batch(TensorClass):
    x: Tensor
    mask: Tensor | None = None


def batch() -> Batch:
    return Batch(torch.arange(12.0).reshape(4, 3), batch_size=[4])


def is_called(name: str) -> bool:
    return not isinstance(inspect.getattr_static(TensorClass, name), property)


METHODS = [name for name in same_names() if is_called(name)]


def parameters(method: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters of a method, those apart that only make errors better."""
    found = inspect.signature(method).parameters.values()
    return [one for one in found if one.name not in ("self", "refused", "more") and not one.name.startswith("_")]


def of_peer(name: str) -> Iterator[list[inspect.Parameter]]:
    """The parameters of tensordict's method: of the TensorDict and, where it says them itself, of the TensorClass."""
    tensordict = pytest.importorskip("tensordict", reason="signatures are compared where tensordict is installed")

    class Peer(tensordict.TensorClass):  # type: ignore[name-defined, misc] # imported at run time
        only_field: Tensor

    for cls in (tensordict.TensorDict, Peer):
        if hasattr(cls, name):
            yield parameters(getattr(cls, name))


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_the_peer_is_taken_or_has_advice(name: str) -> None:
    taken = {one.name for one in parameters(getattr(TensorClass, name))}
    advised = INSTEAD.get(name, {}).keys()
    given = {one.name for found in of_peer(name) for one in found if one.kind not in SPREAD}
    assert given - taken - advised == set()
    assert taken & advised == set()


@pytest.mark.parametrize("name", METHODS)
def test_no_parameter_stands_in_the_place_of_another_one(name: str) -> None:
    here = parameters(getattr(TensorClass, name))
    for found in of_peer(name):
        for place, one in enumerate(found):
            if one.kind not in BY_POSITION or place >= len(here) or here[place].kind not in BY_POSITION:
                break
            assert here[place].name == RENAMED.get(name, {}).get(one.name, one.name) or (name, one.name) == (
                "fill_",
                "key",
            )


def test_advice_is_about_parameters_that_the_peer_has() -> None:
    for name, advice in INSTEAD.items():
        known = [one for found in of_peer(name) for one in found]
        takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known)
        assert takes_any or advice.keys() <= {one.name for one in known}, name


OTHER_NAMES = {"dumps": "memmap", "load": "load_memmap", "save": "memmap", "load_": "load_memmap_"}
"""Methods that have another name of their own, by which the error calls them."""

ADVISED = [(name, parameter) for name, advice in INSTEAD.items() for parameter in advice]


@pytest.mark.parametrize(("name", "parameter"), ADVISED)
def test_a_parameter_that_is_not_taken_is_refused_with_advice(name: str, parameter: str) -> None:
    method: Any = getattr(batch(), name)
    with pytest.raises(TypeError) as error:
        method(**{one.name: None for one in needed(method, name, parameter)}, **{parameter: None})
    assert (
        str(error.value)
        == f"Batch.{OTHER_NAMES.get(name, name)}() does not take {parameter}=; {INSTEAD[name][parameter]}"
    )


def test_several_parameters_of_other_names_are_named_in_one_message() -> None:
    method: Any = batch().copy_at_
    with pytest.raises(
        TypeError, match="does not take tensordict=; it is called source here, and idx= is called index$"
    ):
        method(tensordict=batch()[0], idx=0)


@pytest.mark.parametrize(
    ("name", "given", "missing"),
    [
        ("set", {"key": "x"}, "1 required positional argument: 'value'"),
        ("copy_at_", {"index": 0}, "1 required positional argument: 'source'"),
        ("copy_at_", {}, "2 required positional arguments: 'source' and 'index'"),
        ("stack", {}, "1 required positional argument: 'items'"),
        ("addcmul_", {"tensor2": 1.0}, "1 required positional argument: 'tensor1'"),
    ],
)
def test_a_missing_argument_is_named_as_python_does(name: str, given: dict[str, Any], missing: str) -> None:
    with pytest.raises(TypeError) as error:
        getattr(batch(), name)(**given)
    assert str(error.value) == f"Batch.{name}() missing {missing}"


def test_a_required_parameter_shows_no_default() -> None:
    shown = inspect.signature(TensorClass.unflatten).parameters["sizes"]
    assert shown.default is shown.empty


def needed(method: Callable[..., object], name: str, parameter: str) -> list[inspect.Parameter]:
    """What the method cannot be called without, apart from what is given under the name that the peer has for it."""
    new = RENAMED.get(name, {}).get(parameter)
    return [
        one for one in parameters(method) if one.default is one.empty and one.kind not in SPREAD and one.name != new
    ]


def test_a_keyword_of_nobody_is_refused_as_python_does() -> None:
    method: Any = batch().sum
    with pytest.raises(TypeError, match=r"^Batch\.sum\(\) got an unexpected keyword argument 'dimm'$"):
        method(dimm=0)


def test_a_field_goes_before_a_keyword_of_the_peer() -> None:
    class Owner(TensorClass):
        is_leaf: Tensor

    made = Owner(torch.zeros(2), batch_size=[2])
    assert made.update(is_leaf=torch.ones(2)).is_leaf.sum() == 2


@pytest.mark.parametrize("name", INSTEAD)
def test_the_page_names_every_parameter_that_is_missing(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{parameter}`" in text for parameter in INSTEAD[name])
