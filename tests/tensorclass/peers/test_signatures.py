"""Methods that tensordict has too mean the same by position, and refuse what they do not take as Python does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.methods.applying import ApplyOptions

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Batch(TensorClass):
    x: Tensor
    mask: Tensor | None = None


RENAMED = {
    ("cat", "input"): "items",
    ("copy_", "tensordict"): "source",
    ("from_dataclass", "dataclass"): "source",
    ("from_dict", "input_dict"): "values",
    ("from_namedtuple", "named_tuple"): "source",
    ("recv", "init_tag"): "tag",
    ("send", "init_tag"): "tag",
    ("set", "item"): "value",
    ("set_", "item"): "value",
    ("stack", "input"): "items",
    ("unflatten", "unflattened_size"): "sizes",
    ("update", "input_dict_or_td"): "values",
    ("update_", "input_dict_or_td"): "values",
    ("fill_", "key"): "value",
}
"""Parameters of tensordict's that are called otherwise here."""


def _peers() -> list[Any]:
    """A TensorDict and, where it says parameters itself, a TensorClass of tensordict."""
    tensordict = pytest.importorskip("tensordict", reason="signatures are compared where tensordict is installed")

    class Peer(tensordict.TensorClass):  # type: ignore[name-defined, misc] # imported at run time
        only_field: Tensor

    return [tensordict.TensorDict, Peer]


def _is_method(name: str) -> bool:
    return not name.startswith("_") and not isinstance(inspect.getattr_static(TensorClass, name), property)


METHODS = [name for name in dir(TensorClass) if _is_method(name)]


def parameters(method: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters of a method without the object. Options that are said as a `TypedDict` are parameters too."""
    found = list(inspect.signature(method).parameters.values())
    if found and "Unpack[ApplyOptions]" in str(found[-1].annotation):
        found[-1:] = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ApplyOptions.__annotations__]
    return [one for one in found if one.name != "self" and not one.name.startswith("_")]


def of_peer(name: str) -> Iterator[list[inspect.Parameter]]:
    """The parameters of tensordict's methods of a name."""
    return (parameters(getattr(cls, name)) for cls in _peers() if hasattr(cls, name))


@pytest.mark.parametrize("name", METHODS)
def test_no_parameter_stands_in_the_place_of_another_one(name: str) -> None:
    here = parameters(getattr(TensorClass, name))
    for found in of_peer(name):
        for mine, theirs in zip(here, found, strict=False):
            if theirs.kind not in BY_POSITION or mine.kind not in BY_POSITION:
                break
            assert mine.name == RENAMED.get((name, theirs.name), theirs.name)


def test_calls_that_do_not_fit_are_refused_as_python_does() -> None:
    value: Any = Batch(torch.arange(12.0).reshape(4, 3), batch_size=[4])
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'source'$"):
        value.copy_(non_blocking=True)
    with pytest.raises(TypeError, match=r"all\(\) got an unexpected keyword argument 'dimm'$"):
        value.all(dimm=0)


def test_a_field_goes_before_a_keyword_of_the_peer() -> None:
    class Owner(TensorClass):
        is_leaf: Tensor

    made = Owner(torch.zeros(2), batch_size=[2])
    assert made.update(is_leaf=torch.ones(2)).is_leaf.sum() == 2
