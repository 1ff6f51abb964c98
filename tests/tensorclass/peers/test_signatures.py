"""Methods that tensordict has too take its parameters, or the page for those who come from it names them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.methods.applying import ApplyOptions
from templates.from_tensordict_page import same_names
from templates.tensordict_parameters import MISSING, RENAMED

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
    """The parameters of a method without the object. Options that are said as a `TypedDict` are parameters too."""
    found = list(inspect.signature(method).parameters.values())
    if found and "Unpack[ApplyOptions]" in str(found[-1].annotation):
        found[-1:] = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ApplyOptions.__annotations__]
    return [one for one in found if one.name != "self" and not one.name.startswith("_")]


def of_peer(name: str) -> Iterator[list[inspect.Parameter]]:
    """The parameters of tensordict's method: of the TensorDict and, where it says them itself, of the TensorClass."""
    tensordict = pytest.importorskip("tensordict", reason="signatures are compared where tensordict is installed")

    class Peer(tensordict.TensorClass):  # type: ignore[name-defined, misc] # imported at run time
        only_field: Tensor

    for cls in (tensordict.TensorDict, Peer):
        if hasattr(cls, name):
            yield parameters(getattr(cls, name))


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_the_peer_is_taken_or_listed(name: str) -> None:
    taken = {one.name for one in parameters(getattr(TensorClass, name))}
    advised = MISSING.get(name, set()) | RENAMED.get(name, {}).keys()
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


def test_parameters_are_listed_that_the_peer_has() -> None:
    for name in MISSING.keys() | RENAMED.keys():
        listed = MISSING.get(name, set()) | RENAMED.get(name, {}).keys()
        known = [one for found in of_peer(name) for one in found]
        takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known)
        assert takes_any or listed <= {one.name for one in known}, name


def test_a_missing_argument_is_named_as_python_does() -> None:
    method: Any = batch().copy_at_
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'source'$"):
        method(index=0)


def test_a_keyword_that_is_not_taken_is_refused_as_python_does() -> None:
    method: Any = batch().sum
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'dimm'$"):
        method(dimm=0)


def test_a_field_goes_before_a_keyword_of_the_peer() -> None:
    class Owner(TensorClass):
        is_leaf: Tensor

    made = Owner(torch.zeros(2), batch_size=[2])
    assert made.update(is_leaf=torch.ones(2)).is_leaf.sum() == 2
